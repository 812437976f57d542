/// The results of a run of kills.
package struct KillReport: Sendable {
    package var killCount = 0
    /// The number of kills before the store was open.
    package var killsInOpening = 0
    package var storeCount = 0
    /// The number of times that all contents were compared.
    package var checkCount = 0
    /// The number of these comparisons in a store that was open for reading only.
    package var readOnlyCheckCount = 0
    package var acknowledgedCount: UInt64 = 0
    /// The number of transactions that were found without having been acknowledged.
    package var unacknowledgedFoundCount: UInt64 = 0
    /// The number of acknowledged transactions that were not found.
    package var lostCount: UInt64 = 0
    /// The number of transactions that recovery copied from a torn tail.
    package var rescuedCount = 0
    /// The number of checks that found records which compaction had moved.
    package var compactedCheckCount = 0
    /// The number of partly written manifests.
    package var tornManifestCount = 0
    package var violations: [String] = []

    mutating func add(_ other: KillReport) {
        killCount += other.killCount
        killsInOpening += other.killsInOpening
        storeCount += other.storeCount
        checkCount += other.checkCount
        readOnlyCheckCount += other.readOnlyCheckCount
        acknowledgedCount += other.acknowledgedCount
        unacknowledgedFoundCount += other.unacknowledgedFoundCount
        lostCount += other.lostCount
        rescuedCount += other.rescuedCount
        compactedCheckCount += other.compactedCheckCount
        tornManifestCount += other.tornManifestCount
        violations += other.violations
    }
}
