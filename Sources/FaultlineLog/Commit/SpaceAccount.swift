import FaultlineDisk
import Synchronization

/// The bytes that segments take, the bytes that compaction would not have to keep, and when writers must wait for it.
///
/// Concurrency: guarded by the writer lock, but for `isShort` and `hasExcess`.
// Safe because of the rule in the comment above.
final class SpaceAccount: @unchecked Sendable {
    /// Segments may take twice the live bytes, or the live bytes and this many segments if that is more.
    private static let spareSegmentCount: UInt64 = 4

    /// Bytes and dead bytes by segment: a hint that chooses the segments to compact, and the time.
    @exclusivity(unchecked) var segments: SegmentSpace
    /// Bytes that the current transaction makes dead.
    let dead = DeadBytes()
    /// Headers and closing records in the segment being written that `segments` lacks.
    @exclusivity(unchecked) var overheadByteCount: UInt64 = 0
    /// Bytes of blobs that were deleted since the last checkpoint.
    @exclusivity(unchecked) var deadBlobByteCount: UInt64 = 0
    /// The last transaction that dropped a table, while the bytes it made dead are not counted.
    @exclusivity(unchecked) var uncountedDrop: UInt64?
    /// Bytes after which a segment is followed by the next.
    @exclusivity(unchecked) private(set) var segmentByteCount: UInt64
    /// The size that segments may take beyond the limit: where waiting would not help, and at first after an opening.
    @exclusivity(unchecked) private(set) var toleratedByteCount: UInt64 = 0
    /// The size of the segments when they were last within their limit.
    @exclusivity(unchecked) private var byteCountBeforeShortage: UInt64 = 0
    private let shortage = Atomic<Bool>(false)
    private let excess = Atomic<Bool>(false)

    init(_ segments: SegmentSpace, segmentByteCount: Int, uncountedDrop: UInt64?) {
        self.segments = segments
        self.segmentByteCount = UInt64(segmentByteCount)
        self.uncountedDrop = uncountedDrop
    }

    /// Whether segments take more than they may, so that writers must wait for compaction; readable without the lock.
    private(set) var isShort: Bool {
        get { shortage.load(ordering: .relaxed) }
        set { shortage.store(newValue, ordering: .relaxed) }
    }

    /// Whether segments take more than they may, tolerated or not; readable without the lock.
    private(set) var hasExcess: Bool {
        get { excess.load(ordering: .relaxed) }
        set { excess.store(newValue, ordering: .relaxed) }
    }

    /// Fits the size of segments to the number of live bytes: each segment takes an eighth of it at most.
    ///
    /// Dead bytes of a segment are not freed before it is sealed. No segment is smaller than the log between two
    /// checkpoints, or larger than the options allow.
    func suitSegments(toLive liveByteCount: UInt64, _ options: LogOptions) {
        let least = min(options.checkpointByteCount, options.segmentByteCount)
        segmentByteCount = min(max(liveByteCount / 8, UInt64(least)), UInt64(options.segmentByteCount))
    }

    // MARK: Counting

    /// Counts for good the bytes that the current transaction made dead.
    func countDead() {
        dead.merge(into: &segments)
    }

    /// Counts the headers and closing records of the segment being written.
    func countOverhead(in segment: ManagedFile) {
        guard overheadByteCount > 0 else { return }
        segments.addDead(overheadByteCount, of: UInt32(truncatingIfNeeded: segment.number))
        overheadByteCount = 0
    }

    /// Counts the bytes of a blob that the current transaction deletes.
    func noteDeadBlob(_ byteCount: UInt64, of segment: ManagedFile) {
        dead.add(byteCount, of: UInt32(truncatingIfNeeded: segment.number))
        deadBlobByteCount += byteCount
    }

    /// Counts the bytes written for a transaction that is rolled back.
    func countGivenUp(_ transaction: TransactionState) {
        dead.removeAll()
        for blobs in transaction.writtenBlobs {
            segments.addDead(blobs.byteCount, of: blobs.segment)
            deadBlobByteCount += blobs.byteCount
        }
        for frame in transaction.partialFrames { segments.addDead(frame.byteCount, of: frame.segment) }
        note()
    }

    // MARK: When writers must wait for compaction

    /// One segment less than the segments may take: compaction needs it for copies before it frees their sources.
    private var limit: UInt64 {
        let live = segments.liveByteCount - min(overheadByteCount, segments.liveByteCount)
        return live + max(live, segmentByteCount * Self.spareSegmentCount) - segmentByteCount
    }

    /// Checks whether segments take more than they may.
    func note() {
        isShort = segments.reducibleByteCount > max(limit, toleratedByteCount)
        if !isShort { byteCountBeforeShortage = segments.reducibleByteCount }
        hasExcess = segments.reducibleByteCount > limit
    }

    /// Raises the limit to the present size and one segment more.
    ///
    /// Called when compaction finds nothing to do, and when a store is opened beyond its limit: writers must not wait
    /// for space that was not compacted before.
    func tolerate() {
        let byteCount = segments.reducibleByteCount
        if byteCount > limit { toleratedByteCount = byteCount + segmentByteCount }
        note()
    }

    /// Sets how many bytes the waiting writer must help reclaim: the growth since segments were last within their
    /// limit, at least one segment.
    ///
    /// Never the whole excess, which may be any number of bytes after large deletes.
    func demand() {
        guard isShort else { return }
        let byteCount = segments.reducibleByteCount
        let growth = byteCount - min(byteCountBeforeShortage, byteCount)
        let aim = byteCount - min(max(growth, segmentByteCount), byteCount)
        toleratedByteCount = aim > limit ? aim : 0
    }

    /// Lowers the tolerated size by the progress of compaction; called when segments were dropped.
    func lowerTolerance() {
        let byteCount = segments.reducibleByteCount
        toleratedByteCount = byteCount <= limit ? 0 : min(toleratedByteCount, byteCount + segmentByteCount)
    }
}
