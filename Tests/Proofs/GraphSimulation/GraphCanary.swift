/// A rule that is broken intentionally, in the plain model or between it and the store: each must be detected.
package enum GraphCanary: String, CaseIterable, Sendable {
    /// The model ignores cascades.
    case cascades
    /// The model denies no deletion.
    case denies
    /// The model clears no reference to a deleted object.
    case clears
    /// The model ignores inverses.
    case inverses
    /// The model ignores the order of members.
    case order
    /// A save is not forwarded to the store.
    case saves
    /// A rollback is not forwarded to the store.
    case rollbacks
    /// A large value is not forwarded to the store.
    case photos
    /// The model forgets another context's saves.
    case others
    /// The model ignores that a new object replaces the one with its name.
    case replacements
    /// The model ignores that machines have no mark in common.
    case marks
    /// A fetch of a class leaves out the objects of its subclasses.
    case classes
    /// A search of texts loses a posting.
    case postings
    /// A stream loses its last object.
    case streams
}
