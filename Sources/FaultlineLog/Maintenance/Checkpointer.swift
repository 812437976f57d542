import FaultlineDisk

/// Makes checkpoints: stores the changed pages, flushes memtables to runs, and advances the position from which the log
/// is replayed.
///
/// Writers wait only while the state is captured. Everything is durable before the manifest lists it in one edit; files
/// that a crash leaves before that are not listed and are removed.
///
/// Concurrency: one checkpoint at a time, by `lock`; lock order: this, writer lock.
// Safe because mutable state is guarded by the lock.
final class Checkpointer: @unchecked Sendable {
    let lock = EngineLock()
    let directory: StoreDirectory
    let manifest: Manifest
    let publisher: Publisher
    let committer: Committer
    let sequencer: Sequencer
    let cache: PageCache
    let options: LogOptions
    let runs: RunStore
    let space: DiskSpace
    let holds: SnapshotHolds
    let compactor: Compactor
    let retained: RetainedFiles?
    var listed: [UInt64: PageFile]
    /// Set when the store is closed: from then on nothing may be written to it.
    var isShut = false
    /// Deleted indexes; the next checkpoint drops their runs.
    var droppedIndexes: Set<UInt32> = []
    /// The open runs of those indexes.
    var droppedRuns: [Run] = []
    /// The number of the next file when tables were captured last.
    var capturedFileNumber: UInt64 = 0
    /// Bytes of index runs that may still be merged; bounded while the store is closed.
    var mergeAllowance = UInt64.max
    /// Bytes of log, and of deleted blobs, for which no compaction was paced yet.
    var committedByteCount: UInt64 = 0

    init(_ parts: LogParts, _ sequencer: Sequencer, _ compactor: Compactor, listed: [UInt64: PageFile]) {
        directory = parts.directory
        manifest = parts.manifest
        publisher = parts.publisher
        cache = parts.cache
        options = parts.options
        holds = parts.holds
        retained = parts.retained
        self.sequencer = sequencer
        committer = sequencer.committer
        runs = sequencer.runs
        space = sequencer.space
        self.compactor = compactor
        self.listed = listed
    }

    /// Makes a checkpoint of everything committed, then merges runs that are due.
    ///
    /// - Parameter isClosing: Adds the mark that the store was closed cleanly; no transaction may follow, and nothing
    ///   is merged.
    /// - Throws: Disk errors; committed data is not lost by them.
    func run(isClosing: Bool = false) throws(LogError) {
        try whileOpen { () throws(LogError) in
            defer {
                isShut = isClosing
                removeUnneededFiles()
            }
            try checkpointWithRoom(isClosing: isClosing)
            space.noteCheckpoint()
            if directory.watch.isFull, !space.isForDeletesOnly() { directory.watch.noteSpace() }
            guard !isClosing else { return }
            try mergeDue()
            moveOnHolds()
            holdSpaceBack()
        }
    }

    /// Makes a checkpoint; uses the space of past states, and the ballast for one that frees files, now or by the
    /// compaction that it allows.
    func checkpointWithRoom(isClosing: Bool = false) throws(LogError) {
        let lastDelete = sequencer.turn.withLock { sequencer.lastDelete }
        let makesRoom = lastDelete > manifest.state.checkpoint?.sequence ?? 0 || compactor.needsCheckpoint
        do throws(LogError) {
            return try checkpointGivingWay(isClosing: isClosing)
        } catch {
            guard error.code == .fullDisk, error.cause?.code != .fileTooLarge, makesRoom, space.giveUp() else {
                throw error
            }
        }
        // The remains of the first attempt take space that the second needs.
        directory.removeUnneededFiles()
        try checkpoint(isClosing: isClosing)
    }

    /// Makes a checkpoint; removes the oldest past states until there is room for it.
    private func checkpointGivingWay(isClosing: Bool) throws(LogError) {
        while true {
            do throws(LogError) {
                return try checkpoint(isClosing: isClosing)
            } catch {
                guard error.code == .fullDisk, error.cause?.code != .fileTooLarge, retained?.giveWay() == true else {
                    throw error
                }
                directory.removeUnneededFiles()
            }
        }
    }

    /// Merges the runs that are due; on a full disk another time, since compaction must not wait for that.
    private func mergeDue() throws(LogError) {
        do throws(LogError) {
            try runs.mergeDue(&mergeAllowance)
        } catch {
            guard error.code == .fullDisk else { throw error }
            directory.noteFull(error)
        }
    }

    /// Removes files that neither the store nor a state of the past needs.
    private func removeUnneededFiles() {
        directory.removeUnneededFiles()
        retained?.prune(manifest.state, now: sequencer.clock.wallNanoseconds())
    }

    /// Removes unneeded files, and reserves the ballast.
    func holdSpaceBack() {
        removeUnneededFiles()
        space.holdBack(storeByteCount: manifest.state.segmentByteCount)
    }

    /// Runs `body` under the lock, unless the store was closed: then another process may own its lock.
    func whileOpen<R>(_ body: () throws(LogError) -> R) throws(LogError) -> R {
        lock.lock()
        defer { lock.unlock() }
        if isShut { throw .closed(directory.path) }
        return try body()
    }

    /// Removes an index; its files are dropped by the next checkpoint.
    func dropIndex(_ index: IndexID) {
        lock.lock()
        defer { lock.unlock() }
        droppedIndexes.insert(index.rawValue)
        publisher.changeIndexes { indexes in
            droppedRuns += indexes[index]?.runs ?? []
            indexes = indexes.removing(index)
        }
    }

    /// Releases the files of dropped indexes, which the manifest no longer lists.
    func removeDroppedRuns(_ state: ManifestState) {
        // Indexes whose table was already gone at the opening have no open runs.
        for entry in state.runs where droppedIndexes.contains(entry.index) && !directory.isInUse(entry.file) {
            directory.remove([directory.path(.indexRun, entry.file)])
        }
        for run in droppedRuns { run.managed?.noteDropped() }
        droppedRuns.removeAll()
    }

    /// Records the result of background work.
    func note(_ failure: LogError?) {
        directory.watch.noteMaintenance(failure)
        if let failure, failure.code == .fullDisk { directory.noteFull(failure) }
    }

    /// Runs `body` while no checkpoint is made.
    func whileIdle(_ body: () throws(LogError) -> Void) throws(LogError) {
        lock.lock()
        defer { lock.unlock() }
        directory.removeUnneededFiles()
        try body()
    }
}
