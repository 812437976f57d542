import FaultlineDisk

/// A state that the store can restore, for reports.
package struct KeptStateFigures: Sendable, Equatable {
    /// Its newest transaction.
    package let sequence: UInt64
    /// The time when it was kept, and when it expires: nanoseconds since 1970, by the clock.
    package let sinceNanoseconds: Int64
    package let untilNanoseconds: Int64
    /// Bytes of its segments that the newest state does not need: a hint, which counts deletes as live.
    package let heldByteCount: UInt64
}

extension Log {
    /// Keeps the present state for some time, so that the store can restore it; replaces a state that is kept already.
    ///
    /// Its segments are not compacted during that time: their dead bytes stay on the disk. It outlives closing and
    /// crashes; the first checkpoint after its time ends it.
    ///
    /// Durability: durable when this returns.
    ///
    /// - Parameter nanoseconds: The duration, by the clock.
    /// - Throws: `.closed`, `.readOnly`; disk errors, and then the state kept before is still kept.
    /// - Complexity: That of a checkpoint.
    package func keepState(for nanoseconds: Int64) throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.keepState(for: nanoseconds)
    }

    /// Releases the kept state, if there is one; compaction frees its bytes.
    ///
    /// - Throws: `.closed`, `.readOnly`; disk errors.
    package func releaseKeptState() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.releaseState()
        writing.maintainer.look()
    }

    /// Whether the kept state, if there is one, needs a segment unchanged.
    package func isHeldByKeptState(segment: UInt64) -> Bool {
        manifestState.kept.map { segment < $0.nextFileNumber } ?? false
    }

    /// The kept state.
    ///
    /// - Parameter countsLive: Whether to count its live bytes from the tables, which reads all their pages.
    /// - Returns: Nil if there is none.
    /// - Throws: Disk errors, if live bytes are counted.
    package func keptState(countsLive: Bool = false) throws(LogError) -> KeptStateFigures? {
        let state = manifestState
        guard let kept = state.kept else { return nil }
        let live = countsLive ? try LiveBytes(snapshot()) : nil
        let dead = writing.map { writing in writing.sequencer.turn.withLock { writing.sequencer.deadByteCounts() } }
        var held: UInt64 = 0
        for (number, file) in state.files where kept.owns(file.added) {
            let end = kept.end(of: number)?.offset ?? file.seal?.end ?? file.durable
            if let live {
                held += end - min(live[number], end)
            } else if let dead {
                held += min(dead[UInt32(truncatingIfNeeded: number)] ?? 0, end)
            } else {
                held += min(file.total - min(file.live, file.total), end)
            }
        }
        return KeptStateFigures(
            sequence: kept.sequence, sinceNanoseconds: kept.sinceNanoseconds,
            untilNanoseconds: kept.untilNanoseconds, heldByteCount: held)
    }

    /// Whether dead bytes of segments are not counted yet, because a table was dropped since the last checkpoint.
    package var hasUncountedDead: Bool {
        guard let sequencer = writing?.sequencer else { return false }
        return sequencer.turn.withLock { sequencer.account.uncountedDrop != nil }
    }

    /// Restores the kept state, and closes the store: all later transactions are gone.
    ///
    /// Durability: one step. After an error, or a crash, the store has either the one state or the other; it must be
    /// opened again in any case.
    ///
    /// - Throws: `.lockedByAnother` if this process has opened the store more than once, and `.missing` if no state is
    ///   kept: then the store stays open; disk errors.
    /// - Complexity: O(files). The next opening reads all segments, but for blobs.
    package func returnToKeptState() throws(LogError) {
        defer { directory.watch.drain() }
        try endAlone { (writing) throws(LogError) in
            guard writing.manifest.state.kept != nil else {
                throw LogError(.missing, "No state is kept that the store could return to.", path: path)
            }
        } with: { (writing) throws(LogError) in
            try writing.checkpointer.returnToKept()
        }
    }
}
