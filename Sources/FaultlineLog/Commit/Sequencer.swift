import FaultlineDisk
import Synchronization

/// Gives transactions their order: encodes records straight into frames whose offset in the file is known, and keeps
/// the tables as the newest sequenced transaction sees them.
///
/// Invariants:
/// - `logEnd` is the place of the next frame, behind all queued frames;
/// - while no thread holds `turn`, the working tables are captured, and `stage` is empty;
/// - `sequence` is that of the newest transaction whose last frame was queued.
///
/// Concurrency: everything is guarded by the writer lock, `turn`.
// Safe because of the rules in the comment above.
final class Sequencer: @unchecked Sendable {
    let turn = EngineLock()
    let directory: StoreDirectory
    let manifest: Manifest
    let publisher: Publisher
    let committer: Committer
    let runs: RunStore
    let options: LogOptions
    let clock: Clock
    let budget: MemoryBudget
    let cache: PageCache
    let space: DiskSpace

    @exclusivity(unchecked) var tables: WorkingTables
    @exclusivity(unchecked) private(set) var sequence: UInt64
    @exclusivity(unchecked) private(set) var wallNanoseconds: Int64
    /// The index states when the lock was taken, with the changes since; the publisher keeps them.
    @exclusivity(unchecked) var indexes: IndexSet
    @exclusivity(unchecked) var stage = EntryStage()
    @exclusivity(unchecked) var blobs: BlobSegment?
    /// The segments of large values that are written beside transactions.
    let uploads: UploadSegments

    /// Bytes that segments take, and when writers must wait for compaction.
    let account: SpaceAccount

    /// The place of the next frame.
    @exclusivity(unchecked) var logEnd: LogEnd
    /// Bytes of log since the last checkpoint.
    @exclusivity(unchecked) var byteCountSinceCheckpoint: UInt64 = 0
    /// The last transaction that deleted something; 0 if none did since the log was opened.
    @exclusivity(unchecked) private(set) var lastDelete: UInt64 = 0

    @exclusivity(unchecked) var frame: FrameWriter
    /// The current transaction.
    @exclusivity(unchecked) var current = TransactionState()

    init(
        _ parts: LogParts, _ opened: Opening.Opened, _ tables: WorkingTables, committer: Committer, runs: RunStore,
        space: DiskSpace
    ) {
        directory = parts.directory
        manifest = parts.manifest
        publisher = parts.publisher
        options = parts.options
        clock = parts.clock
        budget = parts.budget
        cache = parts.cache
        self.committer = committer
        self.runs = runs
        self.space = space
        self.tables = tables
        sequence = opened.replay.sequence
        wallNanoseconds = opened.replay.wallNanoseconds
        indexes = opened.replay.memtables.indexSet
        logEnd = LogEnd(opened.segment, opened.end)
        blobs = opened.blobs
        account = SpaceAccount(
            opened.segmentSpace, segmentByteCount: parts.options.segmentByteCount,
            uncountedDrop: opened.hasUncountedDead ? opened.replay.sequence : nil)
        uploads = UploadSegments(path: parts.directory.path, segmentByteCount: account.segmentByteCount)
        frame = FrameWriter(committer, byteCountMax: parts.options.frameByteCount)
        account.suitSegments(toLive: account.segments.liveByteCount, parts.options)
        account.tolerate()
        // A state rebuilt from the segments is made durable soon, and many small segments are merged soon.
        let merging = VictimChoice.Merging(segmentByteCount: account.segmentByteCount)
        let isHurried =
            !opened.report.ignoredDerivedFiles.isEmpty
            || opened.state.smallSegmentCount(below: merging.smallByteCount) > merging.countMax
        byteCountSinceCheckpoint = isHurried ? UInt64(parts.options.checkpointByteCount) : opened.replay.byteCount
    }

    // MARK: The stages of a transaction

    /// Runs a transaction's body with the writer lock held; rolls back if `body` throws.
    ///
    /// - Parameters:
    ///   - isCompacting: Whether the transaction moves records, so that files can go: it is allowed on a nearly full
    ///     disk.
    ///   - body: Encodes the transaction and ends it.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    func inTurn<Result, Failure: Error>(
        isCompacting: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        turn.lock()
        defer { turn.unlock() }
        begin(isCompacting: isCompacting)
        do throws(Failure) {
            return try body()
        } catch {
            rollBack()
            throw error
        }
    }

    private func begin(isCompacting: Bool) {
        frame.recycle()
        indexes = publisher.snapshot.indexes
        tables.sequence = sequence + 1
        current.begin(isCompacting: isCompacting)
    }

    /// Rolls the transaction back: restores tables and stage, and discards an unwritten frame.
    ///
    /// Written frames stay as dead bytes.
    private func rollBack() {
        frame.discard()
        countGivenUp()
        stage.removeAll()
        dropSpilledRuns()
        tables.restore()
        current.end()
    }

    func abandon() { current.abandon() }

    /// Records an error after which the transaction cannot be completed, even if its body hides it.
    func fail(_ error: LogError) -> LogError {
        current.fail(error)
        return error
    }

    /// The values that a transaction's end returns to its thread.
    struct Ending {
        let sequence: UInt64
        let transaction: TransactionID
        let wallNanoseconds: Int64
        /// Whether there was nothing to write.
        let isEmpty: Bool
        /// Nil if there is nothing to wait for.
        let request: CommitRequest?
        let leads: Bool
    }

    /// Closes the last frame with the transaction record and queues it.
    func end(author: String?) throws(LogError) -> Ending {
        if let failure = current.failure { throw failure }
        if current.isAbandoned { throw LogError(.abandoned, "The transaction was given up; nothing of it is stored.") }
        guard current.recordCount > 0 else {
            rollBack()
            // It has read sequenced transactions, so it may report only after they are committed.
            let barrier = publisher.snapshot.sequence < sequence ? enqueueBarrier(isCommit: true) : nil
            return Ending(
                sequence: sequence, transaction: TransactionID(high: 0, low: 0), wallNanoseconds: wallNanoseconds,
                isEmpty: true, request: barrier?.request, leads: barrier?.leads ?? false)
        }
        let clockNanoseconds = clock.wallNanoseconds()
        let record = TransactionRecord(
            sequence: sequence + 1,
            transaction: TransactionID(high: directory.randomNumber(), low: directory.randomNumber()),
            wallNanoseconds: max(clockNanoseconds, wallNanoseconds), recordCount: current.recordCount,
            firstVersionCount: current.firstVersionCount, laterVersionCount: current.laterVersionCount,
            deleteCount: current.deleteCount,
            segment: 0, offset: 0, clockNanoseconds: clockNanoseconds, author: try Self.bytes(of: author))
        return try end(record)
    }

    /// Queues the last frame with a transaction record that is complete but for the transaction's beginning.
    func end(_ closing: TransactionRecord) throws(LogError) -> Ending {
        var closing = closing
        let place = try room(for: RecordHeader.byteCount + closing.byteCount.roundedUpTo8, isClosing: true)
        closing.segment = current.firstSegment
        closing.offset = current.firstOffset
        place.zero(RecordHeader.byteCount, to: RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        RecordHeader.write(
            to: place, storedByteCount: closing.byteCount, rawByteCount: closing.byteCount, table: 0, layout: 0, id: 0,
            operation: .transaction, flags: [])
        closing.write(to: place + RecordHeader.byteCount)
        sealRecord(place, RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        try makeRoomAhead()

        sequence += 1
        if current.hasDeleted { lastDelete = sequence }
        if current.dropsTable { account.uncountedDrop = sequence }
        wallNanoseconds = closing.wallNanoseconds
        appendStagedEntries()
        account.countDead()
        account.overheadByteCount += UInt64(RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        current.partialFrames.removeAll()
        current.spilledRuns.removeAll()
        let captured = tables.capture()
        let request = CommitRequest(
            frame: closeFrame(flags: 0), visible: .init(sequence: sequence, tables: captured),
            blobs: current.usesBlobs ? blobs : nil, blobEnd: current.usesBlobs ? blobs?.end ?? 0 : 0,
            uploads: current.uploads)
        let leads = committer.enqueue(request)
        if current.usesBlobs, let blobs { countWrittenBlobs(in: blobs) }
        current.writtenBlobs.removeAll()
        account.note()
        current.end()
        return Ending(
            sequence: sequence, transaction: closing.transaction, wallNanoseconds: wallNanoseconds,
            isEmpty: false, request: request, leads: leads)
    }

    private static func bytes(of author: String?) throws(LogError) -> [UInt8] {
        guard let author else { return [] }
        let bytes = Array(author.utf8)
        guard bytes.count <= Limits.authorByteCountMax else {
            throw .tooLarge(
                "An author's name has at most \(Limits.authorByteCountMax) bytes of UTF-8; this one has \(bytes.count)."
            )
        }
        return bytes
    }

    private func appendStagedEntries() {
        for number in 0..<stage.definitions.count {
            stage.append(number, to: activeMemtable(of: stage.definitions[number]), sequence: sequence)
        }
        stage.removeAll()
    }

    private func activeMemtable(of definition: IndexDefinition) -> Memtable {
        if let state = indexes.find(definition.id) { return state.pointee.active }
        let memtable = Memtable(definition: definition, budget: budget)
        indexes = publisher.changeIndexes { $0 = $0.replacing(IndexState(definition: definition, active: memtable)) }
        return memtable
    }

    /// Queues a wait for everything sequenced so far.
    ///
    /// - Parameters:
    ///   - next: The segment in which the log goes on behind it; nil for the present one.
    ///   - isCommit: Whether a commit's durability is enough.
    /// - Returns: A request that has the position in the log once it is done, and whether the caller must lead.
    func enqueueBarrier(
        next: CommitRequest.Next? = nil, isCommit: Bool = false
    ) -> (request: CommitRequest, leads: Bool) {
        let request = CommitRequest(
            frame: nil, visible: nil, blobs: isCommit ? nil : blobs, blobEnd: isCommit ? 0 : blobs?.end ?? 0,
            next: next, isCommit: isCommit)
        return (request, committer.enqueue(request))
    }

    // MARK: Records

    /// Encodes one version of an object.
    @inline(__always)
    func put(
        _ id: RecordID, in table: TableID, layout: UInt16, changed: UInt64?, flags: RecordFlags, byteCount: Int,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(LogError) {
        let prefix = changed == nil ? 0 : 8
        let stored = prefix + byteCount
        let whole = RecordHeader.byteCount + stored.roundedUpTo8
        let record = try room(for: whole)
        record.zero(RecordHeader.byteCount, to: whole)
        var allFlags = flags
        if let changed {
            allFlags.insert(.changed)
            record.set(changed, RecordHeader.byteCount)
        } else {
            allFlags.remove(.changed)
        }
        RecordHeader.write(
            to: record, storedByteCount: stored, rawByteCount: stored, table: table.rawValue, layout: layout, id: id,
            operation: .put, flags: allFlags)
        fill(UnsafeMutableRawBufferPointer(start: record + RecordHeader.byteCount + prefix, count: byteCount))
        let location = sealRecord(record, whole)
        do {
            let old = try tables.replace(id, in: table.rawValue, with: location)
            if old.isAbsent {
                current.firstVersionCount &+= 1
            } else {
                current.laterVersionCount &+= 1
                account.dead.add(old)
            }
        } catch {
            throw fail(error)
        }
    }

    /// Encodes the deletion of an object.
    func delete(_ id: RecordID, in table: TableID) throws(LogError) {
        let victim: Location
        do {
            victim = try tables.location(of: id, in: table.rawValue)
        } catch {
            throw fail(error)
        }
        guard !victim.isAbsent else {
            throw LogError(.missing, "Object \(id) of table \(table.rawValue) cannot be deleted: it does not exist.")
        }
        let whole = RecordHeader.byteCount + Location.byteCount.roundedUpTo8
        let record = try room(for: whole)
        record.zero(RecordHeader.byteCount, to: whole)
        victim.write(to: record + RecordHeader.byteCount)
        RecordHeader.write(
            to: record, storedByteCount: Location.byteCount, rawByteCount: Location.byteCount, table: table.rawValue,
            layout: 0,
            id: id, operation: .delete, flags: [])
        sealRecord(record, whole)
        if table == .blobs { noteDeadBlob(id) }
        do {
            account.dead.add(try tables.replace(id, in: table.rawValue, with: .absent))
        } catch {
            throw fail(error)
        }
        current.deleteCount &+= 1
    }

    /// Encodes the deletion of a table.
    func dropTable(_ table: TableID) throws(LogError) {
        let record = try room(for: RecordHeader.byteCount)
        RecordHeader.write(
            to: record, storedByteCount: 0, rawByteCount: 0, table: table.rawValue, layout: 0, id: 0,
            operation: .dropTable,
            flags: [])
        sealRecord(record, RecordHeader.byteCount)
        tables.drop(table.rawValue)
        // Its pages are not visited under the lock: a checkpoint counts the dead bytes.
        current.dropsTable = true
    }

    /// Gives a record its checksum and counts it.
    @inline(__always) @discardableResult
    private func sealRecord(_ record: UnsafeMutableRawPointer, _ whole: Int) -> Location {
        current.recordCount &+= 1
        return frame.seal(record, whole, at: logEnd.place)
    }

    /// The bytes of a record that is not written yet, or nil if it is.
    func pendingRecord(at location: Location) -> UnsafeRawPointer? {
        frame.find(location)
    }

    /// Marks the transaction as one that wrote blobs.
    func noteBlobs() { current.usesBlobs = true }

    /// Removes and returns the blob segment if it is so large that the next blob goes to another one.
    ///
    /// An open segment is never freed, however much of it is dead. To be called between two transactions.
    func takeFullBlobSegment() -> BlobSegment? {
        guard let full = blobs, full.end >= account.segmentByteCount else { return nil }
        return takeBlobSegment()
    }

    /// Removes and returns the blob segment, so that the next blob goes to another one; to be called between two
    /// transactions, behind a barrier that makes it durable.
    func takeBlobSegment() -> BlobSegment? {
        guard let taken = blobs, !taken.hasFailed else { return nil }
        blobs = nil
        return taken
    }
}
