package import FaultlineDisk
import Glibc
import Synchronization

/// A log-structured store of versioned records: the entry point of this layer.
///
/// A store is a directory. Within a process one `Log` serves all openings of the same directory; between processes LOCK
/// allows one writer.
///
/// Concurrency: all members may be called from any thread; writers run one at a time.
// Safe because mutable state is guarded by the objects that hold it.
package final class Log: @unchecked Sendable {
    let path: String
    package let options: LogOptions
    package let cache: PageCache
    let blockCache: BlockCache
    package let directory: StoreDirectory
    /// The findings and actions of the opening.
    package let openReport: OpenReport
    /// The manifest at the opening, and the ends of the unsealed segments' frames: all the state of a log that is open
    /// for reading.
    let found: (state: ManifestState, ends: [UInt64: UInt64])
    let publisher: Publisher
    private let holds: SnapshotHolds
    /// The newest transaction when the log was opened.
    let openedSequence: UInt64
    package let deriver: any IndexDeriver
    /// Nil when opened for reading.
    let writing: Writing?
    /// Nil when opened for writing.
    let follower: Follower?
    let clock: Clock
    let storeLock: StoreLock
    /// The identity of the lock file, which is open as long as the log.
    private let lockIdentity: FileIdentity?
    let ownerProcess = Atomic<pid_t>(getpid())
    let isClosed = Atomic<Bool>(false)
    private let restoringTransaction = Atomic<UInt64>(0)
    private let entry: LogRegistry.Entry

    /// The engine's memory.
    package let budget: MemoryBudget

    /// Opens the store in `directory`, or creates one there.
    ///
    /// Opening a store that is open in this process returns the same log, with the options of the first opening; each
    /// opening needs a `close`.
    ///
    /// Durability: a created store is durable when the call returns.
    ///
    /// - Throws: `.notAStore`, `.newerFormat`, `.damaged`, `.lockedByAnother`, `.readOnly`; disk errors.
    package static func open(
        _ directory: String, on disk: Disk, clock: Clock, options: LogOptions, deriver: any IndexDeriver
    ) throws(LogError) -> Log {
        try prepare(directory, on: disk, options: options)
        let identity = try onDisk("looking for the store") { () throws(DiskError) in try disk.identity(of: directory) }
        if options.access == .reading {
            // Read-only is a property of the opening, not of the log.
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
    /// A log that failed releases its lock, so that the store can be opened again.
    ///
    /// After a directory was removed, a new one may get its identity. The lock file distinguishes them: the log keeps
    /// its own lock file open, so no other file can have that file's identity.
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
        if options.access == .writing { storeLock.noteOpened(on: disk, clock: clock) }
        self.directory = opened.directory
        openReport = opened.report
        var ends = [opened.segment.number: opened.end]
        if let cold = opened.cold { ends[cold.managed.number] = cold.end }
        found = (opened.state, ends)
        let watch = opened.directory.watch
        if let observer = options.observer { watch.tell(observer, clock: clock) }
        watch.space = SpaceFigures(
            opened.state, heldByteCount: 0, retainedByteCount: opened.retained?.byteCount ?? 0)
        openedSequence = opened.replay.sequence
        follower = options.access == .reading ? Follower(opened) : nil
        var tables = opened.replay.tables
        publisher = Publisher(opened.replay.snapshot(&tables), watch: watch)
        holds = SnapshotHolds(clock, RecordPages(budget: budget))
        if opened.manifest != nil {
            opened.directory.presence.expect(lockIdentity) { [publisher] error in publisher.fail(error) }
        }
        writing = opened.manifest.map { [publisher, holds, cache, blockCache, budget] manifest in
            let parts = LogParts(
                directory: opened.directory, manifest: manifest, publisher: publisher, holds: holds, options: options,
                clock: clock, cache: cache, blockCache: blockCache, budget: budget, retained: opened.retained)
            return Writing(parts, opened, tables)
        }
        if let failure = opened.retained?.failure { watch.note(.pastStatesLost(failure)) }
        watch.note(.opened(opened.report, nanoseconds: watch.nanoseconds(since: begin)))
        opened.directory.noteOpenFiles()
    }

    deinit {
        writing?.sequencer.uploads.shut()
        writing?.stopThreads()
        directory.disown()
        storeLock.release()
    }

    // MARK: State

    /// The store's identifier.
    package var storeID: (UInt64, UInt64) { (directory.storeID.high, directory.storeID.low) }

    /// The newest published state.
    ///
    /// - Complexity: O(1).
    package func snapshot() -> Snapshot { publisher.snapshot }

    /// Holds the newest state for a reader that uses it repeatedly.
    ///
    /// While it is not in use, the log takes it away after other writes: 60 s after its last use, or 5 s if it keeps
    /// dropped segments of more than a quarter of the live bytes. End each hold by `release`.
    ///
    /// - Parameters:
    ///   - label: The owner, for reports.
    ///   - isFree: Whether the owner holds nothing of the snapshot's state, so that it may be taken; called under locks
    ///     of the log, by any thread, while the snapshot is not in use.
    /// - Returns: The hold, not in use.
    package func hold(_ label: String, isFree: @escaping @Sendable () -> Bool = { true }) -> SnapshotHold {
        let hold = SnapshotHold(snapshot(), pages: holds.pages, isFree: isFree)
        holds.add(hold, label)
        return hold
    }

    /// Ends a hold.
    package func release(_ hold: SnapshotHold) { holds.remove(hold) }

    /// Prevents a hold's snapshot from being taken, within limits; nil ends that.
    ///
    /// - Parameters:
    ///   - hold: The hold.
    ///   - limits: The limits beyond which its `begin` throws `.expired`.
    ///   - label: The purpose, for reports.
    package func pin(_ hold: SnapshotHold, _ limits: PinLimits?, _ label: String) {
        holds.setLimits(limits, of: hold, label)
    }

    /// The holders of old states in this process, the oldest first, if the log is open for writing.
    package func pins() -> [SnapshotPin] { holds.pins { directory.isInUse($0) } }

    /// Whether the last opening was closed.
    package var hasEnded: Bool { isClosed.load(ordering: .acquiring) }

    /// The error of the first failed write: reads still work, writes throw it.
    package var failure: LogError? { publisher.failure }

    /// The error that ended the window of past states until the next opening; nil if there is none.
    package var pastFailure: LogError? { writing?.checkpointer.retained?.failure }

    // MARK: Maintaining

    /// Makes a checkpoint: the log before it need not be replayed any more.
    ///
    /// Merges the runs that are due.
    package func checkpoint() throws(LogError) {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        defer { writing.maintainer.look() }
        try writing.checkpointer.run()
    }

    /// Copies live records and blobs out of segments that are mostly dead, and drops these.
    ///
    /// Segments being written are sealed first if more than a quarter of them is dead, and small ones are merged;
    /// segments that are hardly dead stay. Afterwards segments take at most about one and a half times the live bytes,
    /// apart from segments that old snapshots hold. Readers and writers continue during it. If the log has a maintenance
    /// thread, calling this is not necessary.
    ///
    /// `landed` does not find transactions of dropped segments.
    ///
    /// - Parameter progress: Gets the bytes copied so far, after each mebibyte; no lock is held.
    /// - Returns: The work done since the last call.
    /// - Throws: `.closed`, also if the store is closed during the call; disk errors. Committed data is not lost by an
    ///   error.
    @discardableResult
    package func compact(progress: (UInt64) -> Void = { _ in }) throws(LogError) -> CompactionReport {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        defer { writing.maintainer.look() }
        return try writing.checkpointer.compact(until: { isClosed.load(ordering: .acquiring) }, progress: progress)
    }

    /// Damaged places that compaction met since the store was opened, on the maintenance thread too: at most 100, each
    /// once, in the order of discovery.
    ///
    /// Their segments are kept, and not compacted while the store is open. Empty if the store is open for reading.
    package var compactionDamage: [CompactionReport.Damage] { writing?.checkpointer.compactor.damage.places ?? [] }

    /// The indexes that have entries.
    package var indexIDs: [IndexID] {
        let listed = manifestState.runs.map { IndexID(rawValue: $0.index) }
        return Set(publisher.snapshot.indexes.all.map(\.definition.id) + listed).sorted()
    }

    /// Removes all entries of an index that no table has any more.
    ///
    /// Its number must not be used again. Older snapshots keep it.
    ///
    /// Durability: with the next checkpoint. A crash before that brings it back, so check `indexIDs` after opening.
    package func dropIndex(_ index: IndexID) throws(LogError) {
        let writing = try writable()
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        writing.checkpointer.dropIndex(index)
    }

    /// Whether other parts of this process have the store open too.
    ///
    /// Waits for openings and closings that are in progress.
    package func isShared() throws(LogError) -> Bool {
        try LogRegistry.shared.withEntry(entry) { () throws(LogError) in entry.openCount > 1 }
    }

    // MARK: Closing

    /// Closes this opening; the last one makes a checkpoint, marks the store as closed cleanly, and releases the lock.
    ///
    /// A store of at most 4 MiB of live data whose segments take twice as much, and more than 2 MiB, is compacted before.
    ///
    /// Snapshots stay readable. After a failure only the lock is released.
    package func close() throws(LogError) {
        // No lock is held here: the observer may open the store again.
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
        try shutDown { (writing) throws(LogError) in try writing.checkpointer.close() }
    }

    private func shutDown(with last: (Writing) throws(LogError) -> Void) throws(LogError) {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer {
            directory.damage.tellNobody()
            directory.disown()
            storeLock.release()
            publisher.listeners.notify()
            directory.watch.note(.closed)
        }
        guard let writing, getpid() == ownerProcess.load(ordering: .relaxed) else { return }
        writing.stopThreads()
        writing.sequencer.uploads.shut()
        guard failure == nil else { return }
        // The holder of the writer lock finishes its transaction; no thread gets the lock afterwards.
        defer {
            writing.committer.releaseReserve()
            writing.sequencer.releaseReserve()
            writing.checkpointer.compactor.releaseReserve()
            writing.manifest.releaseReserve()
        }
        try last(writing)
    }

    /// Closes a log that has no other opening in this process, with a last step other than a checkpoint.
    ///
    /// - Parameters:
    ///   - check: Throws if the log is not to be closed; then it stays open.
    ///   - last: The last step, when nothing writes any more.
    /// - Throws: `.lockedByAnother`, `.readOnly`, `.closed`, `.poisoned`; the errors of the two closures.
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

    /// Detaches from the store as a killed process would: nothing is written, and the lock is free.
    package func abandonForTests() {
        detach()
    }

    /// Makes the log behave as if another process had opened it.
    package func pretendToBeForked() {
        ownerProcess.store(0, ordering: .relaxed)
    }

    /// Releases the lock of a log that failed.
    private func detach() {
        isClosed.store(true, ordering: .releasing)
        writing?.stopThreads()
        writing?.sequencer.uploads.shut()
        directory.damage.tellNobody()
        directory.disown()
        storeLock.release()
        entry.log = nil
        entry.openCount = 0
    }
}

extension Log {
    /// The newest transaction of this process that gives new records the numbers of deleted ones, or an attempt at one.
    package var restoringSequence: UInt64 { restoringTransaction.load(ordering: .acquiring) }

    /// Notes that a transaction gives a new record the number of a deleted one, before it is published.
    package func noteRestoring(in transaction: borrowing Transaction) {
        restoringTransaction.max(transaction.sequence, ordering: .releasing)
    }
}
