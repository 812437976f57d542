import FaultlineDisk
import Glibc
import Synchronization

/// Writes queued frames, synchronizes, publishes: in that order, one group at a time.
///
/// Leader and followers: a thread that queues a frame and finds no leader leads. It takes all queued frames; threads
/// that queue in the meantime wait for the next group. When the leader's own work is done, it hands over to the first
/// waiting thread. So no thread waits for one that has nothing to commit, and a single writer never changes threads.
///
/// Concurrency: `lock` guards queue, leadership flag and blocks. The group and the file position belong to the leader.
// Safe because of the rules in the comment above.
final class Committer: @unchecked Sendable {
    private let directory: StoreDirectory
    private let manifest: Manifest
    private let publisher: Publisher
    private let durability: Durability
    /// Times synchronizations, if they are reported.
    let times: CommitTimes?
    private let byteCount = Atomic<UInt64>(0)
    private let blobByteCount = Atomic<UInt64>(0)

    private let lock = EngineLock()
    @exclusivity(unchecked) private var queue: [CommitRequest] = []
    @exclusivity(unchecked) private var hasLeader = false

    // Guarded by leadership.
    /// The requests that are being processed; empty between two groups.
    @exclusivity(unchecked) private var group: [CommitRequest] = []
    @exclusivity(unchecked) private var segment: ManagedFile
    @exclusivity(unchecked) private var written: UInt64
    @exclusivity(unchecked) private var durable: UInt64
    /// The newest transaction whose last frame is written.
    @exclusivity(unchecked) private var writtenSequence: UInt64
    @exclusivity(unchecked) private var previousHead: UInt32
    /// Bounds of the sequence numbers in the segment.
    @exclusivity(unchecked) private var firstSequence: UInt64
    @exclusivity(unchecked) private var lastSequence: UInt64
    @exclusivity(unchecked) private var zerosAhead: ZerosAhead

    init(_ parts: LogParts, _ opened: Opening.Opened, preparedByteCount: Int) {
        directory = parts.directory
        manifest = parts.manifest
        publisher = parts.publisher
        durability = parts.options.durability
        times = CommitTimes(parts.options.observer, clock: parts.clock)
        segment = opened.segment
        written = opened.end
        durable = opened.end
        previousHead = opened.head
        let sequence = opened.replay.sequence
        firstSequence = (manifest.state.files[segment.number]?.added.begun ?? 0) + 1
        lastSequence = sequence
        writtenSequence = sequence
        directory.progress.begin(at: sequence)
        zerosAhead = ZerosAhead(firstByteCount: durability == .sync ? preparedByteCount : 0, from: opened.end)
    }

    /// Appends a request to the queue.
    ///
    /// If the request has a frame, the caller must hold the writer lock, so that the order is that of the sequence
    /// numbers.
    ///
    /// - Returns: Whether the caller must lead, which it does by `finish`.
    func enqueue(_ request: CommitRequest) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        queue.append(request)
        request.frame?.block.queuedFrameCount += 1
        if hasLeader { return false }
        hasLeader = true
        return true
    }

    /// Waits until a request is done, and leads if the caller must.
    func finish(_ request: CommitRequest, leads: Bool) {
        if leads || request.wait() { lead(until: request) }
    }

    /// The newest transaction known to be durable, with all earlier ones.
    var durableSequence: UInt64 { directory.progress.durable }

    /// Waits until everything queued is durable.
    ///
    /// - Returns: The error, if a write or sync failed.
    func synchronizeAll() -> LogError? {
        let request = CommitRequest(frame: nil, visible: nil, isCommit: false)
        finish(request, leads: enqueue(request))
        return request.failure
    }

    /// Frees the log's space that was reserved or prepared; to be called when no frame follows.
    ///
    /// A file that failed stays as it is.
    func releaseReserve() {
        if publisher.failure == nil { segment.cut(to: written) }
    }

    /// The end of the written log, and the newest transaction in it; nil while frames are queued or being written.
    var idleEnd: (segment: UInt64, offset: UInt64, sequence: UInt64)? {
        lock.withLock { hasLeader ? nil : (segment.number, written, writtenSequence) }
    }

    /// Bytes of log that were written since the store was opened.
    var writtenByteCount: UInt64 { byteCount.load(ordering: .relaxed) }

    /// Bytes of blobs that transactions wrote since the store was opened.
    var writtenBlobByteCount: UInt64 { blobByteCount.load(ordering: .relaxed) }

    /// Counts a blob; the caller must hold the writer lock.
    func noteBlob(_ byteCount: UInt64) {
        blobByteCount.store(blobByteCount.load(ordering: .relaxed) &+ byteCount, ordering: .relaxed)
    }

    /// Whether no queued frame lies in the block.
    func isIdle(_ block: FrameBlock) -> Bool {
        lock.withLock { block.queuedFrameCount == 0 }
    }

    private func lead(until own: CommitRequest) {
        while true {
            // The two arrays change places, so that both keep their memory.
            lock.lock()
            swap(&queue, &group)
            lock.unlock()
            process(own: own)
            let hadFollowers = group.count > 1
            group.popAll()
            // The woken followers queue their next frames before the next group begins.
            if hadFollowers { sched_yield() }

            lock.lock()
            if own.isDone {
                if let next = queue.first {
                    lock.unlock()
                    next.lead()
                } else {
                    hasLeader = false
                    lock.unlock()
                }
                return
            }
            lock.unlock()
        }
    }

    private func process(own: CommitRequest) {
        if publisher.hasFailed, let failure = publisher.failure {
            return fail(.poisoned(by: failure, "; this transaction was not written."), own: own)
        }
        do {
            try write()
            var snapshot: Snapshot?
            if let visible = group.last(where: { $0.visible != nil })?.visible {
                snapshot = publisher.publish(sequence: visible.sequence, tables: visible.tables)
                directory.progress.noteAcknowledged(visible.sequence)
            }
            freeBlocks()
            for request in group { request.finish(snapshot: snapshot, isWaited: request !== own) }
        } catch {
            publisher.fail(error)
            fail(Self.outcomeUnknown(after: error), own: own)
        }
    }

    /// Ends all requests of the group with an error.
    private func fail(_ error: LogError, own: CommitRequest) {
        freeBlocks()
        for request in group { request.fail(error, isWaited: request !== own) }
    }

    /// Counts the frames of the group as no longer queued.
    private func freeBlocks() {
        lock.lock()
        for request in group { request.frame?.block.queuedFrameCount -= 1 }
        lock.unlock()
    }

    private static func outcomeUnknown(after error: LogError) -> LogError {
        guard error.code != .removed else { return error }
        return LogError(
            .outcomeUnknown,
            "The disk failed while the transaction was being written. "
                + "Open the store again and ask whether it landed. "
                + "(\(error.message))", path: error.path, offset: error.offset, cause: error.cause)
    }

    /// Writes the group.
    private func write() throws(LogError) {
        try synchronizeBlobs()
        var index = 0
        var groupByteCount = 0
        while index < group.count {
            guard let first = group[index].frame else {
                if let next = group[index].next, next.segment !== segment {
                    try moveOn(to: next.segment, begun: next.begun)
                }
                group[index].position = (segment, written, previousHead)
                index += 1
                continue
            }
            if first.segment !== segment { try moveOn(to: first.segment, begun: Self.sequence(of: first) - 1) }
            // Frames that are adjacent in memory and in the file are one write.
            var last = first
            var newest = group[index].visible?.sequence
            stamp(first)
            index += 1
            while index < group.count, let next = group[index].frame, next.block === last.block,
                next.start == last.start + last.byteCount, next.segment === segment
            {
                stamp(next)
                last = next
                newest = group[index].visible?.sequence ?? newest
                index += 1
            }
            let bytes = UnsafeRawBufferPointer(
                start: first.block.start + first.start, count: last.start + last.byteCount - first.start)
            try onDisk("writing a transaction") { () throws(DiskError) in
                try segment.file.write(bytes, at: first.offset)
            }
            written = last.offset + UInt64(last.byteCount)
            groupByteCount += bytes.count
            if let newest { writtenSequence = newest }
        }
        // Only the one leader adds to the count.
        byteCount.store(byteCount.load(ordering: .relaxed) &+ UInt64(groupByteCount), ordering: .relaxed)
        guard durability == .sync || group.contains(where: { !$0.isCommit }) else { return }
        guard group.contains(where: { $0.needsSync }), durable < written else { return }
        if let last = group.last(where: { $0.frame != nil })?.frame {
            try prepareSpace(behind: groupByteCount, roomEnd: last.roomEnd)
        }
        try synchronize()
    }

    /// Writes zeros behind a small group.
    ///
    /// No other code writes behind the log's end. A crash leaves of the zeros the same as of a group that was not
    /// synchronized.
    private func prepareSpace(behind groupByteCount: Int, roomEnd: UInt64) throws(LogError) {
        let byteCount = zerosAhead.take(behind: groupByteCount, logEnd: written, roomEnd: roomEnd)
        guard byteCount > 0 else { return }
        let zeros = BufferMemory.allocateBuffer(byteCount: byteCount)
        defer { BufferMemory.deallocate(zeros) }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        do throws(DiskError) {
            try segment.file.write(UnsafeRawBufferPointer(zeros), at: written)
        } catch {
            // If space cannot be reserved, there may be none; the group's own space is reserved already.
            guard error.isAboutSpace else { throw LogError(error, doing: "preparing space for commits") }
        }
    }

    /// The number of the transaction that a frame belongs to.
    private static func sequence(of frame: CommitRequest.Frame) -> UInt64 {
        (frame.block.start + frame.start)[FrameHeader.Fields.sequence]
    }

    private func stamp(_ frame: CommitRequest.Frame) {
        lastSequence = Self.sequence(of: frame)
        previousHead = FrameHeader.stamp(
            frame.block.start + frame.start, durable: durable, previousHead: previousHead, at: frame.offset,
            of: segment.header)
    }

    private func synchronize() throws(LogError) {
        let begin = times?.now() ?? 0
        defer { times?.noteSync(since: begin) }
        try onDisk("making a transaction durable") { () throws(DiskError) in
            try segment.file.synchronize(site: "log.commit")
        }
        // Bytes of a file that no path leads to are durable, but lost.
        try directory.presence.check()
        noteDurable()
    }

    private func noteDurable() {
        durable = written
        directory.progress.noteDurable(writtenSequence)
    }

    /// A frame must not be readable before the blobs that it places are durable.
    private func synchronizeBlobs() throws(LogError) {
        var end: UInt64 = 0
        var segment: BlobSegment?
        for request in group {
            if let uploads = request.uploads { try Self.synchronize(uploads) }
            guard request.blobEnd > 0 else { continue }
            // A full segment may be followed by the next one in the same group.
            if let segment, segment !== request.blobs { try segment.synchronize(through: end) }
            segment = request.blobs
            end = request.blobEnd
        }
        guard let segment else { return }
        try segment.synchronize(through: end)
    }

    private static func synchronize(_ uploads: [UploadMark]) throws(LogError) {
        for upload in uploads { try upload.segment.synchronize(covering: upload.writeCount, site: "upload.commit") }
    }

    /// Seals the segment and continues in the next one: before the new one gets a frame, all of the old one is durable
    /// and listed as sealed in the manifest.
    private func moveOn(to next: ManagedFile, begun: UInt64) throws(LogError) {
        if durable < written {
            try onDisk("sealing a segment") { () throws(DiskError) in try segment.file.synchronize(site: "log.seal") }
            noteDurable()
        }
        next.noteListed()
        try manifest.commit(
            [
                .fileSealed(
                    SealedFile(
                        number: segment.number, end: written, chain: previousHead, firstSequence: firstSequence,
                        lastSequence: lastSequence)),
                next.addition(begun: begun),
            ], isSwitching: true)
        publisher.update(files: { $0.adding(next) })
        segment.cut(to: written)
        directory.letRest(segment)
        segment = next
        zerosAhead.beginSegment()
        written = UInt64(FileHeader.byteCount)
        durable = written
        previousHead = 0
        firstSequence = begun + 1
    }
}
