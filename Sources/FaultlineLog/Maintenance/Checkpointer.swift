import FaultlineDisk

/// Makes checkpoints: stores the pages that changed, flushes memtables to runs, and moves the place from which the log
/// is replayed.
///
/// Writers wait only while the state is captured. Everything is durable before the manifest says so in one edit; what a
/// crash leaves before that is not listed and is removed.
///
/// Concurrency: one checkpoint at a time, by `lock`; lock order: this, writer's turn.
// Safe because mutable state is guarded by the lock.
final class Checkpointer: @unchecked Sendable {
    private let lock = EngineLock()
    let directory: StoreDirectory
    let manifest: Manifest
    private let publisher: Publisher
    let committer: Committer
    let sequencer: Sequencer
    private let cache: PageCache
    private let options: LogOptions
    private let runs: RunStore
    private let space: DiskSpace
    private let holds: SnapshotHolds
    let compactor: Compactor
    private var listed: [UInt64: PageFile]
    /// Set when the store is closed: nothing of it may be written any more.
    var isShut = false
    /// Indexes that are no more; the next checkpoint drops their runs.
    private var droppedIndexes: Set<UInt32> = []
    /// Those of their runs that were open.
    private var droppedRuns: [Run] = []
    /// Which number the next file had when tables were captured last.
    private(set) var capturedFileNumber: UInt64 = 0
    /// Bytes of log, and of blobs that ended, that no compaction was paced by yet.
    private var committedByteCount: UInt64 = 0

    init(
        directory: StoreDirectory, manifest: Manifest, publisher: Publisher, committer: Committer, sequencer: Sequencer,
        cache: PageCache, runs: RunStore, space: DiskSpace, holds: SnapshotHolds, compactor: Compactor,
        listed: [UInt64: PageFile]
    ) {
        self.directory = directory
        self.manifest = manifest
        self.publisher = publisher
        self.committer = committer
        self.sequencer = sequencer
        self.cache = cache
        options = sequencer.options
        self.runs = runs
        self.space = space
        self.holds = holds
        self.compactor = compactor
        self.listed = listed
    }

    /// Makes a checkpoint of everything committed, then merges runs that are due.
    ///
    /// - Parameter isClosing: Adds the mark that the store was closed cleanly; no transaction may follow, and nothing
    ///   is merged.
    /// - Throws: What the disk says; nothing that was committed is lost by it.
    func run(isClosing: Bool = false) throws(LogError) {
        try whileOpen { () throws(LogError) in
            defer {
                isShut = isClosing
                directory.removeUnneededFiles()
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

    /// Makes a checkpoint; where it lets files go, now or by the compaction that it allows, with what is held back.
    func checkpointWithRoom(isClosing: Bool = false) throws(LogError) {
        let lastDelete = sequencer.turn.withLock { sequencer.lastDelete }
        let makesRoom = lastDelete > manifest.state.checkpoint?.sequence ?? 0 || compactor.needsCheckpoint
        do throws(LogError) {
            return try checkpoint(isClosing: isClosing)
        } catch {
            guard error.code == .fullDisk, error.cause?.code != .fileTooLarge, makesRoom, space.giveUp() else {
                throw error
            }
        }
        // What the attempt left takes the space that this one needs.
        directory.removeUnneededFiles()
        try checkpoint(isClosing: isClosing)
    }

    /// Merges runs that are due; on a full disk some other time, since no compaction is to wait for that.
    private func mergeDue() throws(LogError) {
        do throws(LogError) {
            try runs.mergeDue()
        } catch {
            guard error.code == .fullDisk else { throw error }
            directory.noteFull(error)
        }
    }

    /// Removes what nobody needs, and sets the space aside that the store holds back.
    private func holdSpaceBack() {
        directory.removeUnneededFiles()
        space.holdBack(storeByteCount: manifest.state.segmentByteCount)
    }

    /// Runs `body` under the lock, unless the store was closed: then its lock may be another process's.
    func whileOpen<R>(_ body: () throws(LogError) -> R) throws(LogError) -> R {
        lock.lock()
        defer { lock.unlock() }
        if isShut { throw .closed(directory.path) }
        return try body()
    }

    // MARK: Compaction

    /// How many bytes may be copied for each that is committed: where segments are two thirds live, so many give one
    /// back.
    private static let copiesPerCommittedByte: UInt64 = 2

    /// Compacts what is due, as far as the pace allows; to be called behind a checkpoint.
    ///
    /// - Parameters:
    ///   - isPaced: Whether to copy no more than twice what was committed since the last time, unless segments take
    ///     more than they may. The rest waits for the next call.
    ///   - isStopped: Asked after each step.
    /// - Throws: What the disk says; nothing that was committed is lost by it.
    func compactDue(isPaced: Bool, until isStopped: () -> Bool) throws(LogError) {
        var allowance = UInt64.max
        if isPaced {
            allowance = lock.withLock {
                defer { committedByteCount = 0 }
                return committedByteCount * Self.copiesPerCommittedByte
            }
        }
        while !isStopped(), let minimumGain = try chooseDue() {
            try move(&allowance, until: isStopped)
            // Each choice makes the segments smaller, or excludes one: so there are only so many. Else small records and
            // blobs, which are hardly larger than what says where they were, would be moved for ever.
            let isWorthIt = lock.withLock {
                compactor.isUnderWay || compactor.wasWorthIt(minimumGain: minimumGain / 2)
            }
            guard isWorthIt, allowance > 0 || sequencer.isSpaceShort else { return }
        }
    }

    /// Chooses what to compact, unless that is done or nothing is worth it.
    ///
    /// What is chosen is no more than a fraction of what is live: what is hardly worth it now may be dead soon.
    ///
    /// - Returns: What it should give back at least; nil if there is nothing to do.
    private func chooseDue() throws(LogError) -> UInt64? {
        try whileOpen { () throws(LogError) in
            let byteCount = sequencer.turn.withLock { sequencer.segmentByteCount }
            let minimumGain = byteCount / Self.gainDivisor
            if !compactor.isUnderWay, compactor.mayBeDue(minimumGain: minimumGain) {
                try compactor.choose(minimumGain: minimumGain, copiedMax: byteCount)
            }
            return compactor.isUnderWay ? minimumGain : nil
        }
    }

    /// Compacts until segments take as much less as the writer who waits has to see to; where that cannot be reached they
    /// may take more.
    ///
    /// What goes wrong is noted, and no reason for a transaction to fail: if nothing can be written, it will find out.
    ///
    /// - Parameter isStopped: Asked after each step.
    func relieve(until isStopped: () -> Bool) {
        sequencer.turn.withLock { sequencer.demandSpace() }
        do throws(LogError) {
            try compactDue(isPaced: false) { !sequencer.isSpaceShort || isStopped() }
            if sequencer.isSpaceShort, !isStopped() {
                // What was written since the last checkpoint may be worth it too.
                try run()
                try compactDue(isPaced: false) { !sequencer.isSpaceShort || isStopped() }
            }
        } catch {
            note(error)
        }
        sequencer.turn.withLock { if sequencer.isSpaceShort, !isStopped() { sequencer.tolerateSpace() } }
    }

    /// Compacts until segments take no more than they may, whatever was tolerated; where that cannot be reached, until
    /// nothing is worth it.
    ///
    /// - Parameter isStopped: Asked after each step.
    /// - Throws: What the disk says; nothing that was committed is lost by it.
    func reduceSpace(until isStopped: () -> Bool) throws(LogError) {
        // What was written since the last checkpoint may be worth it too.
        try run()
        try compactDue(isPaced: false) { !sequencer.hasExcess || isStopped() }
    }

    /// Whether segments take more than they may.
    var hasExcess: Bool { sequencer.hasExcess }

    /// Compacts all that is worth it, however little that is.
    ///
    /// - Parameters:
    ///   - isClosed: Asked after each mebibyte: whoever closes the store does not wait for the rest.
    ///   - progress: Gets bytes that were copied so far, after each mebibyte.
    /// - Returns: What was done since the last call, that of the maintenance thread included.
    /// - Throws: `.closed`; what the disk says. Nothing that was committed is lost by it.
    func compact(until isClosed: () -> Bool, progress: (UInt64) -> Void) throws(LogError) -> CompactionReport {
        try run()
        // Segments that only now are settled may be worth it too.
        for _ in 0..<Self.roundCountMax {
            let isDue = try whileOpen { () throws(LogError) in
                if !compactor.isUnderWay { try compactor.choose(minimumGain: 1) }
                return compactor.isUnderWay
            }
            guard isDue else { break }
            var allowance = UInt64.max
            try move(&allowance) {
                progress(lock.withLock { compactor.report.movedByteCount })
                return isClosed()
            }
            if isClosed() { throw .closed(directory.path) }
            try run()
        }
        return lock.withLock { compactor.takeReport() }
    }

    /// A segment of which less than this part would be given back is not worth the syncs.
    private static let gainDivisor: UInt64 = 4
    private static let roundCountMax = 4

    /// Moves what was chosen, step by step, and makes the checkpoints that become due by it.
    ///
    /// - Parameters:
    ///   - allowance: Bytes that may be copied, unless segments take more than they may; less those that were.
    ///   - isStopped: Asked after each step.
    /// - Throws: What the disk says.
    private func move(_ allowance: inout UInt64, until isStopped: () -> Bool) throws(LogError) {
        while allowance > 0 || sequencer.isSpaceShort, !isStopped() {
            let isDone = try whileOpen { () throws(LogError) in
                let movedByteCount = try compactor.step()
                if allowance != .max { allowance -= min(movedByteCount, allowance) }
                let isDone = !compactor.isUnderWay
                if (isDone && compactor.needsCheckpoint) || isCheckpointWorthIt() {
                    try checkpointWithRoom()
                    directory.removeUnneededFiles()
                }
                if isDone { compactor.noteEnded() }
                return isDone
            }
            if isDone { break }
        }
        try whileOpen { () throws(LogError) in
            moveOnHolds()
            holdSpaceBack()
        }
    }

    /// Whether enough was written for a checkpoint, or compaction has done enough that one gives back.
    private func isCheckpointWorthIt() -> Bool {
        let (isDue, byteCount) = sequencer.turn.withLock { (sequencer.isCheckpointDue, sequencer.segmentByteCount) }
        return isDue || compactor.finishedByteCount >= (sequencer.isSpaceShort ? byteCount / 2 : byteCount * 2)
    }

    // MARK: Snapshots that others keep

    /// Takes snapshots that are behind and idle, and removes what only they needed.
    ///
    /// - Returns: Whether some are left, so that this is to be called again.
    /// - Throws: `.closed`.
    func release() throws(LogError) -> Bool {
        try whileOpen { () throws(LogError) in
            let isLeft = moveOnHolds()
            directory.removeUnneededFiles()
            return isLeft
        }
    }

    @discardableResult
    private func moveOnHolds() -> Bool {
        let live = manifest.state.files.values.reduce(UInt64(0)) { sum, file in
            guard file.kind.isSegment else { return sum }
            // Of a segment in which nothing died yet nobody has counted anything.
            return sum + (file.total > 0 ? file.live : file.seal?.end ?? file.durable)
        }
        return holds.moveOn(
            compactor.heldFiles(), liveByteCount: live, newest: publisher.snapshot.sequence)
    }

    /// Forgets an index; its files go with the next checkpoint.
    func dropIndex(_ index: IndexID) {
        lock.lock()
        defer { lock.unlock() }
        droppedIndexes.insert(index.rawValue)
        publisher.changeIndexes { indexes in
            droppedRuns += indexes[index]?.runs ?? []
            indexes = indexes.removing(index)
        }
    }

    /// Lets the files of dropped indexes go, which the manifest does not list any more.
    private func removeDroppedRuns(_ state: ManifestState) {
        // Of indexes whose table was gone at the opening, no run was opened.
        for entry in state.runs where droppedIndexes.contains(entry.index) && !directory.isInUse(entry.file) {
            directory.remove(directory.path(.indexRun, entry.file))
        }
        for run in droppedRuns { run.managed?.noteDropped() }
        droppedRuns.removeAll()
    }

    /// Notes how what nobody waits for ended.
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

    /// What the checkpoint is of.
    private struct Captured {
        let tables: TableSet
        let sequence: UInt64
        let wallNanoseconds: Int64
        let blobs: (number: UInt64, end: UInt64, head: UInt32)?
        /// The segment of those blobs, if it is large enough that the next ones go to another.
        let fullBlobs: BlobSegment?
        let dead: [UInt32: UInt64]
        let completion: Completion
        let leads: Bool
    }

    private func checkpoint(isClosing: Bool) throws(LogError) {
        defer { directory.watch.space = SpaceFigures(manifest.state, heldByteCount: compactor.heldByteCount()) }
        let begin = directory.watch.now()
        try releaseIfOver()
        // The segment that blobs are moved to is sealed with it.
        if isClosing { compactor.giveUp() }
        compactor.countDropped()
        let captured = try capture()
        committer.finish(captured.completion, leads: captured.leads)
        if let failure = captured.completion.failure { throw failure }
        guard let position = captured.completion.position else { throw .closed(directory.path) }
        let state = manifest.state
        if let full = captured.fullBlobs { compactor.oweSeal(of: full, last: captured.sequence, state) }
        if let last = state.checkpoint, last.sequence == captured.sequence, last.segment == position.segment.number,
            last.offset == position.offset, !compactor.needsCheckpoint,
            try changedRuns(state, through: captured.sequence).isEmpty
        {
            if isClosing, !state.isClean { try manifest.commit([.clean]) }
            return
        }
        if state.checkpoint == nil, captured.sequence == 0, position.offset == UInt64(FileHeader.byteCount) {
            // Nothing was ever written.
            if isClosing, !state.isClean { try manifest.commit([.clean]) }
            return
        }

        let managed = try directory.create(.tableCheckpoint)
        let tables = try CheckpointWriter(tables: captured.tables, cache: cache).write(
            to: managed, sequence: captured.sequence)
        try runs.withFlushing { () throws(LogError) in
            for index in publisher.snapshot.indexes.all {
                runs.adopt(try runs.flush(index, through: captured.sequence, oldestLimit: .max))
            }
        }
        try directory.synchronize(site: "checkpoint.directory")

        var edits = [managed.addition(), try managed.completion(last: captured.sequence)]
        for (number, spilled) in tables.needed.sorted(by: { $0.key < $1.key }) where state.files[number] == nil {
            edits += [spilled.managed.addition(), try spilled.managed.completion(last: captured.sequence)]
            if spilled.managed.isDamaged { edits.append(.fileDamaged(number: number)) }
        }
        edits += try changedRuns(state, through: captured.sequence)
        edits.append(
            .checkpoint(
                CheckpointPosition(
                    file: managed.number, segment: position.segment.number, offset: position.offset,
                    previousHead: position.previousHead, sequence: captured.sequence,
                    wallNanoseconds: captured.wallNanoseconds)))
        edits.append(.durable(file: position.segment.number, offset: position.offset, head: position.previousHead))
        if let blobs = captured.blobs {
            edits.append(.durable(file: blobs.number, offset: blobs.end, head: blobs.head))
        }
        var openEnds = [position.segment.number: position.offset]
        if let blobs = captured.blobs { openEnds[blobs.number] = blobs.end }
        let settlement = try compactor.settlement(state, dead: captured.dead, openEnds: openEnds)
        edits += settlement.edits
        for root in captured.tables.all where root.nextID > state.nextIDs[root.table] ?? 1 {
            edits.append(.identifiers(table: root.table, next: root.nextID))
        }
        let unneeded = listed.keys.filter { tables.needed[$0] == nil }.sorted()
        for number in unneeded { edits.append(.fileDropped(number: number)) }
        if isClosing { edits.append(.clean) }
        // Files are taken for listed before they are: from here on a full disk must not be met.
        try manifest.makeRoom(editCount: edits.count)
        for file in tables.needed.values { file.managed.noteListed() }
        managed.noteListed()
        noteListed(through: captured.sequence)
        try manifest.commit(edits)

        compactor.noteSettled(settlement)
        removeDroppedRuns(state)
        for (handle, index) in tables.stored { cache.setStored(handle, file: tables.file, index: index) }
        for number in unneeded { listed[number]?.managed.noteDropped() }
        listed = tables.needed
        listed[managed.number] = tables.file
        directory.watch.note(
            .checkpointMade(
                sequence: captured.sequence, byteCount: manifest.state.files[managed.number]?.seal?.end ?? 0,
                nanoseconds: directory.watch.nanoseconds(since: begin)))
    }

    /// The edits that make the manifest list the runs that the indexes have, up to a transaction: later ones are not
    /// durable yet.
    private func changedRuns(_ state: ManifestState, through sequence: UInt64) throws(LogError) -> [ManifestEdit] {
        var edits: [ManifestEdit] = []
        for index in publisher.snapshot.indexes.all {
            if index.frozen.contains(where: { $0.lastSequence <= sequence }), edits.isEmpty {
                // Before the flush: there is something to do, whatever it will be.
                edits.append(.nextFileNumber(directory.nextFileNumber))
            }
            let present = Set(index.runs.map(\.description.fileNumber))
            for run in index.runs.reversed() where run.description.lastSequence <= sequence {
                guard state.files[run.description.fileNumber] == nil else { continue }
                edits += try RunStore.additions(of: run)
                if let managed = run.managed, managed.isDamaged { edits.append(.fileDamaged(number: managed.number)) }
            }
            for entry in state.runs where entry.index == index.definition.id.rawValue && !present.contains(entry.file) {
                edits += Self.removal(of: entry)
            }
        }
        for entry in state.runs where droppedIndexes.contains(entry.index) { edits += Self.removal(of: entry) }
        return edits
    }

    private static func removal(of entry: ManifestEdit.RunEntry) -> [ManifestEdit] {
        [.runDropped(index: entry.index, file: entry.file), .fileDropped(number: entry.file)]
    }

    private func noteListed(through sequence: UInt64) {
        for index in publisher.snapshot.indexes.all {
            for run in index.runs where run.description.lastSequence <= sequence { run.managed?.noteListed() }
        }
    }

    /// Freezes memtables, and takes the tables as they are, in one turn.
    private func capture() throws(LogError) -> Captured {
        sequencer.turn.lock()
        defer { sequencer.turn.unlock() }
        if let failure = publisher.failure {
            throw .poisoned(by: failure, ", so no checkpoint is made.")
        }
        sequencer.freezeMemtables()
        capturedFileNumber = directory.nextFileNumber
        let (completion, leads) = sequencer.enqueueBarrier()
        committedByteCount += sequencer.byteCountSinceCheckpoint + sequencer.deadBlobByteCount
        sequencer.byteCountSinceCheckpoint = 0
        sequencer.deadBlobByteCount = 0
        let blobs = sequencer.blobs
        return Captured(
            tables: sequencer.tables.captured, sequence: sequencer.sequence, wallNanoseconds: sequencer.wallNanoseconds,
            blobs: blobs.map { ($0.managed.number, $0.end, $0.previousHead) },
            fullBlobs: sequencer.takeFullBlobSegment(),
            dead: sequencer.deadByteCounts(), completion: completion,
            leads: leads)
    }
}
