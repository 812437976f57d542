/// What a run of kills came to.
package struct KillReport: Sendable {
    package var killCount = 0
    /// Of these, before the store was open.
    package var killsInOpening = 0
    package var storeCount = 0
    /// How often everything was read and compared.
    package var checkCount = 0
    /// Of these, in a store that was open for reading only.
    package var readOnlyCheckCount = 0
    package var acknowledgedCount: UInt64 = 0
    /// Transactions that were found though nobody had been told of them yet.
    package var unacknowledgedFoundCount: UInt64 = 0
    /// Transactions that were acknowledged and are not there.
    package var lostCount: UInt64 = 0
    /// Transactions that recovery copied out of a torn tail.
    package var rescuedCount = 0
    /// Checks that met records which compaction had moved.
    package var compactedCheckCount = 0
    /// Manifests that were being written.
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
