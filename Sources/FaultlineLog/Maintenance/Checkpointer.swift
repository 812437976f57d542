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
    /// Set when the store is closed: from then on nothing may be written to it.
    var isShut = false
    /// Deleted indexes; the next checkpoint drops their runs.
    private var droppedIndexes: Set<UInt32> = []
    /// The open runs of those indexes.
    private var droppedRuns: [Run] = []
    /// The number of the next file when tables were captured last.
    private(set) var capturedFileNumber: UInt64 = 0
    /// Bytes of log, and of deleted blobs, for which no compaction was paced yet.
    private var committedByteCount: UInt64 = 0

    init(_ parts: LogParts, _ sequencer: Sequencer, _ compactor: Compactor, listed: [UInt64: PageFile]) {
        directory = parts.directory
        manifest = parts.manifest
        publisher = parts.publisher
        cache = parts.cache
        options = parts.options
        holds = parts.holds
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

    /// Makes a checkpoint; uses the ballast for one that frees files, now or by the compaction that it allows.
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
        // The remains of the first attempt take space that the second needs.
        directory.removeUnneededFiles()
        try checkpoint(isClosing: isClosing)
    }

    /// Merges the runs that are due; on a full disk another time, since compaction must not wait for that.
    private func mergeDue() throws(LogError) {
        do throws(LogError) {
            try runs.mergeDue()
        } catch {
            guard error.code == .fullDisk else { throw error }
            directory.noteFull(error)
        }
    }

    /// Removes unneeded files, and reserves the ballast.
    private func holdSpaceBack() {
        directory.removeUnneededFiles()
        space.holdBack(storeByteCount: manifest.state.segmentByteCount)
    }

    /// Runs `body` under the lock, unless the store was closed: then another process may own its lock.
    func whileOpen<R>(_ body: () throws(LogError) -> R) throws(LogError) -> R {
        lock.lock()
        defer { lock.unlock() }
        if isShut { throw .closed(directory.path) }
        return try body()
    }

    // MARK: Compaction

    /// Bytes that may be copied for each committed byte: from segments that are two thirds live, this frees one byte.
    private static let copiesPerCommittedByte: UInt64 = 2

    /// Compacts the segments that are due, as far as the pace allows; to be called after a checkpoint.
    ///
    /// - Parameters:
    ///   - isPaced: Whether to copy at most twice the bytes committed since the last time, unless segments take more
    ///     than they may. The rest waits for the next call.
    ///   - isStopped: Checked after each step.
    /// - Throws: Disk errors; committed data is not lost by them.
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
            // Each choice makes the segments smaller, or excludes one, so the loop ends. Without this check small
            // records and blobs, hardly larger than their origins and placements, would be moved for ever.
            let isWorthIt = lock.withLock {
                compactor.isUnderWay || compactor.wasWorthIt(minimumGain: minimumGain / 2)
            }
            guard isWorthIt, allowance > 0 || sequencer.account.isShort else { return }
        }
    }

    /// Chooses the segments to compact, unless a choice is in progress or none is worth it.
    ///
    /// The bytes to copy are at most a fraction of the live bytes: a segment that is hardly worth it now may be dead
    /// soon.
    ///
    /// - Returns: The least that the choice should free; nil if there is nothing to do.
    private func chooseDue() throws(LogError) -> UInt64? {
        try whileOpen { () throws(LogError) in
            let byteCount = sequencer.turn.withLock { sequencer.account.segmentByteCount }
            let minimumGain = byteCount / Self.gainDivisor
            if !compactor.isUnderWay, compactor.mayBeDue(minimumGain: minimumGain) {
                try compactor.choose(minimumGain: minimumGain, copiedMax: byteCount)
            }
            return compactor.isUnderWay ? minimumGain : nil
        }
    }

    /// Compacts until the waiting writer has reclaimed its part; if that is impossible, segments may take more.
    ///
    /// Errors are reported, but do not make a transaction fail: if nothing can be written, its own write fails.
    ///
    /// - Parameter isStopped: Checked after each step.
    func relieve(until isStopped: () -> Bool) {
        sequencer.turn.withLock { sequencer.account.demand() }
        do throws(LogError) {
            try compactDue(isPaced: false) { !sequencer.account.isShort || isStopped() }
            if sequencer.account.isShort, !isStopped() {
                // Segments written since the last checkpoint may be worth it too.
                try run()
                try compactDue(isPaced: false) { !sequencer.account.isShort || isStopped() }
            }
        } catch {
            note(error)
        }
        sequencer.turn.withLock { if sequencer.account.isShort, !isStopped() { sequencer.account.tolerate() } }
    }

    /// Compacts until segments take no more than they may, without tolerance; if that is impossible, until nothing is
    /// worth it.
    ///
    /// - Parameter isStopped: Checked after each step.
    /// - Throws: Disk errors; committed data is not lost by them.
    func reduceSpace(until isStopped: () -> Bool) throws(LogError) {
        // Segments written since the last checkpoint may be worth it too.
        try run()
        try compactDue(isPaced: false) { !sequencer.account.hasExcess || isStopped() }
    }

    /// Whether segments take more than they may.
    var hasExcess: Bool { sequencer.account.hasExcess }

    /// Compacts everything worthwhile, however little it frees.
    ///
    /// - Parameters:
    ///   - isClosed: Checked after each mebibyte: closing the store does not wait for the rest.
    ///   - progress: Gets the bytes copied so far, after each mebibyte.
    /// - Returns: The work done since the last call, with that of the maintenance thread.
    /// - Throws: `.closed`; disk errors. Committed data is not lost by them.
    func compact(until isClosed: () -> Bool, progress: (UInt64) -> Void) throws(LogError) -> CompactionReport {
        try run()
        // Segments that are settled only now may be worth it too.
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

    /// A segment that would free less than this part is not worth the syncs.
    private static let gainDivisor: UInt64 = 4
    private static let roundCountMax = 4

    /// Moves the chosen segments, step by step, and makes the checkpoints that become due.
    ///
    /// - Parameters:
    ///   - allowance: Bytes that may be copied, unless segments take more than they may; lowered by the bytes copied.
    ///   - isStopped: Checked after each step.
    /// - Throws: Disk errors.
    private func move(_ allowance: inout UInt64, until isStopped: () -> Bool) throws(LogError) {
        while allowance > 0 || sequencer.account.isShort, !isStopped() {
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

    /// Whether enough was written for a checkpoint, or a checkpoint would free enough compacted segments.
    private func isCheckpointWorthIt() -> Bool {
        let (isDue, byteCount) = sequencer.turn.withLock {
            (sequencer.isCheckpointDue, sequencer.account.segmentByteCount)
        }
        return isDue || compactor.finishedByteCount >= (sequencer.account.isShort ? byteCount / 2 : byteCount * 2)
    }

    // MARK: Held snapshots

    /// Takes idle old snapshots away from their holders, and removes the files that only they needed.
    ///
    /// - Returns: Whether some are left, so that this must be called again.
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
            // A segment without dead bytes so far has no count.
            return sum + (file.total > 0 ? file.live : file.seal?.end ?? file.durable)
        }
        return holds.moveOn(
            compactor.heldFiles(), liveByteCount: live, newest: publisher.snapshot.sequence)
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
    private func removeDroppedRuns(_ state: ManifestState) {
        // Indexes whose table was already gone at the opening have no open runs.
        for entry in state.runs where droppedIndexes.contains(entry.index) && !directory.isInUse(entry.file) {
            directory.remove(directory.path(.indexRun, entry.file))
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

    /// The state that the checkpoint stores.
    private struct Captured {
        let tables: TableSet
        let sequence: UInt64
        let wallNanoseconds: Int64
        let blobs: (number: UInt64, end: UInt64, head: UInt32)?
        /// The segment of those blobs, if it is so large that the next ones go to another.
        let fullBlobs: BlobSegment?
        let dead: [UInt32: UInt64]
        let completion: Completion
        let leads: Bool
    }

    private func checkpoint(isClosing: Bool) throws(LogError) {
        defer { directory.watch.space = SpaceFigures(manifest.state, heldByteCount: compactor.heldByteCount()) }
        let begin = directory.watch.now()
        try releaseIfOver()
        // This seals the segment that blobs are moved to.
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
        // Files are marked as listed before they are: from here on the disk must not be full.
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

    /// The edits that list the indexes' present runs, up to a transaction: later ones are not durable yet.
    private func changedRuns(_ state: ManifestState, through sequence: UInt64) throws(LogError) -> [ManifestEdit] {
        var edits: [ManifestEdit] = []
        for index in publisher.snapshot.indexes.all {
            if index.frozen.contains(where: { $0.lastSequence <= sequence }), edits.isEmpty {
                // Before the flush: there will be some edit.
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

    /// Freezes memtables, and captures the tables, under one hold of the writer lock.
    private func capture() throws(LogError) -> Captured {
        sequencer.turn.lock()
        defer { sequencer.turn.unlock() }
        if let failure = publisher.failure {
            throw .poisoned(by: failure, ", so no checkpoint is made.")
        }
        sequencer.freezeMemtables()
        capturedFileNumber = directory.nextFileNumber
        let (completion, leads) = sequencer.enqueueBarrier()
        committedByteCount += sequencer.byteCountSinceCheckpoint + sequencer.account.deadBlobByteCount
        sequencer.byteCountSinceCheckpoint = 0
        sequencer.account.deadBlobByteCount = 0
        let blobs = sequencer.blobs
        return Captured(
            tables: sequencer.tables.captured, sequence: sequencer.sequence, wallNanoseconds: sequencer.wallNanoseconds,
            blobs: blobs.map { ($0.managed.number, $0.end, $0.previousHead) },
            fullBlobs: sequencer.takeFullBlobSegment(),
            dead: sequencer.deadByteCounts(), completion: completion,
            leads: leads)
    }
}
