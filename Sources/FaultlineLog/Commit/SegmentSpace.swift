/// Bytes of the segments, and of what is dead in them, as they are while the store is written to.
///
/// Dead bytes are a hint, which takes deletes for live: they choose what to compact, and say when writers have to wait
/// for it; they never say that something may be dropped.
///
/// Segments go by the low 32 bits of their number.
struct SegmentSpace {
    /// Where each segment ends.
    private var ends: [UInt32: UInt64] = [:]
    /// Of each segment, bytes that compaction would not have to keep, as far as they were counted.
    private(set) var dead: [UInt32: UInt64] = [:]
    /// Bytes of all segments.
    private(set) var byteCount: UInt64 = 0
    private var deadByteCount: UInt64 = 0
    /// Segments of a state that can be returned to: what is dead in them stays for as long as that state.
    private var kept: Set<UInt32> = []
    /// Dead bytes in them.
    private(set) var keptDeadByteCount: UInt64 = 0

    /// Bytes of all segments, but for those that no compaction may give back.
    var reducibleByteCount: UInt64 { byteCount - min(keptDeadByteCount, byteCount) }

    /// Bytes that are not counted as dead.
    var liveByteCount: UInt64 { byteCount - min(deadByteCount, byteCount) }

    /// Where a segment ends; 0 if there is none of that number.
    func end(of segment: UInt64) -> UInt64 { ends[UInt32(truncatingIfNeeded: segment)] ?? 0 }

    /// Notes where a segment ends: a new one, or one that has got longer.
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

    /// Takes dead bytes that were counted anew, of segments that are there.
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

    /// Forgets a segment that was dropped.
    mutating func remove(_ segment: UInt64) {
        let number = UInt32(truncatingIfNeeded: segment)
        byteCount -= ends.removeValue(forKey: number) ?? 0
        deadByteCount -= dead.removeValue(forKey: number) ?? 0
    }
}
