/// How a save treats objects that another save has changed since this context has read them.
///
/// All saves in the same store count: those of other contexts, batches, the containers of another schema. A property
/// counts as changed elsewhere if its stored value differs from the value that was read: a row that was written again
/// with the same values is no conflict. Collections are not compared: members that join or leave here and elsewhere all
/// do.
///
/// The names and meanings are those of Core Data's merge policies.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing is saved: the save throws one `MergeConflictError` with all conflicts.
    case error
    /// Property by property; if both sides have changed one, the store's value stays.
    ///
    /// An object that was deleted elsewhere loses its changes. One that was deleted here and changed elsewhere stays.
    case mergeByPropertyStoreTrump
    /// Property by property; if both sides have changed one, this context's value is saved: SwiftData's rule, and the
    /// default.
    case mergeByPropertyObjectTrump
    /// The object is saved with all its values in this context, including properties that were only changed elsewhere.
    ///
    /// Two things stay as the store has them, because their original values are unknown: large values that were not set
    /// here, and references to deleted objects.
    case overwrite
    /// Changes of objects in conflict are dropped, and all others are saved.
    case rollback
}
