import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// An object of a table.
struct ObjectKey: Hashable {
    let table: UInt16
    let id: RecordID
}

/// A store with a random history, and every version that its objects ever had.
///
/// No two versions have the same row, so a row identifies its version.
final class SalvageHistory {
    struct Version: Equatable {
        let sequence: UInt64
        /// Nil if the object was deleted.
        let row: [UInt8]?
    }

    private struct GivenUp: Error {}

    let store = Store()
    /// Whether the store was closed.
    private(set) var isClosed = false
    /// Segments that compaction dropped; if the store was not closed, their files may still exist.
    private(set) var dropped: Set<UInt64> = []
    /// The versions of each object, oldest first; those of blobs have the blob's bytes.
    private(set) var versions: [ObjectKey: [Version]] = [:]

    private var log: Log
    private let options: LogOptions
    private var random: Seed
    private var rowCount = 0
    /// A table without an index; after it was dropped, the next one, because numbers of tables are not used again.
    private(set) var plain = plainTable

    /// Writes a store.
    init(_ seed: Seed, transactionCount: Int) throws {
        random = seed
        var options = Store.options
        options.segmentByteCount = random.pick([1_500, 6_000, 50_000])
        options.frameByteCount = random.pick([300, 2_000, 1 << 20])
        options.maintenance = .inline
        options.checkpointByteCount = random.pick([4_000, 1 << 20])
        self.options = options
        log = try store.open(options)
        for _ in 0..<transactionCount { try step() }
        dropped = Set(
            store.files(.hotSegment).compactMap { path in
                path.split(separator: "/").last.flatMap { FileName.parse(String($0)) }?.number
            }
        ).subtracting(try log.usage(countsLive: false).segments.map(\.number))
        isClosed = !random.oneIn(4)
        if isClosed { try log.close() } else { log.abandonForTests() }
    }

    /// The version of an object in the store.
    func newest(_ key: ObjectKey) -> Version? { versions[key]?.last }

    private func step() throws {
        switch random.below(13) {
        case 0:
            log.abandonForTests()
            log = try store.open(options)
        case 1: try log.checkpoint()
        case 12:
            // It takes only segments before a checkpoint.
            try log.checkpoint()
            try log.compact()
        case 2:
            // Leaves frames without an end.
            do { _ = try log.write(author: nil) { try self.change(20, &$0, giveUp: true) } } catch is GivenUp {}
        default:
            let changed = try log.write(author: random.oneIn(2) ? "author" : nil) {
                try self.change(1 + self.random.below(30), &$0, giveUp: false)
            }
            guard !changed.value.isEmpty else { return }
            for (key, row) in changed.value {
                versions[key, default: []].append(Version(sequence: changed.receipt.sequence, row: row))
            }
        }
    }

    private func nextRow() -> [UInt8] {
        rowCount += 1
        return row(rowCount, byteCount: 8 + random.below(random.oneIn(10) ? 2_000 : 60))
    }

    private func isAlive(_ key: ObjectKey, _ changed: [(ObjectKey, [UInt8]?)]) -> Bool {
        if let last = changed.last(where: { $0.0 == key }) { return last.1 != nil }
        return newest(key)?.row != nil
    }

    private func change(
        _ count: Int, _ transaction: inout Transaction, giveUp: Bool
    ) throws -> [(ObjectKey, [UInt8]?)] {
        var changed: [(ObjectKey, [UInt8]?)] = []
        for _ in 0..<count {
            let table = random.pick([testTable, testTable, plain, .catalog])
            let known = transaction.nextID(in: table) - 1
            switch random.below(20) {
            case 0 where table == plain && !giveUp && random.oneIn(4):
                try transaction.dropTable(plain)
                for key in Set(versions.keys).union(changed.map(\.0)) where key.table == plain.rawValue {
                    if isAlive(key, changed) { changed.append((key, nil)) }
                }
                plain = TableID(rawValue: plain.rawValue + 1)
            case 1:
                var seed = random.fork()
                let bytes = seed.bytes(random.pick([10, 3_000, 70_000]))
                let id = try bytes.withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 1, id: 1))
                }
                changed.append((ObjectKey(table: 2, id: id), bytes))
            case 2:
                let blobs = transaction.nextID(in: .blobs) - 1
                let key = ObjectKey(table: 2, id: UInt64(random.below(Int(blobs) + 1)))
                if isAlive(key, changed) {
                    try transaction.deleteBlob(key.id)
                    changed.append((key, nil))
                }
            case 3...8 where known > 0:
                let key = ObjectKey(table: table.rawValue, id: 1 + UInt64(random.below(Int(known))))
                guard isAlive(key, changed) else { continue }
                if random.oneIn(3) {
                    if table == testTable {
                        try transaction.erase(key.id)
                    } else {
                        try transaction.delete(key.id, in: table)
                    }
                    changed.append((key, nil))
                } else {
                    let row = nextRow()
                    try transaction.put(key.id, row, in: table)
                    changed.append((key, row))
                }
            default:
                let row = nextRow()
                changed.append((ObjectKey(table: table.rawValue, id: try transaction.insert(row, in: table)), row))
            }
        }
        if giveUp { throw GivenUp() }
        return changed
    }
}
