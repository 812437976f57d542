import FaultlineDisk
import FaultlineLog

/// A hot or cold segment of a damaged store, with its valid end.
struct SalvageSegment {
    let managed: ManagedFile
    /// Whether it holds moved records, which are not in the order of transactions.
    var isCold: Bool { managed.kind == .coldSegment }
    /// The end of the bytes to read: the end of the sealed segment, if a manifest still has it.
    let limit: UInt64
    /// Bytes known to have been synchronized.
    let durable: UInt64
    /// Bytes that the manifest has, but the file lacks.
    let missingFrom: Range<UInt64>?
    /// Whether later segments follow, so that a torn tail is not possible.
    let isSealed: Bool
    /// Transactions from this number on belong to a later segment: this one's frames of them, behind its seal, are
    /// dead.
    let ceiling: UInt64

    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - facts: The facts of the manifests.
    ///   - isFollowed: Whether later segments follow.
    ///   - ceiling: The first transaction that began in one of them.
    /// - Throws: Disk errors.
    init(_ managed: ManagedFile, _ facts: ManifestFacts, isFollowed: Bool, ceiling: UInt64) throws(LogError) {
        let length = try onDisk("measuring a segment") { () throws(DiskError) in try managed.file.byteCount() }
        let end = facts.ends[managed.number]
        let durable = facts.durable[managed.number] ?? 0
        self.managed = managed
        self.durable = durable
        self.ceiling = ceiling
        limit = min(length, end ?? length, UInt64(Limits.locatableByteCountMax))
        missingFrom = durable > length ? length..<durable : nil
        isSealed = end != nil || isFollowed
    }

    /// The part of an invalid range at the segment's end without the zeros prepared for commits that did not come.
    ///
    /// Bytes that the disk cannot read do not count as zeros.
    func withoutPreparedZeros(_ range: Range<UInt64>) throws(LogError) -> Range<UInt64> {
        guard !isCold, range.upperBound == limit else { return range }
        do throws(DiskError) {
            let end = try managed.file.endWithoutZeros(from: range.lowerBound)
            return range.lowerBound..<min(end, range.upperBound)
        } catch {
            guard error.code == .ioFailure else { throw LogError(error, doing: "reading a damaged file") }
            return range
        }
    }

    /// The hot segments in the order in which they were written.
    static func ordered(_ hot: [ManagedFile], _ facts: ManifestFacts) throws(LogError) -> [SalvageSegment] {
        var segments: [SalvageSegment] = []
        var ceiling = UInt64.max
        for managed in hot.sorted(by: { $0.number > $1.number }) {
            let segment = try SalvageSegment(managed, facts, isFollowed: !segments.isEmpty, ceiling: ceiling)
            segments.append(segment)
            if let first = try firstBegun(in: managed, limit: segment.limit) { ceiling = min(ceiling, first) }
        }
        return segments.reversed()
    }

    /// The first transaction that began in a segment, as far as it can be read.
    ///
    /// Frames that recovery copied there do not count: the copy may be unfinished.
    private static func firstBegun(in managed: ManagedFile, limit: UInt64) throws(LogError) -> UInt64? {
        var scanner = LenientScanner(managed, from: UInt64(FileHeader.byteCount), limit: limit)
        while let piece = try scanner.next() {
            if case .frame(let frame) = piece, frame.header.kind == .commit, !frame.header.isRescued,
                frame.header.sequence < Limits.countMax
            {
                return frame.header.part == 0 ? frame.header.sequence : frame.header.sequence + 1
            }
        }
        return nil
    }
}
