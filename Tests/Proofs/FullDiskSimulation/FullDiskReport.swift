/// The results of cycles on a full file system.
package struct FullDiskReport: Sendable {
    package var cycleCount = 0
    package var commitCount = 0
    /// Transactions that were refused for lack of space.
    package var refusalCount = 0
    /// Deletes that succeeded while other transactions were refused.
    package var deleteCount = 0
    /// Openings on the full disk that were refused until there was space.
    package var refusedOpeningCount = 0
    /// Bytes that compaction freed while the disk was full.
    package var compactedByteCount: UInt64 = 0
    package var violations: [String] = []
}
