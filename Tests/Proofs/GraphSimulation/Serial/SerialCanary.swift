/// A rule that is broken intentionally between a thread and the file, or in the check: each must be detected.
package enum SerialCanary: String, CaseIterable, Sendable {
    /// A number is recorded that was not set.
    case numbers
    /// A reference is recorded that was not set.
    case references
    /// A deletion is recorded that was not made.
    case deletions
    /// A fetch shows an old state.
    case stale
    /// Two saves are exchanged.
    case order
    /// A rollback is recorded that was not made.
    case rollbacks
    /// The check allows fewer members than the store.
    case bounds
    /// The check ignores merge policies.
    case policies
    /// A unique name is recorded that was not given.
    case names
    /// An older schema may drop the values that a newer one has saved.
    case schemas
    /// A save returns before it is durable.
    case cuts
    /// A rule that refuses a save is written down for another object.
    case refusals
    /// The last object of a page is left out.
    case pages
    /// The last object of a stream is left out.
    case streams
}
