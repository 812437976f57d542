import FaultlineDisk
import FaultlineLog

/// Replays the transactions of segments that may be damaged anywhere: each one whose end is known, in the order in
/// which they were written.
///
/// The frames of a transaction are consecutive, and its transaction record says where they begin. So all records that
/// verify between there and the record belong to that transaction, even if frame headers are lost. If the transaction
/// record itself is lost, the header of the last frame replaces it, once something proves that the transaction was not
/// torn: a sync behind it, or a later transaction.
///
/// Invariants:
/// - `pending` lies behind the last applied transaction, and in the order of the log;
/// - bytes are reported as lost once: outside frames when they are scanned, inside when their transaction is applied.
///
/// Memory: one frame, and the positions of the frames of one transaction; the known versions of objects are in
/// `versions`.
struct SalvageReplay {
    var versions: VersionTables
    /// Transactions whose records are all accounted for.
    var whole = SequenceRanges()
    /// The newest known transaction.
    var newestSequence: UInt64
    /// Records of transactions that never ended, by the log.
    private(set) var unfinishedRecordCount = 0
    /// Bytes behind the last frame, which no sync is known to have covered.
    var tornByteCount: UInt64 = 0
    /// The range of transactions in each hot segment.
    private(set) var spans: [ClosedRange<UInt64>] = []

    private let report: (LostRange) -> Void
    /// Whether compaction dropped a segment.
    private let isDropped: (UInt64) -> Bool
    /// The transactions of the segment that is being read.
    private var span: ClosedRange<UInt64>?
    var pending: [Stretch] = []
    /// Nil unless invariants are checked.
    var watch: SalvageWatch?
    /// The ends of the files that lack bytes at their end, by number.
    private var truncatedEnds: [UInt64: UInt64] = [:]
    /// A transaction whose last frame has a header and no transaction record, and which may have been torn.
    private var unproven: (sequence: UInt64, stretches: [Stretch])?

    /// - Parameters:
    ///   - versions: Empty tables.
    ///   - newestSequence: A transaction that is known to have been visible.
    ///   - watch: Checks invariants; nil for none.
    ///   - isDropped: Returns whether compaction dropped a segment.
    ///   - report: Called for each lost range.
    init(
        _ versions: VersionTables, newestSequence: UInt64, watch: SalvageWatch? = nil,
        isDropped: @escaping (UInt64) -> Bool, report: @escaping (LostRange) -> Void
    ) {
        self.watch = watch
        self.isDropped = isDropped
        self.versions = versions
        self.newestSequence = newestSequence
        self.report = report
    }

    /// Reads one segment; hot segments must be read in order.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - progress: Called with the number of its bytes done.
    /// - Throws: Disk errors, except for bytes that the disk cannot read.
    mutating func read(_ segment: SalvageSegment, progress: (UInt64) -> Void) throws(LogError) {
        if let missing = segment.missingFrom { truncatedEnds[segment.managed.number] = missing.lowerBound }
        var scanner = LenientScanner(segment.managed, from: UInt64(FileHeader.byteCount), limit: segment.limit)
        var watermark = segment.durable
        while let piece = try scanner.next() {
            switch piece {
            case .lost(let range):
                // Below the watermark zeros are damage like any other bytes.
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
            watch?.check(self)
            progress(scanner.offset)
        }
        if let span { spans.append(span) }
        span = nil
        if let missing = segment.missingFrom { report(segment.managed, missing, "The file ends before.") }
    }

    /// To be called after the last segment.
    mutating func finish() {
        giveUp(pending.count)
        if let unproven { unfinishedRecordCount += unproven.stretches.reduce(0) { $0 + $1.recordCount } }
        unproven = nil
    }

    /// Reports bytes as lost, without those that the file lacks, which are reported as a whole.
    mutating func lose(_ managed: ManagedFile, _ range: Range<UInt64>, _ reason: String) {
        let end = min(range.upperBound, truncatedEnds[managed.number] ?? .max)
        if range.lowerBound < end { report(managed, range.lowerBound..<end, reason) }
    }

    private mutating func report(_ managed: ManagedFile, _ range: Range<UInt64>, _ reason: String) {
        watch?.noteLost(range, of: managed)
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
        // Recovery copied the previous segment's frames behind its seal.
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

    /// Takes a record without a frame header.
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

    /// Removes and returns the pending stretches of the transaction that ends with a frame, by its header alone.
    private mutating func pendingSince(_ frame: LenientFrame) -> [Stretch] {
        guard frame.header.spill > 0 else {
            // It began in an earlier segment; records without a header may belong to an earlier transaction.
            defer { pending.removeAll() }
            return pending.filter { $0.header != nil }
        }
        return pendingSince(LogPlace(segment: frame.managed.number, offset: frame.header.spill))
    }

    /// Removes and returns the pending stretches from a position on; those before it never ended.
    private mutating func pendingSince(_ place: LogPlace) -> [Stretch] {
        giveUp(pending.firstIndex { $0.clipped(from: place) != nil } ?? pending.count)
        defer { pending.removeAll() }
        return pending.compactMap { $0.clipped(from: place) }
    }

    /// Drops the first pending stretches, and counts their records as unfinished.
    private mutating func giveUp(_ count: Int) {
        unfinishedRecordCount += pending[..<count].reduce(0) { $0 + $1.recordCount }
        pending.removeFirst(count)
    }
}
