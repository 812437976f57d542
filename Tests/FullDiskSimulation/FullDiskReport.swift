/// What cycles on a file system that is filled came to.
package struct FullDiskReport: Sendable {
    package var cycleCount = 0
    package var commitCount = 0
    /// Transactions that were refused for want of space.
    package var refusalCount = 0
    /// Deletes that went through while other transactions were refused.
    package var deleteCount = 0
    /// Openings on the full disk that were refused until there was space.
    package var refusedOpeningCount = 0
    /// Bytes that compaction gave back while the disk was full.
    package var compactedByteCount: UInt64 = 0
    package var violations: [String] = []
}
