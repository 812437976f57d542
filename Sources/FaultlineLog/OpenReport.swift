/// What opening a store found and did.
package struct OpenReport: Sendable, Equatable {
    /// The store was made.
    package var wasCreated = false
    /// It had been closed cleanly.
    package var wasClean = false
    /// Bytes of log read again.
    package var replayedByteCount: UInt64 = 0
    package var replayedTransactionCount = 0
    /// Bytes of a torn tail that belonged to no transaction that could have been acknowledged.
    package var discardedByteCount: UInt64 = 0
    /// Transactions behind the last sync that were copied into a new segment.
    package var rescuedTransactionCount = 0
    /// Transactions that the log had and that were not found: with `.async` those that no sync had covered, and with
    /// `LogOptions.acceptsLostTail` others too.
    package var lostTail: LostTail?
    /// Files that a crash left over.
    package var removedFiles: [String] = []
    /// Files that were set aside in `quarantine/`, because nobody can say what they are.
    package var quarantinedFiles: [String] = []
    package var quarantinedByteCount: UInt64 = 0
    /// Checkpoints and runs that did not verify and were made again.
    package var ignoredDerivedFiles: [String] = []

    package init() {}
}
