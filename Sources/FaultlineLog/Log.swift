package import FaultlineDisk
import Glibc
import Synchronization

/// A log-structured store of versioned records: the front door of this layer.
///
/// A store is a directory. Within a process one `Log` serves everybody who opens the same directory; between processes
/// LOCK allows one writer.
///
/// Concurrency: all members may be called from any thread; writers take turns.
// Safe because mutable state is guarded by the objects that hold it.
package final class Log: @unchecked Sendable {
    let path: String
    let options: LogOptions
    let cache: PageCache
    let blockCache: BlockCache
    let directory: StoreDirectory
    /// What opening found and did.
    package let openReport: OpenReport
    /// The manifest as it was found, and where the frames of segments that are not sealed end: all there is for a log
    /// that is open for reading.
    let found: (state: ManifestState, ends: [UInt64: UInt64])
    let publisher: Publisher
    private let holds: SnapshotHolds
    /// The newest transaction when the log was opened.
    let openedSequence: UInt64
    let deriver: any IndexDeriver
    /// Nil when opened for reading.
    let writing: Writing?
    /// Nil when opened for writing.
    let follower: Follower?
    let clock: Clock
    let storeLock: StoreLock
    /// Of the lock file, which is open for as long as the log is.
    private let lockIdentity: FileIdentity?
    private let ownerProcess = Atomic<pid_t>(getpid())
    let isClosed = Atomic<Bool>(false)
    private let entry: LogRegistry.Entry

    /// The engine's memory.
    package let budget: MemoryBudget

    /// What only a log that is open for writing has.
    struct Writing {
        let manifest: Manifest
        let committer: Committer
        let sequencer: Sequencer
        let checkpointer: Checkpointer
        let maintainer: Maintainer
        /// Nil where each commit waits for the disk, or nobody is to write unasked.
        let synchronizer: BackgroundSynchronizer?
        let space: DiskSpace
        /// Times commits, where somebody wants to know.
        let times: CommitTimes?
        let waits = SpaceWaits()

        func stopThreads() {
            maintainer.stop()
            synchronizer?.stop()
        }
    }

    /// Opens the store in `directory`, or creates one there.
    ///
    /// Whoever opens a store that is open in this process gets the same log, with the options of the first; each
    /// opening needs a `close`.
    ///
    /// Durability: a created store is durable when the call returns.
    ///
    /// - Throws: `.notAStore`, `.newerFormat`, `.damaged`, `.lockedByAnother`, `.readOnly`, and what the disk says.
    package static func open(
        _ directory: String, on disk: Disk, clock: Clock, options: LogOptions, deriver: any IndexDeriver
    ) throws(LogError) -> Log {
        try prepare(directory, on: disk, options: options)
        let identity = try onDisk("looking for the store") { () throws(DiskError) in try disk.identity(of: directory) }
        if options.access == .reading {
            // Read-only is a property of who opened, not of the log.
            let shared = try LogRegistry.shared.withEntry(of: identity, on: disk, access: .writing) {
                (entry) throws(LogError) in
                share(entry, directory, disk)
            }
            if let shared { return shared }
        }
        return try LogRegistry.shared.withEntry(of: identity, on: disk, access: options.access) {
            (entry) throws(LogError) in
            if let log = share(entry, directory, disk) { return log }
            let log = try Log(directory, on: disk, clock: clock, options: options, deriver: deriver, entry: entry)
            entry.log = log
            entry.openCount = 1
            return log
        }
    }

    private static func lockIdentity(_ directory: String, _ disk: Disk) -> FileIdentity? {
        do throws(DiskError) { return try disk.identity(of: directory + "/" + FileName.lock) } catch { return nil }
    }

    /// The log that is open already.
    ///
    /// One that failed gives its lock up, so that the store can be opened anew.
    ///
    /// A directory that was removed may have left its identity to a new one. The lock file tells: the log holds its own
    /// open, so nothing else can have that file's identity.
    private static func share(_ entry: LogRegistry.Entry, _ directory: String, _ disk: Disk) -> Log? {
        guard entry.openCount > 0, let log = entry.log else { return nil }
        guard lockIdentity(directory, disk) == log.lockIdentity else {
            log.detach()
            return nil
        }
        guard log.failure == nil else {
            log.detach()
            return nil
        }
        entry.openCount += 1
        return log
    }

    private init(
        _ directory: String, on disk: Disk, clock: Clock, options: LogOptions, deriver: any IndexDeriver,
        entry: LogRegistry.Entry
    ) throws(LogError) {
        guard options.segmentByteCount <= Limits.segmentByteCountMax else {
            throw .tooLarge(
                "Segments have at most \(Limits.segmentByteCountMax) bytes; \(options.segmentByteCount) were asked for."
            )
        }
        path = directory
        self.options = options
        self.deriver = deriver
        self.entry = entry
        self.clock = clock
        budget = MemoryBudget(byteCount: options.memoryBudget)
        cache = PageCache(budget: budget)
        blockCache = BlockCache(budget: budget)
        let begin = options.observer == nil ? 0 : clock.monotonicNanoseconds()
        storeLock = try StoreLock.take(directory + "/" + FileName.lock, on: disk, for: options.access, clock: clock)
        lockIdentity = Self.lockIdentity(directory, disk)
        let opened: Opening.Opened
        do {
            let opening = Opening(
                path: directory, disk: disk, clock: clock, options: options, deriver: deriver, cache: cache,
                blockCache: blockCache, lock: storeLock)
            opened = try opening.run()
        } catch {
            storeLock.release()
            throw error
        }
        self.directory = opened.directory
        openReport = opened.report
        var ends = [opened.segment.number: opened.end]
        if let cold = opened.cold { ends[cold.managed.number] = cold.end }
        found = (opened.state, ends)
        let watch = opened.directory.watch
        if let observer = options.observer { watch.tell(observer, clock: clock) }
        watch.space = SpaceFigures(opened.state, heldByteCount: 0)
        openedSequence = opened.replay.sequence
        follower = options.access == .reading ? Follower(opened) : nil
        var tables = opened.replay.tables
        publisher = Publisher(opened.replay.snapshot(&tables), watch: watch)
        holds = SnapshotHolds(clock)
        if opened.manifest != nil {
            opened.directory.presence.expect(lockIdentity) { [publisher] error in publisher.fail(error) }
        }
        writing = opened.manifest.map { [publisher, holds, cache, blockCache, budget] manifest in
            Self.prepareWriting(
                manifest, opened, tables, publisher: publisher, holds: holds, options: options, clock: clock,
                cache: cache, blockCache: blockCache, budget: budget)
        }
        watch.note(.opened(opened.report, nanoseconds: watch.nanoseconds(since: begin)))
    }

    private static func prepareWriting(
        _ manifest: Manifest, _ opened: Opening.Opened, _ tables: WorkingTables, publisher: Publisher,
        holds: SnapshotHolds, options: LogOptions, clock: Clock, cache: PageCache, blockCache: BlockCache,
        budget: MemoryBudget
    ) -> Writing {
        manifest.onFailure { error in publisher.fail(error) }
        let fileSystem = Self.fileSystem(of: opened.directory)
        // Zeros ahead cost more than they save where each write takes new space, and where nothing is durable.
        let prepares = fileSystem.map { !$0.isCopyOnWrite && !$0.isVolatile } ?? false
        opened.directory.damage.tell(manifest)
        let times = CommitTimes(options.observer, clock: clock)
        let committer = Committer(
            directory: opened.directory, manifest: manifest, publisher: publisher, durability: options.durability,
            segment: opened.segment, end: opened.end, previousHead: opened.head, sequence: opened.replay.sequence,
            preparedByteCount: prepares ? options.preparedByteCount : 0, times: times)
        let runs = RunStore(
            directory: opened.directory, manifest: manifest, publisher: publisher, cache: blockCache, budget: budget)
        let space = DiskSpace(opened.directory, options)
        space.holdBack(storeByteCount: opened.state.segmentByteCount, isOpening: true)
        let sequencer = Sequencer(
            directory: opened.directory, manifest: manifest, publisher: publisher, committer: committer, runs: runs,
            options: options,
            clock: clock, budget: budget, tables: tables, sequence: opened.replay.sequence,
            wallNanoseconds: opened.replay.wallNanoseconds, indexes: opened.replay.memtables.indexSet,
            segment: opened.segment,
            offset: opened.end, blobs: opened.blobs, space: space, segmentSpace: opened.segmentSpace,
            hasUncountedDead: opened.hasUncountedDead)
        // What was made again from the segments is made durable soon.
        sequencer.byteCountSinceCheckpoint =
            opened.report.ignoredDerivedFiles.isEmpty ? opened.replay.byteCount : UInt64(options.checkpointByteCount)
        sequencer.suitSegments(toLive: sequencer.segmentSpace.liveByteCount)
        sequencer.tolerateSpace()
        let compactor = Compactor(
            directory: opened.directory, manifest: manifest, publisher: publisher, sequencer: sequencer,
            options: options, budget: budget, cold: opened.cold)
        let checkpointer = Checkpointer(
            directory: opened.directory, manifest: manifest, publisher: publisher, committer: committer,
            sequencer: sequencer, cache: cache, runs: runs, space: space, holds: holds, compactor: compactor,
            listed: opened.pageFiles)
        let maintainer = Maintainer(
            checkpointer, compacts: options.isCompacting, patienceMilliseconds: options.patienceMilliseconds)
        if options.maintenance == .thread {
            maintainer.start()
            if sequencer.isCheckpointDue || sequencer.toleratedByteCount > 0 { _ = maintainer.ask() }
        }
        var synchronizer: BackgroundSynchronizer?
        if options.maintenance == .thread, options.durability == .async, fileSystem?.isVolatile != true {
            synchronizer = BackgroundSynchronizer(
                committer, delayMilliseconds: options.synchronizationDelayMilliseconds)
        }
        synchronizer?.start()
        return Writing(
            manifest: manifest, committer: committer, sequencer: sequencer, checkpointer: checkpointer,
            maintainer: maintainer, synchronizer: synchronizer, space: space, times: times)
    }

    /// Which file system holds the store; nil where it does not say.
    private static func fileSystem(of directory: StoreDirectory) -> FileSystemKind? {
        do throws(DiskError) { return try directory.disk.fileSystem(of: directory.path) } catch { return nil }
    }

    deinit {
        writing?.stopThreads()
        storeLock.release()
    }

    // MARK: State

    /// The store's identifier.
    package var storeID: (UInt64, UInt64) { (directory.storeID.high, directory.storeID.low) }

    /// The newest published state.
    ///
    /// - Complexity: O(1).
    package func snapshot() -> Snapshot { publisher.snapshot }

    /// Keeps the newest state for somebody who comes back to it.
    ///
    /// While it is not used, the log takes it away once others have written: 60 s after it was used last, or 5 s where
    /// it keeps dropped segments of more than a quarter of what is live. Each hold has to be given back by `release`.
    ///
    /// - Parameters:
    ///   - label: Whose it is, for reports.
    ///   - isFree: Whether the owner has nothing that is of the snapshot's state, so that it may be taken; called under
    ///     locks of the log, by any thread, while the snapshot is not used.
    /// - Returns: The hold, not in use.
    package func hold(_ label: String, isFree: @escaping @Sendable () -> Bool = { true }) -> SnapshotHold {
        let hold = SnapshotHold(snapshot(), isFree: isFree)
        holds.add(hold, label)
        return hold
    }

    /// Ends a hold.
    package func release(_ hold: SnapshotHold) { holds.remove(hold) }

    /// Keeps a hold's snapshot from being taken, within limits; with nil as before.
    ///
    /// - Parameters:
    ///   - hold: The hold.
    ///   - limits: After which its `begin` throws `.expired`.
    ///   - label: What it is for, for reports.
    package func pin(_ hold: SnapshotHold, _ limits: PinLimits?, _ label: String) {
        holds.setLimits(limits, of: hold, label)
    }

    /// Who keeps an old state of the store, the oldest first: in this process, where it is open for writing.
    package func pins() -> [SnapshotPin] { holds.pins { directory.isInUse($0) } }

    /// Whether the last opening was closed.
    package var hasEnded: Bool { isClosed.load(ordering: .acquiring) }

    /// Set once a write failed: reads go on, writes throw it.
    package var failure: LogError? { publisher.failure }

    // MARK: Writing

    /// Writes one transaction.
    ///
    /// Waits for the turn, runs `body`, queues its records, passes the turn on, and returns when they are durable
    /// (`.sync`) and visible. If `body` throws, nothing of the transaction is kept.
    ///
    /// - Throws: what `body` throws; `.readOnly`, `.closed`, `.abandoned`; `.poisoned` if an earlier write failed;
    ///   `.outcomeUnknown` if this one did: then the transaction may be found after the store is opened again
    ///   (`landed`); the error names it, unless its last frame was not reached.
    package func write<R>(
        author: String?, _ body: (inout Transaction) throws -> R
    ) throws -> (value: R, receipt: CommitReceipt) {
        let writing = try writable()
        let begin = writing.times?.now() ?? 0
        if options.maintenance == .thread { try makeOverdueCheckpoint(writing) }
        waitForSpace(writing)
        let sequencer = writing.sequencer
        let value: R
        let ending: Sequencer.Ending
        let isDue: Bool
        do {
            (value, ending, isDue) = try inTurn(sequencer) {
                try checkOpen()
                var transaction = Transaction(sequencer)
                let value = try body(&transaction)
                let ending = try sequencer.end(author: author)
                return (value, ending, sequencer.isCheckpointDue)
            }
        } catch {
            // What was written for it takes space, however it ended.
            watchSpace(writing)
            if publisher.failure == nil, !hasEnded, writing.space.mayCheckpoint,
                sequencer.turn.withLock({ sequencer.isCheckpointDue })
            {
                maintain(writing)
            }
            throw error
        }
        var snapshot: Snapshot?
        if let completion = ending.completion {
            writing.committer.finish(completion, leads: ending.leads)
            if let failure = completion.failure { throw failure.about(ending.transaction) }
            snapshot = completion.takeSnapshot()
        }
        if !ending.isEmpty {
            writing.synchronizer?.noteCommit()
            if directory.watch.isFull { directory.noteWritten() }
            if let times = writing.times { times.tellCommit(since: begin) }
        }
        watchSpace(writing)
        if isDue {
            // What compaction drops is to go at once: so it is not kept for the receipt, where it is the newest state.
            if options.maintenance == .inline, snapshot?.sequence == publisher.snapshot.sequence { snapshot = nil }
            maintain(writing)
        }
        return (
            value,
            CommitReceipt(
                sequence: ending.sequence, transaction: ending.transaction, wallNanoseconds: ending.wallNanoseconds,
                snapshot: snapshot ?? publisher.snapshot)
        )
    }

    /// Makes the checkpoint that memory cannot wait for, or that was refused and may find space now.
    private func makeOverdueCheckpoint(_ writing: Writing) throws(LogError) {
        let space = writing.space
        guard writing.sequencer.isCheckpointOverdue || space.isCheckpointRefused, space.mayCheckpoint else { return }
        let free = space.freeByteCount
        do throws(LogError) {
            try writing.checkpointer.run()
        } catch {
            // Deletes make room again: they alone go on.
            guard error.code == .fullDisk else { throw error }
            space.noteRefusedCheckpoint(free: free)
            directory.noteFull(error)
        }
    }

    /// Lets compaction catch up where segments take more than they may, so that they never take much more.
    ///
    /// Whoever waits compacts, so it needs no thread but its own; where compaction gets nowhere, nobody waits.
    private func waitForSpace(_ writing: Writing) {
        let sequencer = writing.sequencer
        guard sequencer.isSpaceShort, options.isCompacting, options.maintenance != .manual, publisher.failure == nil
        else { return }
        let begin = sequencer.clock.monotonicNanoseconds()
        writing.checkpointer.relieve { isClosed.load(ordering: .acquiring) }
        writing.waits.add(from: begin, to: sequencer.clock.monotonicNanoseconds())
    }

    /// Runs a transaction's part in the writer's turn, and notes a full disk once the turn is over.
    private func inTurn<R>(_ sequencer: Sequencer, _ body: () throws -> R) throws -> R {
        var refusal: LogError?
        do {
            return try sequencer.inTurn {
                do {
                    return try body()
                } catch {
                    // The body may throw an error of its own that has the log's for its cause.
                    refusal = sequencer.transactionFailure ?? error as? LogError
                    throw error
                }
            }
        } catch {
            if let refusal, refusal.code == .fullDisk { directory.noteFull(refusal) }
            throw error
        }
    }

    /// Does what comes due by a transaction, whose own end it does not change.
    private func maintain(_ writing: Writing) {
        switch options.maintenance {
        case .manual: break
        case .inline:
            do throws(LogError) {
                try writing.checkpointer.run()
                if options.isCompacting { try writing.checkpointer.compactDue(isPaced: false) { false } }
                writing.checkpointer.note(nil)
            } catch {
                writing.checkpointer.note(error)
            }
        case .thread: _ = writing.maintainer.ask()
        }
    }

    /// Lets the maintenance thread see to segments that take too much, if no writer comes who has to.
    private func watchSpace(_ writing: Writing) {
        if options.maintenance == .thread, writing.sequencer.hasExcess { writing.maintainer.watchSpace() }
    }

    func writable() throws(LogError) -> Writing {
        guard let writing else { throw LogError(.readOnly, "The store is open for reading only.", path: path) }
        guard getpid() == ownerProcess.load(ordering: .relaxed) else {
            throw LogError(
                .readOnly, "The store was opened before this process was forked. Open it again in the child.",
                path: path)
        }
        return writing
    }

    private func checkOpen() throws(LogError) {
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        if let failure = publisher.failure {
            throw .poisoned(by: failure, ", so nothing more is written.")
        }
    }

    /// Makes a checkpoint: the log before it need not be replayed any more.
    ///
    /// Runs that are due are merged.
    package func checkpoint() throws(LogError) {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        defer { writing.maintainer.look() }
        try writing.checkpointer.run()
    }

    /// Copies what is live out of segments that are mostly dead, and drops these.
    ///
    /// The segment that is being written is left alone, and so are segments that are hardly dead: afterwards segments
    /// take at most about one and a half times what is live, what old snapshots hold apart. Readers and writers go on
    /// meanwhile; where the log has a maintenance thread, nobody has to ask.
    ///
    /// `landed` does not find transactions of dropped segments.
    ///
    /// - Parameter progress: Gets bytes that were copied so far, after each mebibyte; nobody waits for it.
    /// - Returns: What was done since the last call.
    /// - Throws: `.closed`, also where the store is closed meanwhile; what the disk says. Nothing that was committed is
    ///   lost by it.
    @discardableResult
    package func compact(progress: (UInt64) -> Void = { _ in }) throws(LogError) -> CompactionReport {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        defer { writing.maintainer.look() }
        return try writing.checkpointer.compact(until: { isClosed.load(ordering: .acquiring) }, progress: progress)
    }

    /// Damaged places that compaction met since the store was opened, on the maintenance thread too: at most 100, each
    /// once, those met first before the others.
    ///
    /// The segments that they lie in are kept, and not compacted while the store is open. Void where the store is open
    /// for reading.
    package var compactionDamage: [CompactionReport.Damage] { writing?.checkpointer.compactor.damage.places ?? [] }

    /// The indexes that have entries.
    package var indexIDs: [IndexID] {
        let listed = manifestState.runs.map { IndexID(rawValue: $0.index) }
        return Set(publisher.snapshot.indexes.all.map(\.definition.id) + listed).sorted()
    }

    /// Forgets all entries of an index that no table has any more.
    ///
    /// Its number must not be used again.
    ///
    /// Older snapshots keep it. Durability: with the next checkpoint; a crash before brings it back, so ask `indexIDs`
    /// after opening.
    package func dropIndex(_ index: IndexID) throws(LogError) {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        writing.checkpointer.dropIndex(index)
    }

    /// Whether others in this process have the store open too.
    ///
    /// Waits for who opens or closes it.
    package func isShared() throws(LogError) -> Bool {
        try LogRegistry.shared.withEntry(entry) { () throws(LogError) in entry.openCount > 1 }
    }

    // MARK: Closing

    /// Closes this opening; the last one makes a checkpoint, marks the store as closed cleanly, and gives up the lock.
    ///
    /// Snapshots stay readable. After a failure only the lock is given up.
    package func close() throws(LogError) {
        // Without a lock: the observer may open the store again.
        defer { directory.watch.drain() }
        try LogRegistry.shared.withEntry(entry) { () throws(LogError) in
            guard entry.log === self, entry.openCount > 0 else { return }
            entry.openCount -= 1
            guard entry.openCount == 0 else { return }
            entry.log = nil
            try shutDown()
        }
    }

    private func shutDown() throws(LogError) {
        try shutDown { (writing) throws(LogError) in try writing.checkpointer.run(isClosing: true) }
    }

    private func shutDown(with last: (Writing) throws(LogError) -> Void) throws(LogError) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer {
            directory.damage.tellNobody()
            storeLock.release()
            directory.watch.note(.closed)
        }
        guard let writing, getpid() == ownerProcess.load(ordering: .relaxed) else { return }
        writing.stopThreads()
        guard failure == nil else { return }
        // Whoever has the turn sees it through; nobody gets it after.
        defer {
            writing.committer.releaseReserve()
            writing.sequencer.releaseReserve()
            writing.checkpointer.compactor.releaseReserve()
            writing.manifest.releaseReserve()
        }
        try last(writing)
    }

    /// Closes a log that nobody else in this process has opened, with something other than a checkpoint.
    ///
    /// - Parameters:
    ///   - check: Throws if it is not to be done; then the log stays open.
    ///   - last: What is done when nobody writes any more.
    /// - Throws: `.lockedByAnother`, `.readOnly`, `.closed`, `.poisoned`; what the two throw.
    func endAlone(
        _ check: (Writing) throws(LogError) -> Void, with last: (Writing) throws(LogError) -> Void
    ) throws(LogError) {
        let writing = try writable()
        try LogRegistry.shared.withEntry(entry) { () throws(LogError) in
            try checkOpen()
            guard entry.log === self, entry.openCount == 1 else {
                throw LogError(
                    .lockedByAnother, "Another part of this process has the store open. Close it there.", path: path)
            }
            try check(writing)
            entry.openCount = 0
            entry.log = nil
            try shutDown(with: last)
        }
    }

    /// Lets go of the store as a killed process would: nothing is written, and the lock is free.
    package func abandonForTests() {
        detach()
    }

    /// Makes the log believe that another process opened it.
    package func pretendToBeForked() {
        ownerProcess.store(0, ordering: .relaxed)
    }

    /// Gives up the lock of a log that failed.
    private func detach() {
        isClosed.store(true, ordering: .releasing)
        writing?.stopThreads()
        directory.damage.tellNobody()
        storeLock.release()
        entry.log = nil
        entry.openCount = 0
    }
}
