/// A rule that is broken on purpose, between the store and the model: each must be caught.
package enum ModelCanary: String, CaseIterable, Sendable {
    /// A row is read as it was before its last change.
    case readsStaleRows
    /// A delete is not passed on.
    case forgetsDeletes
    /// An object keeps the key that it gave up.
    case keepsKeys
    /// A transaction that is given up is committed.
    case commitsWhatIsGivenUp
    /// A snapshot moves on with the store.
    case movesSnapshots
    /// A range of a blob begins a byte late.
    case shiftsRanges
    /// The disk does not make commits durable.
    case leavesCommitsVolatile
    /// One configuration sees something else, which no comparison with the model could notice.
    case seesOtherwise
}
