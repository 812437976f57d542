/// The gain of compaction: bytes of dropped segments, less all bytes written to drop them.
///
/// That is the decrease of the segments, without other transactions. Small segments are merged even if that gains nothing.
struct CompactionGain {
    private var byteCount: Int64 = 0
    private var byteCountAtChoice: Int64 = 0
    private var excludedCountAtChoice = 0
    /// Whether small segments were chosen to be merged.
    private var merges = false
    /// Bytes of these that may be copied beyond the pace of commits.
    private var mergeAllowance: UInt64 = 0

    mutating func noteDropped(_ dropped: UInt64) { byteCount += Int64(dropped) }

    mutating func noteWritten(_ written: UInt64) { byteCount -= Int64(written) }

    /// Begins to compare, when segments are chosen.
    ///
    /// - Parameters:
    ///   - excludedCount: The number of segments that cannot be taken.
    ///   - mergedByteCount: Bytes of the segments that are merged; 0 if none is.
    mutating func noteChoice(excludedCount: Int, mergedByteCount: UInt64) {
        byteCountAtChoice = byteCount
        excludedCountAtChoice = excludedCount
        merges = mergedByteCount > 0
        mergeAllowance = mergedByteCount
    }

    /// Bytes that may be copied beyond the pace, once for each choice.
    mutating func takeMergeAllowance() -> UInt64 {
        defer { mergeAllowance = 0 }
        return mergeAllowance
    }

    /// Whether the last choice was worthwhile: it gained enough, merged segments, or met damage.
    func isWorthwhile(minimumGain: UInt64, excludedCount: Int) -> Bool {
        merges || byteCount >= byteCountAtChoice + Int64(max(minimumGain, 1)) || excludedCount > excludedCountAtChoice
    }
}
