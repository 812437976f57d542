import FaultlineDisk

/// A hot or cold segment of a damaged store, and how far it counts.
struct SalvageSegment {
    let managed: ManagedFile
    /// Whether it holds moved records, whose order says nothing.
    var isCold: Bool { managed.kind == .coldSegment }
    /// Bytes that are looked at: up to where the segment was sealed, if a manifest still says where.
    let limit: UInt64
    /// Bytes known to have been synchronized.
    let durable: UInt64
    /// Bytes that the manifest knows of, and that the file has not.
    let missingFrom: Range<UInt64>?
    /// Whether later segments follow, so that no torn tail is to be expected.
    let isSealed: Bool
    /// Transactions from this number on are those of a later segment: what this one has behind its seal is dead.
    let ceiling: UInt64

    /// - Parameters:
    ///   - managed: The segment's file.
    ///   - facts: What the manifests say.
    ///   - isFollowed: Whether later segments follow.
    ///   - ceiling: The first transaction that began in one of them.
    /// - Throws: What the disk says.
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

    /// What of bytes that are nothing, up to where the segment ends, is not zeros that were prepared for commits which
    /// did not come.
    ///
    /// What the disk cannot read is not known to be zeros.
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
    /// Frames that recovery copied here do not count: the copy may not have been finished.
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
