/// A rule that is broken on purpose, in the plain model or between it and the store: each must be caught.
package enum GraphCanary: String, CaseIterable, Sendable {
    /// The model follows no cascade.
    case cascades
    /// The model denies nothing.
    case denies
    /// The model clears no reference to a deleted object.
    case clears
    /// The model knows no inverses.
    case inverses
    /// The model does not know in which order members stand.
    case order
    /// A save is not passed on.
    case saves
    /// A rollback is not passed on.
    case rollbacks
    /// A large value is not passed on.
    case photos
    /// What another context has saved is forgotten.
    case others
    /// The model does not know that a new object takes the place of one with its name.
    case replacements
    /// A stream loses its last object.
    case streams
}
