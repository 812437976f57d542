import FaultlineDisk
import Synchronization

/// A blob segment that is being written.
///
/// One thread at a time writes blobs to its end: the holder of the writer lock, the mover, or the upload that has
/// leased the segment. Headers of finished uploads are written by the holder of the writer lock.
///
/// Concurrency: `end`, `previousHead`, `furthest` and `room` belong to the thread that writes blobs. The durable end is
/// guarded by `lock`, because the leader of a commit synchronizes; `covered` and `failure` are guarded by `syncing`.
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
    var room: RoomAhead
    private let failed = Atomic<Bool>(false)
    /// Writes of bytes so far.
    private let writes = Atomic<UInt64>(0)
    /// The writes that a synchronization has covered.
    private var covered: UInt64 = 0
    /// Held by an upload while it writes to the segment, which it has leased.
    let use = EngineLock()
    /// Whether the store was closed, so that no upload may write; guarded by `use`.
    var isShut = false
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

    /// Whether a write or a synchronization failed: the file gets no further blobs.
    var hasFailed: Bool {
        get { failed.load(ordering: .acquiring) }
        set { failed.store(newValue, ordering: .releasing) }
    }

    /// Writes bytes, and counts the write; after an error the segment has failed.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(LogError) {
        do throws(DiskError) {
            try managed.file.write(bytes, at: offset)
        } catch {
            hasFailed = true
            throw LogError(error, doing: "writing a blob")
        }
        writes.add(1, ordering: .acquiringAndReleasing)
    }

    /// The number of writes so far, for `synchronize(covering:)`.
    var writeCount: UInt64 { writes.load(ordering: .acquiring) }

    /// The fields of the headers of a blob, with the present progress of the log.
    ///
    /// - Parameters:
    ///   - id: The blob.
    ///   - owner: Its owner.
    ///   - durable: An offset up to which the file is durable, at most that of the headers.
    /// - Returns: The fields.
    func headerFields(id: RecordID, owner: BlobOwner, durable: UInt64) -> BlobBody.HeaderFields {
        BlobBody.HeaderFields(
            id: id, owner: owner, durableSequence: progress.durable, acknowledgedSequence: progress.acknowledged,
            durable: durable)
    }

    /// Writes the headers of a blob whose bytes lie in the segment; nothing is synchronized.
    ///
    /// Headers of several blobs may be written in another order than their offsets, so none names the one before.
    func writeHeaders(of body: BlobBody, id: RecordID, owner: BlobOwner) throws(LogError) -> BlobPlacement {
        let fields = headerFields(id: id, owner: owner, durable: UInt64(FileHeader.byteCount))
        var recordCRC: UInt32 = 0
        for number in 0..<body.pieceCount {
            let headers = body.headers(before: number, fields, previousHead: 0, in: managed)
            if number == 0 { recordCRC = headers.recordCRC }
            let offset = body.layout.piece(number, payloadByteCount: body.payloadByteCount).frameOffset
            try write(headers.bytes.bytes, at: offset)
        }
        return body.placement(in: managed.number, recordCRC: recordCRC)
    }

    /// Makes the first writes of the segment durable, if they are not.
    ///
    /// - Parameters:
    ///   - count: The number of writes, as `writeCount` was.
    ///   - site: The place of the synchronization.
    /// - Throws: The error of the synchronization, for good: after a failure each later call throws it too.
    func synchronize(covering count: UInt64, site: SyncSite) throws(LogError) {
        syncing.lock()
        defer { syncing.unlock() }
        guard covered < count else { return }
        let now = writeCount
        do throws(LogError) { try flush(site) } catch {
            hasFailed = true
            throw error
        }
        covered = now
    }

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
