import FaultlineDisk

/// Keeps a state of the store that can be restored.
///
/// It records only the ends of the segments: they are not compacted while the state is kept, and tables and indexes are
/// rebuilt from them. So nothing is copied, neither to keep the state nor to restore it.
extension Checkpointer {
    /// Keeps the present state in place of one that is kept already; durable when this returns.
    ///
    /// - Parameter nanoseconds: The duration, by the clock.
    /// - Throws: Disk errors; the previous state is still kept then.
    func keepState(for nanoseconds: Int64) throws(LogError) {
        try whileOpen { () throws(LogError) in
            // No segment may be about to be dropped, and the end of each unsealed one must be known.
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
            // Records moved from here on go to a new file, which a restore drops even if manifests are lost.
            try manifest.commit(compactor.sealCold() + [.stateKept(kept)])
            compactor.cold = nil
            noteKept()
        }
    }

    /// The end of the unsealed segment of a kind, as the manifest was just written.
    private func openEnd(_ kind: FileKind, _ state: ManifestState) -> KeptState.SegmentPlace {
        // A segment of uploads needs no end here: all that are not sealed are sealed by a return, and by a recovery.
        let open = state.numbers(of: kind).last { state.files[$0]?.seal == nil && !sequencer.uploads.isOwn($0) }
        guard let number = open, let file = state.files[number], number < capturedFileNumber
        else { return .none }
        return KeptState.SegmentPlace(segment: number, offset: file.durable, head: file.durableHead)
    }

    /// Releases the kept state, if there is one; durable when this returns.
    func releaseState() throws(LogError) { try whileOpen { () throws(LogError) in try release { _ in true } } }

    /// Releases the kept state if it has expired; to be called under the lock.
    func releaseIfOver() throws(LogError) {
        try release { sequencer.clock.wallNanoseconds() >= $0.untilNanoseconds }
    }

    private func release(_ isWanted: (KeptState) -> Bool) throws(LogError) {
        guard let kept = manifest.state.kept, isWanted(kept) else { return }
        try manifest.commit([.stateReleased])
        noteKept()
    }

    /// Passes the set of kept segments to the counts of space.
    private func noteKept() {
        let state = manifest.state
        // Dead bytes in segments that were kept may be worth compacting now.
        compactor.countWithoutChoice = (0, 0, 0)
        sequencer.turn.withLock {
            sequencer.account.segments.setKept(state.files.keys.filter(state.isKept))
            sequencer.account.note()
        }
        noteSpace()
    }

    /// Restores the kept state, in one step, and shuts the store: later commits are gone.
    ///
    /// - Throws: `.missing` if none is kept; disk errors, after which the old or the new state is in force.
    func returnToKept() throws(LogError) {
        try whileOpen { () throws(LogError) in
            guard let kept = manifest.state.kept else {
                throw LogError(.missing, "No state is kept that the store could return to.", path: directory.path)
            }
            isShut = true
            compactor.giveUp()
            // No thread writes any more; this waits for queued frames.
            sequencer.turn.lock()
            let (request, leads) = sequencer.enqueueBarrier()
            let uploads = sequencer.uploads.capture(segmentByteCount: sequencer.account.segmentByteCount)
            sequencer.turn.unlock()
            committer.finish(request, leads: leads)
            if let failure = request.failure { throw failure }
            let segment = try directory.createDurably(
                .hotSegment, headerSite: "segment.header", directorySite: "segment.directory")
            segment.noteListed()
            // The transactions after the state's are gone, and their numbers will be used again.
            try retained?.remove(behind: kept.sequence)
            directory.progress.begin(at: kept.sequence)
            try manifest.commit(
                manifest.state.editsReturning(
                    to: kept, goingOnIn: segment.addition(begun: kept.sequence), uploads.map(\.segment)),
                isFresh: true)
        }
    }
}

extension ManifestState {
    /// The edits that restore a kept state: its segments are sealed at their ends, all later ones are dropped, and so
    /// are tables and indexes, to be rebuilt.
    fileprivate func editsReturning(
        to kept: KeptState, goingOnIn segment: ManifestEdit, _ uploads: [BlobSegment]
    ) -> [ManifestEdit] {
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
        for upload in uploads {
            guard let file = files[upload.managed.number], kept.owns(file.added) else { continue }
            edits.append(.fileSealed(upload.seal(begun: file.added.begun, last: kept.sequence)))
        }
        for run in runs { edits.append(.runDropped(index: run.index, file: run.file)) }
        for (number, file) in sorted where !kept.owns(file.added) { edits.append(.fileDropped(number: number)) }
        edits.append(segment)
        let hot = numbers(of: .hotSegment).filter { files[$0].map { kept.owns($0.added) } == true }
        edits.append(.checkpoint(.beginning(of: hot, max(kept.wallNanoseconds, checkpoint?.wallNanoseconds ?? 0))))
        return edits
    }
}
