/// The results of a run of backups.
package struct BackupRunReport: Sendable {
    package var backupCount = 0
    /// The number of restores of the newest state of a backup.
    package var restoreCount = 0
    /// The number of restores of a transaction by its number.
    package var olderRestoreCount = 0
    /// The number of these transactions that no backup had.
    package var missingCount = 0
    /// The number of states that were read in the store beside the process: newest ones, and older ones.
    package var pastCount = 0
    package var olderPastCount = 0
    package var killCount = 0
    /// The number of transactions that were acknowledged while backups were made.
    package var acknowledgedMeanwhile: UInt64 = 0
    package var copiedByteCount: UInt64 = 0
    package var violations: [String] = []
}
