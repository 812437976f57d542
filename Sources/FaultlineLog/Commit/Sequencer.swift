import FaultlineDisk
import Synchronization

/// Gives transactions their order: encodes records straight into frames whose offset in the file is known, and keeps
/// the tables as the newest sequenced transaction sees them.
///
/// Invariants:
/// - `offset` is the offset of the next frame of `segment`, behind all queued frames;
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
    private(set) var sequence: UInt64
    private(set) var wallNanoseconds: Int64
    /// The index states when the lock was taken, with the changes since; the publisher keeps them.
    var indexes: IndexSet
    @exclusivity(unchecked) var stage = EntryStage()
    var blobs: BlobSegment?

    // Bytes that segments take, and bytes that compaction would not have to keep, as far as they were counted.

    /// Bytes and dead bytes by segment: a hint that chooses the segments to compact, and the time.
    var segmentSpace: SegmentSpace
    private let isShort = Atomic<Bool>(false)
    private let isExceeded = Atomic<Bool>(false)
    /// The size that segments may take beyond the limit: where waiting would not help, and at first after an opening.
    var toleratedByteCount: UInt64 = 0
    /// The size of the segments when they were last within their limit.
    var byteCountBeforeShortage: UInt64 = 0
    /// Bytes that the current transaction makes dead.
    let transactionDead = DeadBytes()
    /// Headers and closing records in `segment` that `segmentSpace` lacks.
    var overheadByteCount: UInt64 = 0
    /// The last transaction that dropped a table, while the bytes it made dead are not counted.
    var uncountedDrop: UInt64?

    // The segment that frames are encoded for.
    private(set) var segment: ManagedFile
    private(set) var offset: UInt64
    private var room: RoomAhead
    /// Bytes after which a segment is followed by the next.
    private(set) var segmentByteCount: UInt64
    /// Bytes of log since the last checkpoint.
    var byteCountSinceCheckpoint: UInt64 = 0
    /// Bytes of blobs that were deleted since the last checkpoint.
    var deadBlobByteCount: UInt64 = 0
    /// The last transaction that deleted something; 0 if none did since the log was opened.
    private(set) var lastDelete: UInt64 = 0
    /// Bytes of changed pages that the last spill could not store.
    var pinnedByteCount = 0

    // The frame being filled.
    private var block: FrameBlock
    private var restingBlocks: [FrameBlock] = []
    private var pending = PendingFrames()
    private(set) var frameStart = -1
    private var frameByteCount = 0
    private var frameRecordCount = 0
    private var frameHeadersCRC: UInt32 = 0

    // The current transaction.
    private(set) var isInTransaction = false
    private(set) var firstSegment: UInt64 = 0
    private(set) var firstOffset: UInt64 = 0
    private var part: UInt32 = 0
    private var recordCount: UInt32 = 0
    private var firstVersionCount: UInt32 = 0
    /// Whether the current transaction counts as one that needs room, even if it deletes.
    var leavesReserve = false
    private var laterVersionCount: UInt32 = 0
    private var deleteCount: UInt32 = 0
    private var dropsTable = false
    private var isCompacting = false
    private var usesBlobs = false
    /// Bytes that it has written to the log, by segment.
    var partialFrames: [(segment: UInt32, byteCount: UInt64)] = []
    /// Bytes of blobs that it has written and counted, by segment.
    var writtenBlobs: [(segment: UInt32, byteCount: UInt64)] = []
    /// Runs with entries of the current transaction, newest first, and how often each was merged.
    var spilledRuns: [IndexID: [(run: Run, rank: UInt16)]] = [:]
    private(set) var transactionFailure: LogError?
    private(set) var isAbandoned = false

    init(
        directory: StoreDirectory, manifest: Manifest, publisher: Publisher, committer: Committer, runs: RunStore,
        options: LogOptions, clock: Clock, budget: MemoryBudget, tables: WorkingTables, sequence: UInt64,
        wallNanoseconds: Int64, indexes: IndexSet, segment: ManagedFile, offset: UInt64,
        blobs: BlobSegment?, space: DiskSpace, segmentSpace: SegmentSpace, hasUncountedDead: Bool
    ) {
        self.directory = directory
        self.manifest = manifest
        self.publisher = publisher
        self.committer = committer
        self.runs = runs
        self.options = options
        self.clock = clock
        self.budget = budget
        self.tables = tables
        cache = tables.cache
        self.sequence = sequence
        self.wallNanoseconds = wallNanoseconds
        self.indexes = indexes
        self.segment = segment
        self.offset = offset
        room = RoomAhead(from: offset)
        segmentByteCount = UInt64(options.segmentByteCount)
        self.blobs = blobs
        self.space = space
        self.segmentSpace = segmentSpace
        uncountedDrop = hasUncountedDead ? sequence : nil
        block = FrameBlock(capacity: options.frameByteCount + 65_536)
    }

    /// Fits the size of segments to the number of live bytes: each segment takes an eighth of it at most.
    ///
    /// Dead bytes of a segment are not freed before it is sealed. No segment is smaller than the log between two
    /// checkpoints, or larger than the options allow.
    func suitSegments(toLive liveByteCount: UInt64) {
        let least = min(options.checkpointByteCount, options.segmentByteCount)
        segmentByteCount = min(max(liveByteCount / 8, UInt64(least)), UInt64(options.segmentByteCount))
    }

    /// Whether segments take more than they may, so that writers must wait for compaction; readable without the lock.
    var isSpaceShort: Bool {
        get { isShort.load(ordering: .relaxed) }
        set { isShort.store(newValue, ordering: .relaxed) }
    }

    /// Whether segments take more than they may, tolerated or not; readable without the lock.
    var hasExcess: Bool {
        get { isExceeded.load(ordering: .relaxed) }
        set { isExceeded.store(newValue, ordering: .relaxed) }
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
        recycleBlocks()
        indexes = publisher.snapshot.indexes
        tables.sequence = sequence + 1
        isInTransaction = true
        part = 0
        recordCount = 0
        firstVersionCount = 0
        leavesReserve = false
        laterVersionCount = 0
        deleteCount = 0
        dropsTable = false
        self.isCompacting = isCompacting
        usesBlobs = false
        transactionFailure = nil
        isAbandoned = false
        frameStart = -1
        pinnedByteCount = 0
    }

    /// Rolls the transaction back: restores tables and stage, and discards an unwritten frame.
    ///
    /// Written frames stay as dead bytes.
    private func rollBack() {
        if frameStart >= 0 {
            block.used = frameStart
            pending.removeLast()
        }
        frameStart = -1
        countGivenUp()
        stage.removeAll()
        dropSpilledRuns()
        tables.restore()
        isInTransaction = false
    }

    func abandon() { isAbandoned = true }

    /// Records an error after which the transaction cannot be completed, even if its body hides it.
    func fail(_ error: LogError) -> LogError {
        if transactionFailure == nil { transactionFailure = error }
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
        let completion: Completion?
        let leads: Bool
    }

    /// Closes the last frame with the transaction record and queues it.
    func end(author: String?) throws(LogError) -> Ending {
        if let transactionFailure { throw transactionFailure }
        if isAbandoned { throw LogError(.abandoned, "The transaction was given up; nothing of it is stored.") }
        guard recordCount > 0 else {
            rollBack()
            // It has read sequenced transactions, so it may report only after they are committed.
            let barrier = publisher.snapshot.sequence < sequence ? enqueueBarrier(isCommit: true) : nil
            return Ending(
                sequence: sequence, transaction: TransactionID(high: 0, low: 0), wallNanoseconds: wallNanoseconds,
                isEmpty: true, completion: barrier?.completion, leads: barrier?.leads ?? false)
        }
        let clockNanoseconds = clock.wallNanoseconds()
        let record = TransactionRecord(
            sequence: sequence + 1,
            transaction: TransactionID(high: directory.randomNumber(), low: directory.randomNumber()),
            wallNanoseconds: max(clockNanoseconds, wallNanoseconds), recordCount: recordCount,
            firstVersionCount: firstVersionCount, laterVersionCount: laterVersionCount, deleteCount: deleteCount,
            segment: 0, offset: 0, clockNanoseconds: clockNanoseconds, author: try Self.bytes(of: author))
        return try end(record)
    }

    /// Queues the last frame with a transaction record that is complete but for the transaction's beginning.
    func end(_ closing: TransactionRecord) throws(LogError) -> Ending {
        var closing = closing
        let place = try room(for: RecordHeader.byteCount + closing.byteCount.roundedUpTo8, isClosing: true)
        closing.segment = firstSegment
        closing.offset = firstOffset
        place.zero(RecordHeader.byteCount, to: RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        RecordHeader.write(
            to: place, storedByteCount: closing.byteCount, rawByteCount: closing.byteCount, table: 0, layout: 0, id: 0,
            operation: .transaction, flags: [])
        closing.write(to: place + RecordHeader.byteCount)
        sealRecord(place, RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        try makeRoomAhead()

        sequence += 1
        if deleteCount > 0 || dropsTable { lastDelete = sequence }
        if dropsTable { uncountedDrop = sequence }
        wallNanoseconds = closing.wallNanoseconds
        appendStagedEntries()
        countDead()
        overheadByteCount += UInt64(RecordHeader.byteCount + closing.byteCount.roundedUpTo8)
        partialFrames.removeAll()
        spilledRuns.removeAll()
        let captured = tables.capture()
        let completion = Completion()
        let frame = closeFrame(flags: 0)
        let leads = committer.enqueue(
            Committer.Item(
                frame: frame, visible: .init(sequence: sequence, tables: captured), completion: completion,
                blobs: blobs,
                blobEnd: usesBlobs ? blobs?.end ?? 0 : 0))
        if usesBlobs, let blobs { countWrittenBlobs(in: blobs) }
        writtenBlobs.removeAll()
        noteSpace()
        isInTransaction = false
        return Ending(
            sequence: sequence, transaction: closing.transaction, wallNanoseconds: wallNanoseconds,
            isEmpty: false, completion: completion,
            leads: leads)
    }

    private static func bytes(of author: String?) throws(LogError) -> [UInt8] {
        let bytes = Array((author ?? "").utf8)
        guard bytes.count <= Limits.authorByteCountMax else {
            throw .tooLarge(
                "An author's name has at most \(Limits.authorByteCountMax) bytes of UTF-8; this one has \(bytes.count)."
            )
        }
        return bytes
    }

    private func appendStagedEntries() {
        for (number, definition) in stage.definitions.enumerated() {
            stage.append(number, to: activeMemtable(of: definition), sequence: sequence)
        }
        stage.removeAll()
    }

    private func activeMemtable(of definition: IndexDefinition) -> Memtable {
        if let state = indexes[definition.id] { return state.active }
        let memtable = Memtable(definition: definition, budget: budget)
        indexes = publisher.changeIndexes { $0 = $0.replacing(IndexState(definition: definition, active: memtable)) }
        return memtable
    }

    /// Queues a wait for everything sequenced so far.
    ///
    /// - Parameter isCommit: Whether a commit's durability is enough.
    /// - Returns: A completion that has the position in the log, and whether the caller must lead.
    func enqueueBarrier(isCommit: Bool = false) -> (completion: Completion, leads: Bool) {
        let completion = Completion()
        let leads = committer.enqueue(
            Committer.Item(
                frame: nil, visible: nil, completion: completion, blobs: isCommit ? nil : blobs,
                blobEnd: isCommit ? 0 : blobs?.end ?? 0, isCommit: isCommit))
        return (completion, leads)
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
                firstVersionCount &+= 1
            } else {
                laterVersionCount &+= 1
                transactionDead.add(old)
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
            transactionDead.add(try tables.replace(id, in: table.rawValue, with: .absent))
        } catch {
            throw fail(error)
        }
        deleteCount &+= 1
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
        dropsTable = true
    }

    /// Gives a record its checksum and counts it.
    @inline(__always) @discardableResult
    private func sealRecord(_ record: UnsafeMutableRawPointer, _ whole: Int) -> Location {
        let place = offset + UInt64(frameByteCount)
        RecordHeader.seal(record, whole, binding: segment.recordBinding(at: place))
        frameHeadersCRC = CRC32C.checksum(record, RecordHeader.byteCount, seed: frameHeadersCRC)
        frameByteCount &+= whole
        block.used &+= whole
        frameRecordCount &+= 1
        recordCount &+= 1
        return Location(segment: segment.number, byteOffset: place, byteCount: whole)
    }

    /// The bytes of a record that is not written yet, or nil if it is.
    func pendingRecord(at location: Location) -> UnsafeRawPointer? {
        pending.find(location)
    }

    // MARK: Frames

    /// Memory for the next record of the frame.
    @inline(__always)
    private func room(for whole: Int, isClosing: Bool = false) throws(LogError) -> UnsafeMutableRawPointer {
        if frameStart < 0 || block.used &+ whole > block.capacity
            || (frameByteCount &+ whole > options.frameByteCount && !isClosing)
            || frameRecordCount >= Limits.frameRecordCountMax - 1
        {
            try makeRoom(for: whole, isClosing: isClosing)
        }
        return block.start + block.used
    }

    @inline(never)
    private func makeRoom(for whole: Int, isClosing: Bool) throws(LogError) {
        precondition(isInTransaction, "Records are written inside a transaction.")
        if let transactionFailure { throw transactionFailure }
        guard whole <= Limits.recordByteCountMax else {
            throw LogError.tooLarge("A record of \(whole) bytes exceeds the limit of \(Limits.recordByteCountMax).")
        }
        if frameStart >= 0, frameRecordCount > 0 {
            let isFull = frameByteCount + whole > options.frameByteCount && !isClosing
            if isFull || frameRecordCount >= Limits.frameRecordCountMax - 1 { try writePartialFrame() }
        }
        if frameStart < 0 { try beginFrame() }
        if block.used + whole > block.capacity { moveFrame(toHold: whole) }
    }

    private func beginFrame() throws(LogError) {
        guard recordCount <= Limits.transactionRecordCountMax else {
            throw fail(
                .tooLarge("A transaction has at most \(Limits.transactionRecordCountMax) records. Make several of it."))
        }
        if offset >= segmentByteCount { try beginSegmentIfPossible() }
        if block.used + FrameHeader.byteCount > block.capacity { replaceBlock(capacity: 0) }
        frameStart = block.used
        frameByteCount = FrameHeader.byteCount
        frameRecordCount = 0
        frameHeadersCRC = 0
        block.used += FrameHeader.byteCount
        if part == 0 {
            firstSegment = segment.number
            firstOffset = offset
        }
        pending.append(PendingFrames.Frame(segment: segment.number, offset: offset, block: block, start: frameStart))
    }

    /// Continues in a new segment; if there is no space for one, the present segment grows.
    private func beginSegmentIfPossible() throws(LogError) {
        do throws(LogError) {
            try beginSegment()
        } catch {
            guard error.code == .fullDisk, offset < UInt64(Limits.segmentByteCountMax) else { throw fail(error) }
        }
    }

    /// Continues in a new segment.
    ///
    /// The manifest lists it when its first frame is written.
    private func beginSegment() throws(LogError) {
        // For the edits by which the leader lists it.
        try manifest.makeRoom()
        let next = try directory.createDurably(
            .hotSegment, headerSite: "segment.header", directorySite: "segment.directory")
        countOverhead()
        segment = next
        offset = UInt64(FileHeader.byteCount)
        room = RoomAhead(from: offset)
    }

    /// Reserves disk space for the frame being filled: after it is queued, a full disk would be a failed write.
    private func makeRoomAhead() throws(LogError) {
        try checkMayGrow()
        let end = offset + UInt64(frameByteCount)
        do throws(LogError) {
            do throws(LogError) {
                try makeRoom(through: end)
            } catch {
                guard error.code == .fullDisk, error.cause?.code != .fileTooLarge, isMakingRoom, space.giveUp() else {
                    throw error
                }
                try makeRoom(through: end)
            }
        } catch {
            throw fail(error)
        }
    }

    private func makeRoom(through end: UInt64) throws(LogError) {
        // The edits that list the segment come with its first frame.
        if offset == UInt64(FileHeader.byteCount) { try manifest.makeRoom() }
        // A refused reservation keeps the space that it got, so a large one is not tried in vain.
        if end > room.end + RoomAhead.stepByteCountMax {
            let free = try onDisk("asking for free space") { () throws(DiskError) in
                try directory.disk.freeByteCount(in: directory.path)
            }
            if end - room.end > free { throw LogError(noRoom: nil, path: segment.path) }
        }
        try room.make(through: end, in: segment.file)
    }

    /// Refuses a transaction that makes no room while the rest of the disk is for those that do.
    func checkMayGrow() throws(LogError) {
        if !isMakingRoom, space.isForDeletesOnly() { throw fail(LogError(noRoom: nil, path: segment.path)) }
    }

    /// Whether the transaction so far only deletes objects and creates none, or compacts.
    private var isMakingRoom: Bool {
        isCompacting || (deleteCount > 0 || dropsTable) && firstVersionCount == 0 && !leavesReserve
    }

    /// Frees the space reserved for frames; to be called when none follows.
    func releaseReserve() {
        segment.releaseReserve()
        blobs?.managed.releaseReserve()
    }

    /// Completes the frame's header but for the fields that the leader stamps.
    private func closeFrame(flags: UInt8) -> Committer.Item.Frame {
        let header = FrameHeader(
            kind: .commit, bodyByteCount: frameByteCount - FrameHeader.byteCount, headersCRC: frameHeadersCRC,
            recordCount: frameRecordCount, flags: flags, sequence: tables.sequence, part: part,
            spill: firstSegment == segment.number ? firstOffset : 0)
        header.write(to: block.start + frameStart, at: offset, of: segment.header)
        let frame = Committer.Item.Frame(
            block: block, start: frameStart, byteCount: frameByteCount, segment: segment, offset: offset,
            roomEnd: room.end)
        offset += UInt64(frameByteCount)
        segmentSpace.setEnd(offset, of: segment.number)
        overheadByteCount &+= UInt64(FrameHeader.byteCount)
        byteCountSinceCheckpoint += UInt64(frameByteCount)
        frameStart = -1
        part += 1
        return frame
    }

    /// Writes the records so far, without making them durable, and continues in a new frame: so a transaction of any
    /// size needs little memory.
    private func writePartialFrame() throws(LogError) {
        try makeRoomAhead()
        let completion = Completion()
        let frame = closeFrame(flags: FrameHeader.flagContinued)
        notePartial(frame)
        let leads = committer.enqueue(
            Committer.Item(frame: frame, visible: nil, completion: completion, blobs: nil, blobEnd: 0))
        committer.finish(completion, leads: leads)
        if let failure = completion.failure { throw fail(failure) }
        recycleBlocks()
        do {
            try spillIfNeeded()
        } catch {
            throw fail(error)
        }
    }

    /// Counts the bytes that a transaction has written, by segment.
    private func notePartial(_ frame: Committer.Item.Frame) {
        // Its header is counted like that of every frame.
        let byteCount = UInt64(frame.byteCount - FrameHeader.byteCount)
        let number = UInt32(truncatingIfNeeded: frame.segment.number)
        if partialFrames.last?.segment == number {
            partialFrames[partialFrames.count - 1].byteCount += byteCount
        } else {
            partialFrames.append((number, byteCount))
        }
    }

    // MARK: Blocks

    /// Moves the frame being filled to a block that holds `whole` bytes more.
    private func moveFrame(toHold whole: Int) {
        let old = block
        let start = frameStart
        let wanted = frameByteCount + whole + 2_048
        old.used = start
        replaceBlock(capacity: max(wanted, min(frameByteCount * 2, options.frameByteCount)))
        block.start.copyMemory(from: old.start + start, byteCount: frameByteCount)
        frameStart = 0
        block.used = frameByteCount
        pending.moveLast(to: block)
    }

    private func replaceBlock(capacity: Int) {
        restingBlocks.append(block)
        if let index = restingBlocks.firstIndex(where: {
            $0.capacity >= capacity && committer.isIdle($0) && $0.used == 0
        }) {
            block = restingBlocks.remove(at: index)
        } else {
            block = FrameBlock(capacity: max(capacity, options.frameByteCount + 65_536))
        }
    }

    /// Reuses blocks whose frames are written.
    private func recycleBlocks() {
        guard frameStart < 0 else { return }
        if block.used > 0, committer.isIdle(block) {
            pending.remove(block)
            block.used = 0
        }
        guard !restingBlocks.isEmpty else { return }
        for resting in restingBlocks where committer.isIdle(resting) {
            pending.remove(resting)
            resting.used = 0
        }
        // One spare block of the usual size is enough.
        var spare = 1
        restingBlocks.removeAll { resting in
            guard resting.used == 0, committer.isIdle(resting) else { return false }
            spare -= 1
            return spare < 0 || resting.capacity > options.frameByteCount + 65_536
        }
    }

    /// Marks the transaction as one that wrote blobs.
    func noteBlobs() { usesBlobs = true }
}
