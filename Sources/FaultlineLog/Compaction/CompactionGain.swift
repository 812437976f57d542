/// The gain of compaction: bytes of dropped segments, less all bytes written to drop them.
///
/// That is the decrease of the segments, without other transactions.
struct CompactionGain {
    private var byteCount: Int64 = 0
    private var byteCountAtChoice: Int64 = 0
    private var excludedCountAtChoice = 0

    mutating func noteDropped(_ dropped: UInt64) { byteCount += Int64(dropped) }

    mutating func noteWritten(_ written: UInt64) { byteCount -= Int64(written) }

    /// Begins to compare, when segments are chosen.
    mutating func noteChoice(excludedCount: Int) {
        byteCountAtChoice = byteCount
        excludedCountAtChoice = excludedCount
    }

    /// Whether the last choice was worthwhile: it gained enough, or met damage.
    func isWorthwhile(minimumGain: UInt64, excludedCount: Int) -> Bool {
        byteCount >= byteCountAtChoice + Int64(max(minimumGain, 1)) || excludedCount > excludedCountAtChoice
    }
}
