import FaultlineDisk

extension Log {
    /// Moves a log that is open for reading to the newest state that another process is known to have synchronized.
    ///
    /// Does nothing to a log that is open for writing: this process makes every state of it. Existing snapshots stay as
    /// they are. A transaction is known to be synchronized once a later one, or a checkpoint, says so.
    ///
    /// - Complexity: Three calls of the disk if there is nothing new; else that of an opening: the log since the last
    ///   checkpoint is replayed.
    /// - Throws: The errors of opening; the state is then unchanged, and the next call tries again.
    package func follow() throws(LogError) {
        guard let follower, !hasEnded else { return }
        try follower.follow(in: directory) { () throws(LogError) in
            let opening = Opening(
                path: path, disk: directory.disk, clock: clock, options: options, deriver: deriver, cache: cache,
                blockCache: blockCache, lock: storeLock)
            let opened = try opening.run()
            var tables = opened.replay.tables
            publisher.show(opened.replay.snapshot(&tables))
            return opened
        }
    }

    /// Whether a hold in use has the newest published state; false if that may be another process's.
    @inline(__always)
    package func isNewest(_ hold: SnapshotHold) -> Bool { follower == nil && publisher.publishes(hold.reference) }
}

extension Replay {
    /// The state at the end of the replay.
    func snapshot(_ tables: inout WorkingTables) -> Snapshot {
        let captured = tables.capture()
        return Snapshot(sequence: sequence, tables: captured, indexes: memtables.indexSet, files: files)
    }
}
