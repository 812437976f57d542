/// Bytes and dead bytes of the segments while the store is written to.
///
/// Dead bytes are a hint, which counts deletes as live. They choose the segments to compact, and say when writers must
/// wait for compaction. They never allow a segment to be dropped.
///
/// Segments are keyed by the low 32 bits of their number.
struct SegmentSpace {
    /// The end offset of each segment.
    private var ends: [UInt32: UInt64] = [:]
    /// Of each segment, the counted bytes that compaction would not have to keep.
    private(set) var dead: [UInt32: UInt64] = [:]
    /// Bytes of all segments.
    private(set) var byteCount: UInt64 = 0
    private var deadByteCount: UInt64 = 0
    /// Segments of a state that can be restored: their dead bytes stay as long as that state.
    private var kept: Set<UInt32> = []
    /// Dead bytes in them.
    private(set) var keptDeadByteCount: UInt64 = 0

    /// Bytes of all segments, without those that no compaction may free.
    var reducibleByteCount: UInt64 { byteCount - min(keptDeadByteCount, byteCount) }

    /// Bytes that are not counted as dead.
    var liveByteCount: UInt64 { byteCount - min(deadByteCount, byteCount) }

    /// The end offset of a segment; 0 if no segment has that number.
    func end(of segment: UInt64) -> UInt64 { ends[UInt32(truncatingIfNeeded: segment)] ?? 0 }

    /// Sets the end offset of a segment that is new or has grown.
    mutating func setEnd(_ end: UInt64, of segment: UInt64) {
        let old = ends.updateValue(end, forKey: UInt32(truncatingIfNeeded: segment)) ?? 0
        byteCount = byteCount - old + end
    }

    /// Counts bytes of a segment as dead.
    mutating func addDead(_ byteCount: UInt64, of segment: UInt32) {
        dead[segment, default: 0] += byteCount
        deadByteCount += byteCount
        if kept.contains(segment) { keptDeadByteCount += byteCount }
    }

    /// Replaces the dead bytes by a new count, for segments that still exist.
    mutating func setDead(_ counted: [UInt32: UInt64]) {
        dead = counted.filter { ends[$0.key] != nil }
        deadByteCount = dead.values.reduce(0, +)
        countKept()
    }

    /// Sets which segments are kept.
    mutating func setKept(_ numbers: some Sequence<UInt64>) {
        kept = Set(numbers.map { UInt32(truncatingIfNeeded: $0) })
        countKept()
    }

    private mutating func countKept() { keptDeadByteCount = kept.reduce(0) { $0 + (dead[$1] ?? 0) } }

    /// Removes a dropped segment.
    mutating func remove(_ segment: UInt64) {
        let number = UInt32(truncatingIfNeeded: segment)
        byteCount -= ends.removeValue(forKey: number) ?? 0
        deadByteCount -= dead.removeValue(forKey: number) ?? 0
    }
}
