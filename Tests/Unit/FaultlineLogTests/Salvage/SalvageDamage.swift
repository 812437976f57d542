import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Damage to the files of a store.
struct SalvageDamage {
    /// The original files, by path.
    let before: [String: [UInt8]]
    /// The damage, for the message of a failing test.
    private(set) var text = ""
    private let disk: SimulatedDisk
    private let dropped: Set<UInt64>
    private var random: Seed

    /// - Parameters:
    ///
    ///   - disk: The disk with the store.
    ///   - dropped: Segments that no longer count, whose files may still exist.
    ///   - seed: Determines the damage.
    init(_ disk: SimulatedDisk, dropped: Set<UInt64>, _ seed: Seed) {
        self.disk = disk
        self.dropped = dropped
        random = seed
        var files: [String: [UInt8]] = [:]
        for path in disk.filePaths where !path.hasSuffix(FileName.lock) { files[path] = disk.bytes(of: path) }
        before = files
    }

    /// Whether all manifests are unchanged.
    var areManifestsIntact: Bool {
        before.allSatisfy { path, bytes in !path.hasSuffix(".flm") || disk.bytes(of: path) == bytes }
    }

    /// Damages a file once.
    mutating func strike() throws {
        let paths = disk.filePaths.filter { !$0.hasSuffix(FileName.lock) }
        guard !paths.isEmpty else { return }
        let path = random.pick(paths)
        guard var bytes = disk.bytes(of: path), !bytes.isEmpty else { return }
        let start = random.below(bytes.count)
        let end = min(bytes.count, start + 1 + random.below(random.oneIn(2) ? 64 : 4_096))
        let kind = random.below(9)
        text += "\(kind) of \(path) \(start)..<\(end); "
        switch kind {
        case 0, 1, 2:
            for _ in 0..<(1 + random.below(4)) { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
        case 3: for place in start..<end { bytes[place] = 0 }
        case 4: bytes.replaceSubrange(start..<end, with: random.bytes(end - start))
        case 5:
            // Swaps two sectors, in one file or between two.
            let other = random.pick(paths)
            guard var others = disk.bytes(of: other), bytes.count >= 1_024, others.count >= 1_024 else { return }
            let (one, two) = (random.below(bytes.count / 512) * 512, random.below(others.count / 512) * 512)
            let first = Array(bytes[one..<(one + 512)])
            bytes.replaceSubrange(one..<(one + 512), with: others[two..<(two + 512)])
            if other == path {
                bytes.replaceSubrange(two..<(two + 512), with: first)
            } else {
                others.replaceSubrange(two..<(two + 512), with: first)
                try disk.place(others, at: other)
            }
        case 6: bytes.removeSubrange(start...)
        case 7: bytes += random.bytes(1 + random.below(3_000))
        default: return try disk.remove(path)
        }
        try disk.place(bytes, at: path)
    }

    // MARK: Intact parts

    /// An original record of a hot segment.
    struct Record {
        let place: (file: UInt64, offset: Int)
        let record: LogBytes.Record
        let isIntact: Bool
    }

    /// The records of transactions with an unchanged transaction record, by object; every copy of them is unchanged.
    ///
    /// If recovery made a copy, either may be the one that counts.
    func intactRecords() -> [LogBytes.Record] {
        let records = records()
        func name(_ record: LogBytes.Record) -> [UInt64] {
            [record.sequence, UInt64(record.table), record.id, UInt64(record.operation)]
        }
        let damaged = Set(records.filter { !$0.isIntact }.map { name($0.record) })
        var found: [[UInt64]: LogBytes.Record] = [:]
        for closing in records where closing.record.operation == 4 && !damaged.contains(name(closing.record)) {
            let bytes = before[path(closing.place.file)] ?? []
            let payload = closing.place.offset + 24
            let first = (Self.number(bytes, payload + 48), Int(Self.number(bytes, payload + 56)))
            for record in records
            where record.record.sequence == closing.record.sequence && record.place >= first
                && record.place < closing.place && !damaged.contains(name(record.record))
            {
                found[name(record.record)] = record.record
            }
        }
        return found.values.sorted { $0.sequence < $1.sequence }
    }

    private func path(_ number: UInt64) -> String { Store.path + "/" + FileName.numbered(.hotSegment, number) }

    private func records() -> [Record] {
        var records: [Record] = []
        for (path, bytes) in before.sorted(by: { $0.key < $1.key }) {
            guard let name = path.split(separator: "/").last, let (kind, number) = FileName.parse(String(name)),
                kind == .hotSegment, !dropped.contains(number)
            else { continue }
            let now = disk.bytes(of: path) ?? []
            let isKnown = now.starts(with: bytes[0..<64]) || areManifestsIntact
            for record in LogBytes(bytes).records {
                let range = record.offset..<(record.offset + record.byteCount)
                let isIntact = isKnown && range.upperBound <= now.count && now[range] == bytes[range]
                records.append(Record(place: (number, record.offset), record: record, isIntact: isIntact))
            }
        }
        return records
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    /// Whether no blob segment changed.
    var areBlobsIntact: Bool {
        before.allSatisfy { path, bytes in !path.contains("/b-") || disk.bytes(of: path) == bytes }
    }
}
