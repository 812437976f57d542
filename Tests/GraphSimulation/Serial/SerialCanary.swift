/// A rule that is broken on purpose between a thread and the file, or in the check: each must be caught.
package enum SerialCanary: String, CaseIterable, Sendable {
    /// A number is written down that was not set.
    case numbers
    /// A reference is written down that was not set.
    case references
    /// A deletion is written down that was not made.
    case deletions
    /// A fetch shows an old state.
    case stale
    /// Two saves change places.
    case order
    /// A rollback is written down that was not made.
    case rollbacks
    /// The check allows fewer members than the store.
    case bounds
    /// The check knows no merge policies.
    case policies
    /// A unique name is written down that was not given.
    case names
    /// An older schema may drop the values that a newer one has saved.
    case schemas
    /// A save returns before it is durable.
    case cuts
}
