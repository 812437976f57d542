import FaultlineDisk

/// Keeping a state of the store that can be returned to.
///
/// It takes no more than a note of where the segments end: they are not compacted while it is kept, and tables and
/// indexes are made again from them. So nothing is copied, neither when it is noted nor when it is returned to.
extension Checkpointer {
    /// Keeps the state as it is now, in the place of one that is kept already; durable when this returns.
    ///
    /// - Parameter nanoseconds: For how long, by the clock.
    /// - Throws: What the disk says; the one before is kept then.
    func keepState(for nanoseconds: Int64) throws(LogError) {
        try whileOpen { () throws(LogError) in
            // No segment is to be on its way out, and none that is not sealed to have an end that is not known.
            compactor.giveUp()
            try checkpointWithRoom()
            let state = manifest.state
            guard let checkpoint = state.checkpoint else { return }
            let now = sequencer.clock.wallNanoseconds()
            let (until, isTooLong) = now.addingReportingOverflow(nanoseconds)
            let kept = KeptState(
                sequence: checkpoint.sequence, wallNanoseconds: checkpoint.wallNanoseconds, sinceNanoseconds: now,
                untilNanoseconds: isTooLong ? .max : until, nextFileNumber: capturedFileNumber,
                log: KeptState.SegmentPlace(
                    segment: checkpoint.segment, offset: checkpoint.offset, head: checkpoint.previousHead),
                blobs: openEnd(.blobSegment, state), cold: .none)
            try compactor.noteFeature(Feature.keptState)
            try manifest.makeRoom(editCount: 2)
            // What is moved from here on goes to a file of its own: one that a return drops, whatever becomes of manifests.
            try manifest.commit(compactor.sealCold() + [.stateKept(kept)])
            compactor.cold = nil
            noteKept()
        }
    }

    /// Where the segment of a kind ends that is not sealed, as the manifest was just told.
    private func openEnd(_ kind: FileKind, _ state: ManifestState) -> KeptState.SegmentPlace {
        guard let number = state.numbers(of: kind).last(where: { state.files[$0]?.seal == nil }),
            let file = state.files[number], number < capturedFileNumber
        else { return .none }
        return KeptState.SegmentPlace(segment: number, offset: file.durable, head: file.durableHead)
    }

    /// Ends the state that is kept, if there is one; durable when this returns.
    func releaseState() throws(LogError) { try whileOpen { () throws(LogError) in try release { _ in true } } }

    /// Ends the state that is kept, if its time is over; to be called under the lock.
    func releaseIfOver() throws(LogError) {
        try release { sequencer.clock.wallNanoseconds() >= $0.untilNanoseconds }
    }

    private func release(_ isWanted: (KeptState) -> Bool) throws(LogError) {
        guard let kept = manifest.state.kept, isWanted(kept) else { return }
        try manifest.commit([.stateReleased])
        noteKept()
    }

    /// Tells whoever counts which segments are kept now.
    private func noteKept() {
        let state = manifest.state
        // What is dead in segments that were kept may be worth it now.
        compactor.countWithoutChoice = (0, 0)
        sequencer.turn.withLock {
            sequencer.segmentSpace.setKept(state.files.keys.filter(state.isKept))
            sequencer.noteSpace()
        }
        directory.watch.space = SpaceFigures(state, heldByteCount: compactor.heldByteCount())
    }

    /// Puts the state that is kept in force again, in one step, and shuts the store: whatever was committed since is
    /// gone.
    ///
    /// - Throws: `.missing` if none is kept; what the disk says, and then the old or the new state is in force.
    func returnToKept() throws(LogError) {
        try whileOpen { () throws(LogError) in
            guard let kept = manifest.state.kept else {
                throw LogError(.missing, "No state is kept that the store could return to.", path: directory.path)
            }
            isShut = true
            compactor.giveUp()
            // Nobody writes any more, and nothing is on its way to a file.
            sequencer.turn.lock()
            let (completion, leads) = sequencer.enqueueBarrier()
            sequencer.turn.unlock()
            committer.finish(completion, leads: leads)
            if let failure = completion.failure { throw failure }
            let segment = try directory.createDurably(
                .hotSegment, headerSite: "segment.header", directorySite: "segment.directory")
            segment.noteListed()
            // The transactions behind the state's are gone, and their numbers are given again.
            directory.progress.begin(at: kept.sequence)
            try manifest.commit(
                manifest.state.editsReturning(to: kept, goingOnIn: segment.addition(begun: kept.sequence)),
                isFresh: true)
        }
    }
}

extension ManifestState {
    /// The edits that put a kept state in force again: its segments are sealed where they ended, all later ones go, and
    /// so do tables and indexes, to be made again.
    fileprivate func editsReturning(to kept: KeptState, goingOnIn segment: ManifestEdit) -> [ManifestEdit] {
        var edits: [ManifestEdit] = [.stateReleased]
        let sorted = files.sorted { $0.key < $1.key }
        for (number, file) in sorted where kept.owns(file.added) {
            guard let end = kept.end(of: number) else { continue }
            edits.append(
                .fileSealed(
                    SealedFile(
                        number: number, end: end.offset, chain: end.head,
                        firstSequence: file.kind == .coldSegment ? 0 : file.added.begun + 1,
                        lastSequence: kept.sequence)))
        }
        for run in runs { edits.append(.runDropped(index: run.index, file: run.file)) }
        for (number, file) in sorted where !kept.owns(file.added) { edits.append(.fileDropped(number: number)) }
        edits.append(segment)
        let hot = numbers(of: .hotSegment).filter { files[$0].map { kept.owns($0.added) } == true }
        edits.append(.checkpoint(Opening.beginning(hot, max(kept.wallNanoseconds, checkpoint?.wallNanoseconds ?? 0))))
        return edits
    }
}
