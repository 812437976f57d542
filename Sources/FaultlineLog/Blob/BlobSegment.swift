import FaultlineDisk

/// The blob segment that is being written.
///
/// Concurrency: `end` and `previousHead` are guarded by the writer lock. The durable end is guarded by `lock`, because
/// the leader of a commit synchronizes.
// Safe because of the rules in the comment above.
final class BlobSegment: @unchecked Sendable {
    let managed: ManagedFile
    /// The progress of the log, for the frames' headers.
    let progress: LogProgress
    /// The offset of the next frame.
    var end: UInt64
    var previousHead: UInt32
    /// The offset behind the last byte ever written.
    var furthest: UInt64
    /// Guarded by the writer lock, like `end`.
    var room: RoomAhead
    /// Set by a failed write: the file gets no further bytes.
    var hasFailed = false
    private let lock = EngineLock()
    private var durableEnd: UInt64
    /// Held while the file is synchronized.
    private let syncing = EngineLock()
    /// The error of a failed synchronization: the system reports it once, and calls the next one a success.
    private var failure: LogError?

    init(_ managed: ManagedFile, end: UInt64, previousHead: UInt32, progress: LogProgress) {
        self.managed = managed
        self.progress = progress
        self.end = end
        self.previousHead = previousHead
        furthest = end
        room = RoomAhead(from: end)
        durableEnd = end
    }

    /// Skips the bytes of an abandoned blob, which stay as dead bytes: no offset of a file is written twice.
    func skipGivenUpBytes() {
        end = max(end, furthest.roundedUpTo8)
    }

    /// The manifest's entry for the segment when nothing more is written.
    ///
    /// - Parameters:
    ///   - begun: The transaction before the first that has blobs in the segment.
    ///   - last: The last transaction that may have blobs in it.
    /// - Returns: The segment's end, and the range of transactions.
    func seal(begun: UInt64, last: UInt64) -> SealedFile {
        SealedFile(number: managed.number, end: end, chain: previousHead, firstSequence: begun + 1, lastSequence: last)
    }

    var durable: UInt64 { lock.withLock { durableEnd } }

    /// Makes the bytes before `end` durable, if they are not.
    ///
    /// - Throws: The error of the synchronization, for good: after a failure each later call throws it too.
    func synchronize(through end: UInt64, site: SyncSite = "blob.commit") throws(LogError) {
        syncing.lock()
        defer { syncing.unlock() }
        guard durable < end else { return }
        try flush(site)
        lock.withLock { durableEnd = max(durableEnd, end) }
    }

    /// Makes the bytes of an unfinished blob durable, so that its end needs less work; the progress of the log stays.
    ///
    /// - Throws: The error of the synchronization, for good: after a failure each later call throws it too.
    func synchronizeUnfinished(site: SyncSite) throws(LogError) {
        syncing.lock()
        defer { syncing.unlock() }
        try flush(site)
    }

    private func flush(_ site: SyncSite) throws(LogError) {
        if let failure { throw failure }
        do throws(LogError) {
            try onDisk("making a blob durable") { () throws(DiskError) in try managed.file.synchronize(site: site) }
        } catch {
            failure = error
            throw error
        }
    }
}
