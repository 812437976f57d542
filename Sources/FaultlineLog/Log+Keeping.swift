import FaultlineDisk

/// A state of the store that it can return to, for reports.
package struct KeptStateFigures: Sendable, Equatable {
    /// Its newest transaction.
    package let sequence: UInt64
    /// When it was kept, and when it ends: nanoseconds since 1970, by the clock.
    package let sinceNanoseconds: Int64
    package let untilNanoseconds: Int64
    /// Bytes of its segments that the newest state does not need: a hint, which takes deletes for live.
    package let heldByteCount: UInt64
}

extension Log {
    /// Keeps the state of now for some time, so that the store can return to it; one that is kept already ends.
    ///
    /// Its segments are not compacted meanwhile: what dies in them stays on the disk. It outlives closing and crashes;
    /// the first checkpoint after its time ends it.
    ///
    /// Durability: kept when this returns.
    ///
    /// - Parameter nanoseconds: For how long, by the clock.
    /// - Throws: `.closed`, `.readOnly`; what the disk says, and then the state kept before still is.
    /// - Complexity: That of a checkpoint.
    package func keepState(for nanoseconds: Int64) throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.keepState(for: nanoseconds)
    }

    /// Ends the state that is kept, if there is one; compaction gives its bytes back.
    ///
    /// - Throws: `.closed`, `.readOnly`; what the disk says.
    package func releaseKeptState() throws(LogError) {
        let writing = try writable()
        if hasEnded { throw .closed(path) }
        try writing.checkpointer.releaseState()
        writing.maintainer.look()
    }

    /// Whether the kept state, if there is one, holds a segment as it is.
    package func isHeldByKeptState(segment: UInt64) -> Bool {
        manifestState.kept.map { segment < $0.nextFileNumber } ?? false
    }

    /// The state that is kept.
    ///
    /// - Parameter countsLive: Whether to count what it holds from the tables, which reads all their pages.
    /// - Returns: Nil if none is.
    /// - Throws: Only where it is counted: what the disk says.
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

    /// Whether what is dead in segments was not counted, because a table was dropped since the last checkpoint.
    package var hasUncountedDead: Bool {
        guard let sequencer = writing?.sequencer else { return false }
        return sequencer.turn.withLock { sequencer.uncountedDrop != nil }
    }

    /// Puts the state that is kept in force again, and closes the store: all transactions since are gone.
    ///
    /// Durability: one step. After an error, or a crash, the store is in the one state or the other; it has to be opened
    /// again in any case.
    ///
    /// - Throws: `.lockedByAnother` if this process has opened the store more than once, and `.missing` if no state is
    ///   kept: then it stays open; what the disk says.
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
