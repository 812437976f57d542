import FaultlineDisk

/// Reads one hot or cold segment and copies the records that compaction must keep: newest versions, and deletes that
/// older versions elsewhere still need.
///
/// Memory: two frames of the segment, and the frame being filled.
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

    let source: ManagedFile
    private let seal: SealedFile
    /// Deletes up to this transaction are not needed: no other segment can hold a version from before.
    private let leastBegun: UInt64
    private let followers: [TransactionEnd.Follower]
    /// The last end that an earlier mover has searched for; nil for none.
    private let earlier: TransactionEnd.Found?
    /// The last end that was searched for in this segment, or else the earlier one.
    private(set) var found: TransactionEnd.Found?
    private var scanner: FrameScanner
    private var frame: FrameScanner.Frame?
    /// The end of the transaction of `frame`; nil until a delete or a drop of it matters.
    private var ending: TransactionEnd?
    /// Whether a transaction has begun in the segment.
    private var hasBegun = false
    /// An offset in the body of `frame`.
    private var place = 0
    private var recordNumber = 0

    /// - Parameters:
    ///   - source: A sealed segment.
    ///   - seal: Its end.
    ///   - leastBegun: The least `begun` of all other hot and cold segments.
    ///   - followers: The hot segments behind a hot one, up to the checkpoint in force.
    ///   - earlier: The `found` of the mover of an earlier segment.
    init(
        _ source: ManagedFile, seal: SealedFile, leastBegun: UInt64, followers: [TransactionEnd.Follower],
        earlier: TransactionEnd.Found?
    ) {
        self.source = source
        self.seal = seal
        self.leastBegun = leastBegun
        self.followers = followers
        self.earlier = earlier
        found = earlier
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
                guard let next = try scanner.next() else { return finish() }
                try begin(next)
                continue
            }
            let header = RecordHeader(reading: body + place)
            if target.isFull(for: header.wholeByteCount) { return .full }
            let offset = frame.offset + UInt64(FrameHeader.byteCount + place)
            guard header.isUnderstood else { throw .newerFormat("The segment holds a record", source.path, offset) }
            let here = Location(segment: source.number, byteOffset: offset, byteCount: header.wholeByteCount)
            let origin = MoveOrigin(sequence: sequence(in: frame), from: here)
            if try isNeeded(header, at: origin, snapshot) {
                let isVersion = header.operation == RecordOperation.put.rawValue
                // A version that the tables name was committed.
                switch isVersion ? .committed : try ending(of: frame) {
                case .committed: target.append(body + place, header, origin: origin)
                case .abandoned: break
                case .unreadable(let file, let offset): return .stuck(file, offset: offset)
                }
            }
            place += header.wholeByteCount
            recordNumber += 1
        }
    }

    private func finish() -> Outcome {
        let isWhole = scanner.offset == seal.end && (seal.chain == 0 || scanner.previousHead == seal.chain)
        return isWhole ? .done : .stuck(source, offset: scanner.offset)
    }

    private func begin(_ next: FrameScanner.Frame) throws(LogError) {
        if source.kind == .coldSegment, next.header.kind != nil { try MovedRecords.check(next, of: source) }
        frame = next
        // A frame of a newer version that may be skipped has no records.
        place = next.header.kind == nil ? next.body.count : 0
        recordNumber = 0
        guard next.header.kind == .commit, next.header.part == 0 else { return }
        ending = nil
        hasBegun = true
    }

    /// Whether a record must be kept, if its transaction was committed.
    private func isNeeded(
        _ header: RecordHeader, at origin: MoveOrigin, _ snapshot: Snapshot
    ) throws(LogError) -> Bool {
        switch RecordOperation(rawValue: header.operation) {
        case .put:
            return try snapshot.location(of: header.id, in: TableID(rawValue: header.table)) == origin.from
        case .delete where origin.sequence > leastBegun:
            // An object that exists again implies by its new version that the old one is over.
            return try snapshot.location(of: header.id, in: TableID(rawValue: header.table)).isAbsent
        case .dropTable:
            return origin.sequence > leastBegun
        default:
            return false
        }
    }

    /// The end of a frame's transaction, found once for each.
    private func ending(of frame: FrameScanner.Frame) throws(LogError) -> TransactionEnd {
        if let ending { return ending }
        // Only committed records are moved.
        if frame.header.kind == .moved {
            ending = .committed
            return .committed
        }
        // The search of an earlier mover has read the frames of this segment, up to the transaction's last one.
        if let earlier, !hasBegun, frame.header.part > 0, earlier.sequence == frame.header.sequence,
            earlier.first < source.number, source.number <= earlier.last
        {
            ending = earlier.end
            return earlier.end
        }
        let found = try TransactionEnd.find(behind: frame, in: source, end: seal.end, followers: followers)
        self.found = found
        ending = found.end
        return found.end
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

/// The outcome of a transaction, found from one of its frames.
///
/// A transaction that is larger than a frame writes its first frames before it commits, and may be abandoned. Its
/// records then stay in the segments, and the next transaction has its number.
enum TransactionEnd {
    case committed
    case abandoned
    /// A frame in which it may end does not verify, at an offset of a file.
    case unreadable(ManagedFile, offset: UInt64)

    /// A hot segment behind the one that is read, and its end, at which no transaction is open.
    struct Follower {
        let file: ManagedFile
        let end: UInt64
    }

    /// The result of a search.
    struct Found {
        /// The transaction.
        let sequence: UInt64
        let end: TransactionEnd
        /// The segment where the search began, and the one where it ended.
        let first: UInt64
        let last: UInt64
    }

    /// Reads on from one of a transaction's frames, to its last frame or to a frame of another transaction.
    ///
    /// Memory: one frame. Time: linear in the transaction's bytes.
    ///
    /// - Parameters:
    ///   - frame: One of its frames.
    ///   - file: The segment with that frame.
    ///   - end: The end of the segment's frames.
    ///   - followers: The hot segments behind it, up to the checkpoint in force.
    /// - Returns: The end; `.abandoned` also if no further frame exists.
    /// - Throws: Disk errors; `.newerFormat`.
    static func find(
        behind frame: FrameScanner.Frame, in file: ManagedFile, end: UInt64, followers: [Follower]
    ) throws(LogError) -> Found {
        func found(_ end: TransactionEnd, in last: ManagedFile) -> Found {
            Found(sequence: frame.header.sequence, end: end, first: file.number, last: last.number)
        }
        guard frame.header.isContinued else { return found(.committed, in: file) }
        var part = frame.header.part + 1
        let rest = (file: file, start: frame.end, head: frame.head, end: end)
        let start = UInt64(FileHeader.byteCount)
        let others = followers.map { (file: $0.file, start: start, head: UInt32(0), end: $0.end) }
        for place in [rest] + others {
            var scanner = FrameScanner(place.file, from: place.start, previousHead: place.head, limit: place.end)
            while let next = try scanner.next() {
                guard next.header.kind == .commit else { continue }
                guard next.header.sequence == frame.header.sequence, next.header.part == part else {
                    return found(.abandoned, in: place.file)
                }
                guard next.header.isContinued else { return found(.committed, in: place.file) }
                part += 1
            }
            guard scanner.offset == place.end else {
                return found(.unreadable(place.file, offset: scanner.offset), in: place.file)
            }
        }
        return found(.abandoned, in: others.last?.file ?? file)
    }
}
