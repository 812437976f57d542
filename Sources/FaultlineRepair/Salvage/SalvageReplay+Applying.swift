import FaultlineLog

/// Applies the records of a transaction that is known to have ended.
extension SalvageReplay {
    /// Applies the records of a transaction.
    ///
    /// - Parameters:
    ///   - stretches: The parts of segments that hold them.
    ///   - sequence: Its number.
    ///   - recordCount: The number of its records, without the transaction record; nil if that is lost.
    ///   - hasMovedParts: Whether it began in a segment that compaction dropped.
    ///   - current: The frame that is in memory, if it is one of them.
    /// - Throws: Disk errors of the files that versions are spilled to.
    mutating func apply(
        _ stretches: [Stretch], _ sequence: UInt64, recordCount: Int?, hasMovedParts: Bool = false,
        current: LenientFrame?
    ) throws(LogError) {
        var tally = Tally()
        for stretch in stretches {
            if let current, current.managed === stretch.managed, current.offset == stretch.range.lowerBound {
                try apply(current, sequence, &tally)
                continue
            }
            var again = LenientScanner(stretch.managed, from: stretch.range.lowerBound, limit: stretch.range.upperBound)
            while let piece = try again.next() {
                switch piece {
                case .frame(let frame): try apply(frame, sequence, &tally)
                case .record(let header, let offset, _):
                    try apply(header, at: offset, of: stretch.managed, sequence, isIntact: true, &tally)
                case .lost: tally.isDamaged = true
                }
            }
        }
        newestSequence = max(newestSequence, sequence)
        if let last = stretches.last { watch?.noteApplied(last) }
        let isWhole =
            hasMovedParts
            || recordCount.map { tally.recordCount >= $0 } ?? (!tally.isDamaged && Self.isUnbroken(stretches))
        if isWhole { whole.insert(sequence) }
    }

    /// The counts of one transaction's records.
    struct Tally {
        /// Records whose header verifies, without the transaction record.
        var recordCount = 0
        /// Whether there are bytes of which not even a header verifies.
        var isDamaged = false
    }

    /// Whether the stretches are frames without a gap.
    private static func isUnbroken(_ stretches: [Stretch]) -> Bool {
        stretches.enumerated().allSatisfy { place, stretch in stretch.header.map { Int($0.part) == place } ?? false }
    }

    private mutating func apply(_ frame: LenientFrame, _ sequence: UInt64, _ tally: inout Tally) throws(LogError) {
        let first = frame.offset + UInt64(FrameHeader.byteCount)
        try frame.forEachStep { step throws(LogError) in
            switch step {
            case .lost(let range):
                tally.isDamaged = true
                lose(
                    frame.managed, (first + UInt64(range.lowerBound))..<(first + UInt64(range.upperBound)),
                    "The bytes do not verify.")
            case .record(let place, let header, let isIntact):
                try apply(
                    header, at: first + UInt64(place), of: frame.managed, sequence, isIntact: isIntact, &tally)
            }
        }
    }

    mutating func apply(
        _ header: RecordHeader, at offset: UInt64, of managed: ManagedFile, _ sequence: UInt64, isIntact: Bool,
        _ tally: inout Tally
    ) throws(LogError) {
        let range = offset..<(offset + UInt64(header.wholeByteCount))
        guard header.isUnderstood, header.operation == RecordOperation.transaction.rawValue || header.table > 0 else {
            return lose(managed, range, "The record is of a newer format.")
        }
        if !isIntact { lose(managed, range, "The record does not verify.") }
        let isOfAnObject = header.id > 0 && header.id <= Limits.recordIDMax
        switch RecordOperation(rawValue: header.operation) {
        case .put where isOfAnObject && isIntact:
            let location = Location(segment: managed.number, byteOffset: offset, byteCount: header.wholeByteCount)
            try versions.put(header.id, in: header.table, at: location, sequence)
        case .put where isOfAnObject: try versions.lose(header.id, in: header.table, sequence)
        // The header has everything needed.
        case .delete where isOfAnObject: try versions.delete(header.id, in: header.table, sequence)
        case .dropTable: versions.drop(header.table, sequence)
        case .transaction: return
        default:
            if isIntact { lose(managed, range, "The record is of another kind.") }
            return
        }
        tally.recordCount += 1
    }
}
