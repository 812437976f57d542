public import Foundation

// Safe because every stored value is one that Foundation means to be sent, and the key paths of sort descriptors are
// immutable.
/// What to fetch: entity, filter, order, window.
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    /// Which objects; nil for all.
    public var predicate: Predicate<T>?
    /// In which order; empty for the order of creation.
    public var sortBy: [SortDescriptor<T>]
    /// At most so many objects, 0 or nil for no bound.
    public var fetchLimit: Int?
    /// So many objects of the ordered result are left out at its beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includePendingChanges = true
    /// Properties whose row is loaded with the fetch, so that to touch them fires no fault; empty for none.
    ///
    /// A row is loaded whole, and what lies out of it never is: one property stands for all of the row.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose objects' rows are loaded with the fetch, so that to touch those objects fires no fault.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// Describes a fetch of all objects that satisfy `predicate`, in the order of `sortBy`.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
