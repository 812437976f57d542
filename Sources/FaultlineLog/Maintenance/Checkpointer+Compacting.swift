import FaultlineDisk

/// Compaction: segments are chosen, moved step by step, and dropped by the checkpoints that become due.
extension Checkpointer {
    /// A segment that would free less than this part is not worth the syncs.
    private static let gainDivisor: UInt64 = 4
    private static let roundCountMax = 4
    /// Bytes that may be copied for each committed byte: from segments that are two thirds live, this frees one byte.
    private static let copiesPerCommittedByte: UInt64 = 2

    /// Compacts the segments that are due, as far as the pace allows; to be called after a checkpoint.
    ///
    /// - Parameters:
    ///   - isPaced: Whether to copy at most twice the bytes committed since the last time, and small segments that are
    ///     merged, unless segments take more than they may. The rest waits for the next call.
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
            if isPaced { allowance += lock.withLock { compactor.gain.takeMergeAllowance() } }
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

    /// Compacts everything worthwhile, however little it frees; first seals the segments being written that are partly
    /// dead, so that they are reached.
    ///
    /// - Parameters:
    ///   - isClosed: Checked after each mebibyte: closing the store does not wait for the rest.
    ///   - progress: Gets the bytes copied so far, after each mebibyte.
    /// - Returns: The work done since the last call, with that of the maintenance thread.
    /// - Throws: `.closed`; disk errors. Committed data is not lost by them.
    func compact(until isClosed: () -> Bool, progress: (UInt64) -> Void) throws(LogError) -> CompactionReport {
        // Segments that are settled only now may be worth it too, and deletes that were needed until now are not.
        for _ in 0..<Self.roundCountMax {
            try sealOpenSegments()
            try run()
            let isDue = try whileOpen { () throws(LogError) in
                if !compactor.isUnderWay { try compactor.choose(minimumGain: 1, smallCountMax: 1) }
                return compactor.isUnderWay
            }
            guard isDue else { break }
            var allowance = UInt64.max
            try move(&allowance) {
                progress(lock.withLock { compactor.report.movedByteCount })
                return isClosed()
            }
            if isClosed() { throw .closed(directory.path) }
        }
        try run()
        return lock.withLock { compactor.takeReport() }
    }

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
}

/// The segments that are being written: compaction reaches them once they are sealed.
extension Checkpointer {
    /// Seals the segments that are being written of which more than a quarter would be freed: of the log, of blobs, of
    /// moved records.
    ///
    /// After a crash in the middle each of them is sealed or goes on.
    ///
    /// - Throws: Disk errors; committed data is not lost by them.
    func sealOpenSegments() throws(LogError) {
        try whileOpen { () throws(LogError) in
            let numbers = try compactor.mostlyDeadOpenSegments()
            if let cold = compactor.cold, numbers.contains(cold.managed.number), !compactor.isUnderWay {
                try manifest.commit(compactor.sealCold())
                compactor.cold = nil
                // It may be compacted once a checkpoint has its moves.
                compactor.hasPublished = true
            }
            try sealLog(numbers)
        }
    }

    /// Seals the open segments of the log and of blobs whose numbers are given.
    private func sealLog(_ numbers: Set<UInt64>) throws(LogError) {
        let (request, leads, blobs) = try sequencer.turn.withLock {
            () throws(LogError) -> (CommitRequest, Bool, (segment: BlobSegment?, last: UInt64)) in
            if let failure = publisher.failure { throw .poisoned(by: failure, ", so nothing is sealed.") }
            let next = numbers.contains(sequencer.logEnd.segment.number) ? try sequencer.endSegment() : nil
            let barrier = sequencer.enqueueBarrier(next: next)
            let isDead = sequencer.blobs.map { numbers.contains($0.managed.number) } ?? false
            return (barrier.request, barrier.leads, (isDead ? sequencer.takeBlobSegment() : nil, sequencer.sequence))
        }
        committer.finish(request, leads: leads)
        if let failure = request.failure { throw failure }
        if let segment = blobs.segment { compactor.oweSeal(of: segment, last: blobs.last, manifest.state) }
    }
}
