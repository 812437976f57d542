/// The findings and actions of opening a store.
package struct OpenReport: Sendable, Equatable {
    /// Whether the store was created.
    package var wasCreated = false
    /// Whether it had been closed cleanly.
    package var wasClean = false
    /// Bytes of log replayed.
    package var replayedByteCount: UInt64 = 0
    package var replayedTransactionCount = 0
    /// Passes over tables that were dropped, if the tables were built from segments alone.
    package var droppedTablePassCount = 0
    /// Bytes of a torn tail that belonged to no transaction that could have been acknowledged.
    package var discardedByteCount: UInt64 = 0
    /// Transactions behind the last sync that were copied into a new segment.
    package var rescuedTransactionCount = 0
    /// Transactions that the log had and that were not found: with `.async` those that no sync had covered, and with
    /// `LogOptions.acceptsLostTail` others too.
    package var lostTail: LostTail?
    /// Files left by a crash.
    package var removedFiles: [String] = []
    /// Files that were moved to `quarantine/`, because their content is unknown.
    package var quarantinedFiles: [String] = []
    package var quarantinedByteCount: UInt64 = 0
    /// Checkpoints and runs that did not verify and were rebuilt.
    package var ignoredDerivedFiles: [String] = []

    package init() {}
}
