import FaultlineDisk

/// The blob segment that is being written.
///
/// Concurrency: `end` and `previousHead` belong to the writer's turn; how far it is durable is guarded by the lock,
/// because the leader of a commit synchronizes.
// Safe because of what the comment above says.
final class BlobSegment: @unchecked Sendable {
    let managed: ManagedFile
    /// How far the log is, for the frames' headers.
    let progress: LogProgress
    /// Where the next frame begins.
    var end: UInt64
    var previousHead: UInt32
    /// Behind the last byte ever written.
    var furthest: UInt64
    /// Of the writer's turn, like `end`.
    var room: RoomAhead
    /// Set by a failed write: the file gets no further bytes.
    var hasFailed = false
    private let lock = EngineLock()
    private var durableEnd: UInt64
    /// Held while the file is synchronized.
    private let syncing = EngineLock()
    /// Of a synchronization: the system reports it once, and calls the next one a success.
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

    /// Leaves the bytes of a blob that was given up behind as dead: no place of a file is written twice.
    func skipGivenUpBytes() {
        end = max(end, furthest.roundedUpTo8)
    }

    /// What the manifest is told when nothing more is written.
    ///
    /// - Parameters:
    ///   - begun: The transaction before the first that it has blobs of.
    ///   - last: The last one that it may have blobs of.
    /// - Returns: Its end, and those transactions.
    func seal(begun: UInt64, last: UInt64) -> SealedFile {
        SealedFile(number: managed.number, end: end, chain: previousHead, firstSequence: begun + 1, lastSequence: last)
    }

    var durable: UInt64 { lock.withLock { durableEnd } }

    /// Makes the bytes before `end` durable, if they are not.
    ///
    /// - Throws: What the disk says; once it did, for good.
    func synchronize(through end: UInt64, site: SyncSite = "blob.commit") throws(LogError) {
        syncing.lock()
        defer { syncing.unlock() }
        guard durable < end else { return }
        try flush(site)
        lock.withLock { durableEnd = max(durableEnd, end) }
    }

    /// Makes the bytes of a blob durable that is not finished, so that less is left to do when it is; nobody is told.
    ///
    /// - Throws: What the disk says; once it did, for good.
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
