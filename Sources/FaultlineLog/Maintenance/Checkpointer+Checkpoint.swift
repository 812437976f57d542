import FaultlineDisk

/// One checkpoint: captured, written, listed.
extension Checkpointer {
    /// The files of a checkpoint, before the manifest lists them.
    private struct Written {
        let managed: ManagedFile
        let tables: CheckpointWriter.Result
        /// Checkpoint files without a listed page.
        let unneeded: [UInt64]
    }

    func checkpoint(isClosing: Bool) throws(LogError) {
        defer { noteSpace() }
        let begin = directory.watch.now()
        try releaseIfOver()
        // This seals the segment that blobs are moved to.
        if isClosing { compactor.giveUp() }
        compactor.countDropped()
        let captured = try capture()
        committer.finish(captured.request, leads: captured.leads)
        if let failure = captured.request.failure { throw failure }
        guard let position = captured.request.position else { throw .closed(directory.path) }
        let state = manifest.state
        if let full = captured.fullBlobs { compactor.oweSeal(of: full, last: captured.sequence, state) }
        for upload in captured.uploads where upload.isOver {
            compactor.oweSeal(of: upload.segment, last: captured.sequence, state)
            // No table names a blob in it.
            let number = upload.segment.managed.number
            if upload.placedEnd == 0, !state.isKept(number) { compactor.finished.insert(number) }
        }
        if try isStored(captured, at: position, in: state) {
            if isClosing, !state.isClean { try manifest.commit([.clean]) }
            return
        }

        let written = try write(captured)
        let (managed, tables) = (written.managed, written.tables)
        var edits = try additions(of: written, through: captured.sequence, to: state)
        edits += captured.edits(checkpoint: managed.number, at: position)
        let settlement = try compactor.settlement(state, dead: captured.dead, openEnds: captured.openEnds(position))
        edits += settlement.edits
        for root in captured.tables.all where root.nextID > state.nextIDs[root.table] ?? 1 {
            edits.append(.identifiers(table: root.table, next: root.nextID))
        }
        for number in written.unneeded { edits.append(.fileDropped(number: number)) }
        if isClosing { edits.append(.clean) }
        retain(state, dropping: settlement.dropped, through: captured.sequence)
        // Files are marked as listed before they are: from here on the disk must not be full.
        try manifest.makeRoom(editCount: edits.count)
        for file in tables.needed.values { file.managed.noteListed() }
        managed.noteListed()
        noteListed(through: captured.sequence)
        try manifest.commit(edits)
        letRest(written)

        compactor.noteSettled(settlement)
        removeDroppedRuns(state)
        replaceListed(written)
        directory.watch.note(
            .checkpointMade(
                sequence: captured.sequence, byteCount: manifest.state.files[managed.number]?.seal?.end ?? 0,
                nanoseconds: directory.watch.nanoseconds(since: begin)))
    }

    /// Passes on the bytes of the store's files.
    func noteSpace() {
        directory.watch.space = SpaceFigures(
            manifest.state, heldByteCount: compactor.heldByteCount(),
            retainedByteCount: retained?.byteCount ?? 0)
    }

    /// Lists the files of a state for readers of the past, before a checkpoint drops some of them.
    private func retain(_ state: ManifestState, dropping dropped: Set<UInt64>, through sequence: UInt64) {
        retained?.keep(
            state, dropping: dropped, newest: sequence, now: sequencer.clock.wallNanoseconds(),
            checkpointByteCount: options.checkpointByteCount
        ) { () throws(LogError) in try compactor.notePastStates() }
    }

    /// Whether the checkpoint in force stores a state already, or there is nothing to store.
    private func isStored(
        _ captured: CapturedState, at position: CapturedState.Position, in state: ManifestState
    ) throws(LogError) -> Bool {
        guard let last = state.checkpoint else {
            // Nothing was ever written.
            return captured.sequence == 0 && position.offset == UInt64(FileHeader.byteCount)
                && !compactor.needsCheckpoint
        }
        guard last.sequence == captured.sequence, last.segment == position.segment.number,
            last.offset == position.offset, !compactor.needsCheckpoint
        else { return false }
        return try changedRuns(state, through: captured.sequence).isEmpty
    }

    /// Stores the changed pages, and flushes memtables to runs; durable when this returns.
    private func write(_ captured: CapturedState) throws(LogError) -> Written {
        let managed = try directory.create(.tableCheckpoint)
        let tables = try CheckpointWriter(tables: captured.tables, cache: cache).write(
            to: managed, sequence: captured.sequence)
        try runs.withFlushing { () throws(LogError) in
            for index in publisher.snapshot.indexes.all {
                runs.adopt(try runs.flush(index, through: captured.sequence, oldestLimit: .max))
            }
        }
        try directory.synchronize(site: "checkpoint.directory")
        let unneeded = listed.keys.filter { tables.needed[$0] == nil }.sorted()
        return Written(managed: managed, tables: tables, unneeded: unneeded)
    }

    /// The edits that add the files of a checkpoint, and the changed runs.
    private func additions(
        of written: Written, through sequence: UInt64, to state: ManifestState
    ) throws(LogError) -> [ManifestEdit] {
        var edits = [written.managed.addition(), try written.managed.completion(last: sequence)]
        for (number, spilled) in written.tables.needed.sorted(by: { $0.key < $1.key }) where state.files[number] == nil
        {
            edits += [spilled.managed.addition(), try spilled.managed.completion(last: sequence)]
            if spilled.managed.isDamaged { edits.append(.fileDamaged(number: number)) }
        }
        return try edits + changedRuns(state, through: sequence)
    }

    /// Lets the files rest that the manifest lists and that do not change any more.
    private func letRest(_ written: Written) {
        directory.letRest(written.managed)
        for file in written.tables.needed.values { directory.letRest(file.managed) }
        let (state, snapshot) = (manifest.state, publisher.snapshot)
        for file in snapshot.files.files where state.files[file.number]?.seal != nil { directory.letRest(file) }
        for run in snapshot.indexes.all.flatMap(\.runs) {
            if let file = run.managed, state.files[file.number] != nil { directory.letRest(file) }
        }
        directory.noteOpenFiles()
    }

    /// Reads clean pages from the new files from now on.
    private func replaceListed(_ written: Written) {
        let tables = written.tables
        for (handle, index) in tables.stored { cache.setStored(handle, file: tables.file, index: index) }
        for number in written.unneeded { listed[number]?.managed.noteDropped() }
        listed = tables.needed
        listed[written.managed.number] = tables.file
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
    private func capture() throws(LogError) -> CapturedState {
        sequencer.turn.lock()
        defer { sequencer.turn.unlock() }
        if let failure = publisher.failure {
            throw .poisoned(by: failure, ", so no checkpoint is made.")
        }
        sequencer.freezeMemtables()
        capturedFileNumber = directory.nextFileNumber
        let (request, leads) = sequencer.enqueueBarrier()
        committedByteCount += sequencer.byteCountSinceCheckpoint + sequencer.account.deadBlobByteCount
        sequencer.byteCountSinceCheckpoint = 0
        sequencer.account.deadBlobByteCount = 0
        let blobs = sequencer.blobs
        return CapturedState(
            tables: sequencer.tables.captured, sequence: sequencer.sequence, wallNanoseconds: sequencer.wallNanoseconds,
            blobs: blobs.map { ($0.managed.number, $0.end, $0.previousHead) },
            fullBlobs: sequencer.takeFullBlobSegment(),
            uploads: sequencer.uploads.capture(segmentByteCount: sequencer.account.segmentByteCount),
            dead: sequencer.deadByteCounts(), request: request,
            leads: leads)
    }
}
