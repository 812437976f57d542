package import FaultlineDisk

extension Log {
    /// Checks the invariants of the state that the log has in memory: of the sequencer, and of all tables, pages and
    /// memtables.
    ///
    /// Waits for the writer lock, so it must not be called inside a transaction.
    ///
    /// - Throws: The first broken rule.
    /// - Complexity: O(pages of all tables + entries of all memtables); reads no file.
    package func checkInvariants() throws(BrokenInvariant) {
        guard let sequencer = writing?.sequencer else { return try publisher.snapshot.checkInvariants() }
        sequencer.turn.lock()
        defer { sequencer.turn.unlock() }
        try sequencer.checkInvariants()
        let snapshot = publisher.snapshot
        try snapshot.checkInvariants()
        if sequencer.tables.captured !== snapshot.tables {
            for root in sequencer.tables.captured.all { try root.checkInvariants(capturedAt: sequencer.sequence) }
        }
        // Only the holder of the writer lock appends to memtables.
        for state in snapshot.indexes.all {
            for memtable in [state.active] + state.frozen { try memtable.checkInvariants() }
        }
    }
}

extension Snapshot {
    /// Checks the invariants of all tables and of their pages, which no later transaction may change.
    ///
    /// - Throws: The first broken rule.
    /// - Complexity: O(pages of all tables); reads no file.
    package func checkInvariants() throws(BrokenInvariant) {
        for root in tables.all { try root.checkInvariants(capturedAt: sequence) }
    }
}
