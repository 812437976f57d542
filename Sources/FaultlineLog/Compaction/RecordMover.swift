import FaultlineDisk

/// Reads one hot or cold segment and copies the records that compaction must keep: newest versions, and deletes that
/// older versions elsewhere still need.
///
/// Memory: one frame of the segment, and the frame being filled.
final class RecordMover {
    /// The reason why a call ended.
    enum Outcome {
        /// The frame is full.
        case full
        /// All records were read.
        case done
        /// Damage at an offset: in the segment, or in a later one that has a transaction's end.
        case stuck(ManagedFile, offset: UInt64)
    }

    /// A hot segment behind the one being read, and its end, at which no transaction is open.
    struct Follower {
        let file: ManagedFile
        let end: UInt64
    }

    let source: ManagedFile
    private let seal: SealedFile
    /// Deletes up to this transaction are not needed: no other segment can hold a version from before.
    private let leastBegun: UInt64
    private let followers: [Follower]
    private var scanner: FrameScanner
    private var frame: FrameScanner.Frame?
    /// The header of the last commit frame.
    private var commit: FrameHeader?
    /// An offset in the body of `frame`.
    private var place = 0
    private var recordNumber = 0
    /// Drop-table records of a transaction whose end was not read yet.
    private var drops: [(bytes: [UInt8], origin: MoveOrigin)] = []

    /// - Parameters:
    ///   - source: A sealed segment.
    ///   - seal: Its end.
    ///   - leastBegun: The least `begun` of all other hot and cold segments.
    ///   - followers: The hot segments behind a hot one, up to the checkpoint in force.
    init(_ source: ManagedFile, seal: SealedFile, leastBegun: UInt64, followers: [Follower]) {
        self.source = source
        self.seal = seal
        self.leastBegun = leastBegun
        self.followers = followers
        scanner = FrameScanner(source, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: seal.end)
    }

    /// Fills a frame with records to be kept, from the position of the last call.
    ///
    /// - Parameters:
    ///   - target: Gets the records.
    ///   - snapshot: The newest state: records that it does not name are dead.
    /// - Returns: The reason why it stopped.
    /// - Throws: Disk errors; `.damaged` where a table page does not verify.
    func fill(_ target: MovedFrame, _ snapshot: Snapshot) throws(LogError) -> Outcome {
        while true {
            guard let frame, place < frame.body.count, let body = frame.body.baseAddress else {
                guard let next = try scanner.next() else { return try finish(target) }
                try begin(next)
                continue
            }
            let header = RecordHeader(reading: body + place)
            if target.isFull(for: header.wholeByteCount + drops.count * RecordHeader.byteCount) { return .full }
            try take(body + place, header, of: frame, into: target, snapshot)
            place += header.wholeByteCount
            recordNumber += 1
        }
    }

    /// Ends the segment when no further frame verifies.
    private func finish(_ target: MovedFrame) throws(LogError) -> Outcome {
        guard scanner.offset == seal.end, seal.chain == 0 || scanner.previousHead == seal.chain else {
            return .stuck(source, offset: scanner.offset)
        }
        guard !drops.isEmpty, let commit else { return .done }
        if target.isFull(for: drops.count * RecordHeader.byteCount) { return .full }
        // The drops belong to an open transaction: it ended in a later segment, or was abandoned there.
        var part = commit.part + 1
        for follower in followers {
            var scanner = FrameScanner(
                follower.file, from: UInt64(FileHeader.byteCount), previousHead: 0, limit: follower.end)
            while let next = try scanner.next() {
                guard next.header.kind == .commit else { continue }
                guard next.header.sequence == commit.sequence, next.header.part == part else { return .done }
                if !next.header.isContinued {
                    keepDrops(target)
                    return .done
                }
                part += 1
            }
            guard scanner.offset == follower.end else { return .stuck(follower.file, offset: scanner.offset) }
        }
        return .done
    }

    private func begin(_ next: FrameScanner.Frame) throws(LogError) {
        if source.kind == .coldSegment, next.header.kind != nil { try MovedRecords.check(next, of: source) }
        frame = next
        // A frame of a newer version that may be skipped has no records.
        place = next.header.kind == nil ? next.body.count : 0
        recordNumber = 0
        guard next.header.kind == .commit else { return }
        commit = next.header
        // An abandoned transaction has no end.
        if next.header.part == 0 { drops.removeAll() }
    }

    private func take(
        _ record: UnsafeRawPointer, _ header: RecordHeader, of frame: FrameScanner.Frame,
        into target: MovedFrame, _ snapshot: Snapshot
    ) throws(LogError) {
        let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
        guard header.isUnderstood else { throw .newerFormat("The segment holds a record", source.path, offset) }
        let here = Location(segment: source.number, byteOffset: offset, byteCount: header.wholeByteCount)
        let origin = MoveOrigin(sequence: sequence(in: frame), from: here)
        switch RecordOperation(rawValue: header.operation) {
        case .put:
            guard try snapshot.location(of: header.id, in: TableID(rawValue: header.table)) == here else { return }
            target.append(record, header, origin: origin)
        case .delete where origin.sequence > leastBegun:
            // An object that exists again implies by its new version that the old one is over.
            guard try snapshot.location(of: header.id, in: TableID(rawValue: header.table)).isAbsent else { return }
            target.append(record, header, origin: origin)
        case .dropTable where origin.sequence > leastBegun:
            drops.append((Array(UnsafeRawBufferPointer(start: record, count: header.wholeByteCount)), origin))
            if source.kind == .coldSegment { keepDrops(target) }
        case .transaction:
            keepDrops(target)
        default:
            break
        }
    }

    private func keepDrops(_ target: MovedFrame) {
        for drop in drops {
            drop.bytes.withUnsafeBytes { bytes in
                guard let record = bytes.baseAddress else { return }
                target.append(record, RecordHeader(reading: record), origin: drop.origin)
            }
        }
        drops.removeAll()
    }

    /// The transaction of a record.
    private func sequence(in frame: FrameScanner.Frame) -> UInt64 {
        guard frame.header.kind == .moved, recordNumber > 0, let body = frame.body.baseAddress else {
            return frame.header.sequence
        }
        let origin = body + (RecordHeader.byteCount + (recordNumber - 1) * MoveOrigin.byteCount)
        return MoveOrigin(reading: origin).sequence
    }
}
