import FaultlineDisk

/// Takes in the transactions of segments that may be damaged anywhere: each whose end is known, in the order in which
/// they were written.
///
/// The frames of a transaction stand one behind the other, and its transaction record says where they begin; so whatever
/// verifies between there and the record is of that transaction, even where frames' heads are lost. Where the record
/// itself is lost, the head of the last frame does too, once something proves that the transaction was not torn: a sync
/// behind it, or a later transaction.
///
/// Invariants:
/// - `pending` lies behind the last transaction that was taken in, and in the order of the log;
/// - bytes are reported as lost once: outside frames when they are scanned, inside when their transaction is taken in.
///
/// Memory: one frame, and the places of the frames of one transaction; what is known of objects is `versions`'.
struct SalvageReplay {
    var versions: VersionTables
    /// Transactions all of whose records are accounted for.
    var whole = SequenceRanges()
    /// The newest transaction of which anything is known.
    var newestSequence: UInt64
    /// Records of transactions that never ended, as far as the log tells.
    private(set) var unfinishedRecordCount = 0
    /// Bytes behind the last frame that no sync is known to have covered.
    var tornByteCount: UInt64 = 0
    /// The transactions that each hot segment has something of.
    private(set) var spans: [ClosedRange<UInt64>] = []

    private let report: (LostRange) -> Void
    /// Whether compaction dropped a segment.
    private let isDropped: (UInt64) -> Bool
    /// Those of the segment that is being read.
    private var span: ClosedRange<UInt64>?
    private var pending: [Stretch] = []
    /// A transaction whose last frame has a head and no transaction record, and which may have been torn.
    private var unproven: (sequence: UInt64, stretches: [Stretch])?

    /// - Parameters:
    ///   - versions: Empty tables.
    ///   - newestSequence: A transaction that is known to have been visible.
    ///   - isDropped: Tells whether compaction dropped a segment.
    ///   - report: Is told of each range that is lost.
    init(
        _ versions: VersionTables, newestSequence: UInt64, isDropped: @escaping (UInt64) -> Bool,
        report: @escaping (LostRange) -> Void
    ) {
        self.isDropped = isDropped
        self.versions = versions
        self.newestSequence = newestSequence
        self.report = report
    }

    /// Reads one segment; of the hot ones, those before it come first.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - progress: Is told how many bytes of it are done.
    /// - Throws: What the disk says, unless it only says that it cannot read.
    mutating func read(_ segment: SalvageSegment, progress: (UInt64) -> Void) throws(LogError) {
        var scanner = LenientScanner(segment.managed, from: UInt64(FileHeader.byteCount), limit: segment.limit)
        var watermark = segment.durable
        while let piece = try scanner.next() {
            switch piece {
            case .lost(let range):
                // Below the watermark zeros are as wrong as anything else.
                let isBehind = range.lowerBound >= watermark
                let lost = isBehind ? try segment.withoutPreparedZeros(range) : range
                if isBehind, range.upperBound == segment.limit, !segment.isSealed {
                    tornByteCount += UInt64(lost.count)
                } else if !lost.isEmpty {
                    lose(segment.managed, lost, "The bytes do not verify.")
                }
            case .record(let header, let offset, _) where segment.isCold:
                let range = offset..<(offset + UInt64(header.wholeByteCount))
                lose(segment.managed, range, "The frame that said when the record was written is lost.")
            case .record(let header, let offset, let bytes):
                try take(header, at: offset, bytes, of: segment)
            case .frame(let frame):
                watermark = max(watermark, frame.header.durable)
                if segment.isCold {
                    try take(moved: frame)
                } else {
                    try take(frame, of: segment, watermark: watermark)
                }
            }
            progress(scanner.offset)
        }
        if let span { spans.append(span) }
        span = nil
        if let end = segment.missingFrom { lose(segment.managed, end, "The file ends before.") }
    }

    /// To be called behind the last segment.
    mutating func finish() {
        giveUp(pending.count)
        if let unproven { unfinishedRecordCount += unproven.stretches.reduce(0) { $0 + $1.recordCount } }
        unproven = nil
    }

    func lose(_ managed: ManagedFile, _ range: Range<UInt64>, _ reason: String) {
        report(
            LostRange(
                path: managed.path, offset: range.lowerBound, byteCount: range.upperBound - range.lowerBound,
                reason: reason))
    }

    // MARK: Finding transactions

    private mutating func take(_ frame: LenientFrame, of segment: SalvageSegment, watermark: UInt64) throws(LogError) {
        let header = frame.header
        guard header.isUnderstood, header.kind == .commit || header.kind == .mark || header.kind == nil else {
            return lose(frame.managed, frame.offset..<frame.end, "The frame is of another kind or a newer format.")
        }
        guard header.kind == .commit, header.sequence < segment.ceiling else { return }
        guard header.sequence <= Limits.countMax else {
            return lose(frame.managed, frame.offset..<frame.end, "The frame has a sequence number that none can have.")
        }
        let sequence = frame.header.sequence
        span = min(span?.lowerBound ?? sequence, sequence)...max(span?.upperBound ?? sequence, sequence)
        if sequence > 0 { newestSequence = max(newestSequence, sequence - 1) }
        if let held = unproven, held.sequence != sequence {
            unproven = nil
            if held.sequence < sequence { try apply(held.stretches, held.sequence, recordCount: nil, current: nil) }
        }
        let part = frame.header.part
        let other = pending.lastIndex { $0.header.map { $0.sequence != sequence } ?? false }
        if part == 0 { giveUp(pending.count) } else if let other { giveUp(other + 1) }
        // Recovery has copied what the segment before holds behind its seal.
        pending.removeAll { $0.header.map { $0.part >= part } ?? false }
        pending.append(Stretch(frame))
        if frame.header.isContinued { return }
        unproven = nil
        if let record = frame.closingRecord, record.sequence == sequence {
            return try close(record, current: frame)
        }
        let stretches = pendingSince(frame)
        if frame.end <= watermark {
            try apply(stretches, sequence, recordCount: nil, current: frame)
        } else {
            unproven = (sequence, stretches)
        }
    }

    /// Takes in a record without a frame's head.
    private mutating func take(
        _ header: RecordHeader, at offset: UInt64, _ bytes: UnsafeRawPointer, of segment: SalvageSegment
    ) throws(LogError) {
        if let last = pending.indices.last, pending[last].header == nil, pending[last].managed === segment.managed {
            pending[last].range = pending[last].range.lowerBound..<(offset + UInt64(header.wholeByteCount))
            pending[last].recordCount += 1
        } else {
            pending.append(Stretch(segment.managed, at: offset, byteCount: header.wholeByteCount))
        }
        guard header.operation == RecordOperation.transaction.rawValue else { return }
        let payload = UnsafeRawBufferPointer(start: bytes + RecordHeader.byteCount, count: header.storedByteCount)
        guard let record = TransactionRecord(reading: payload), record.sequence < segment.ceiling,
            record.sequence > 0, record.sequence <= Limits.countMax
        else {
            return giveUp(pending.count)
        }
        if let held = unproven, held.sequence < record.sequence {
            try apply(held.stretches, held.sequence, recordCount: nil, current: nil)
        }
        unproven = nil
        try close(record, current: nil)
    }

    /// Ends a transaction by its record.
    private mutating func close(_ record: TransactionRecord, current: LenientFrame?) throws(LogError) {
        let stretches = pendingSince(LogPlace(segment: record.segment, offset: record.offset))
        try apply(
            stretches, record.sequence, recordCount: Int(record.recordCount),
            hasMovedParts: isDropped(record.segment), current: current)
    }

    /// Takes out what is pending of the transaction that ends with a frame, by its head alone.
    private mutating func pendingSince(_ frame: LenientFrame) -> [Stretch] {
        guard frame.header.spill > 0 else {
            // It began in a segment before; records without a head may be of whoever came before it.
            defer { pending.removeAll() }
            return pending.filter { $0.header != nil }
        }
        return pendingSince(LogPlace(segment: frame.managed.number, offset: frame.header.spill))
    }

    /// Takes out what is pending from a place on; what lies before never ended.
    private mutating func pendingSince(_ place: LogPlace) -> [Stretch] {
        giveUp(pending.firstIndex { $0.clipped(from: place) != nil } ?? pending.count)
        defer { pending.removeAll() }
        return pending.compactMap { $0.clipped(from: place) }
    }

    /// Forgets the first that are pending.
    private mutating func giveUp(_ count: Int) {
        unfinishedRecordCount += pending[..<count].reduce(0) { $0 + $1.recordCount }
        pending.removeFirst(count)
    }
}
