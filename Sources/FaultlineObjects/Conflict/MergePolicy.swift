/// What a save does with objects that others have changed since this context has read them.
///
/// Others are all that save in the same store: other contexts, batches, the containers of another schema. A property
/// counts as changed elsewhere if its stored value is another than was read: a row that was written again with the same
/// values is no conflict. Collections are not compared: members that join or leave here and elsewhere all do.
///
/// The names and meanings are those of Core Data's merge policies.
public enum MergePolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing is saved: the save throws one `MergeConflictError` with all conflicts.
    case error
    /// Property by property; where both have changed one, that of the store stays.
    ///
    /// An object that was deleted elsewhere loses its changes, and one that was deleted here and changed elsewhere stays.
    case mergeByPropertyStoreTrump
    /// Property by property; where both have changed one, that of this context is saved: SwiftData's rule, and the default.
    case mergeByPropertyObjectTrump
    /// The object is saved as it is here, with all its properties, those included that were only changed elsewhere.
    ///
    /// Two things stay as the store has them, because what was read of them is gone: values out of the row that were not
    /// set here, and references to objects that were deleted.
    case overwrite
    /// Changes of objects in conflict are dropped, and all others saved.
    case rollback
}
