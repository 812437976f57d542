/// A deliberate error between the store and the model, which the trials must detect.
package enum ModelCanary: String, CaseIterable, Sendable {
    /// A row is read as it was before its last change.
    case readsStaleRows
    /// A delete is not forwarded to the log.
    case forgetsDeletes
    /// An object keeps its former key.
    case keepsKeys
    /// An object lacks one of its several entries in an index.
    case losesPostings
    /// A transaction that should be rolled back is committed.
    case commitsWhatIsGivenUp
    /// A snapshot sees later transactions.
    case movesSnapshots
    /// A range of a blob begins a byte late.
    case shiftsRanges
    /// The disk does not make commits durable.
    case leavesCommitsVolatile
    /// One configuration sees a different result, which no comparison with the model could detect.
    case seesOtherwise
}
