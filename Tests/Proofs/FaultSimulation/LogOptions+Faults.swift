import FaultlineLog
import FaultlineTestSupport

extension LogOptions {
    /// Limits so small that segments roll and transactions take several frames all the time.
    ///
    /// Even seeds replace manifests all the time. Odd ones append edit after edit, and also prepare space behind
    /// commits.
    static func forFaults(seed: UInt64) -> LogOptions {
        var random = Seed(seed ^ 0xFA17)
        var options = LogOptions()
        options.segmentByteCount = random.pick([1_500, 4_000])
        options.frameByteCount = random.pick([500, 1_200])
        options.manifestByteCount = seed.isMultiple(of: 2) ? 700 : 1 << 20
        options.manifestGrowth = 1
        options.checkpointByteCount = random.pick([3_000, 100_000])
        options.memoryBudget = random.pick([60_000, 200_000])
        options.maintenance = .inline
        if random.oneIn(5) { options.durability = .async }
        options.preparedByteCount = seed.isMultiple(of: 2) ? 0 : 200
        options.seed = seed
        return options
    }
}
