public import Foundation

// Safe because every stored value is one that Foundation intends to be sent, and key paths of sort descriptors and of
// stored properties are immutable.
/// Describes a fetch: entity, filter, order, window.
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    /// Selects the objects; nil for all.
    public var predicate: Predicate<T>?
    /// The order of the result; empty for the order of creation.
    public var sortBy: [SortDescriptor<T>]
    /// The greatest number of objects; 0 or nil for no bound.
    public var fetchLimit: Int?
    /// The number of objects to skip at the beginning of the ordered result.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includePendingChanges = true
    /// Properties whose row is loaded with the fetch, so that reading them fires no fault; empty for none.
    ///
    /// A row is loaded whole, and large values never are: one property stands for all of the row.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose objects' rows are loaded with the fetch, so that reading those objects fires no fault.
    ///
    /// `relationshipPathsForPrefetching` leads on from those objects.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
    /// Paths over several relationships: the rows of the objects at each step are loaded with the fetch.
    ///
    ///     descriptor.relationshipPathsForPrefetching = [[\Photo.album, \Album.owner]]
    ///
    /// Each path begins with a relationship of `T`; each next step is a relationship of the class that the step before
    /// leads to. A fetch throws `SwiftDataError.unsupportedKeyPath` for a path that does not. An empty path loads nothing.
    public var relationshipPathsForPrefetching: [[AnyKeyPath]] = []
    /// Whether objects of subclasses of `T` are left out.
    var leavesOutSubclasses = false

    /// Describes a fetch of all objects that satisfy `predicate`, in the order of `sortBy`.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension FetchDescriptor: Equatable {
    /// Whether both describe the same fetch.
    ///
    ///     if descriptor != current { reload(descriptor) }
    ///
    /// Predicates are equal if they have the same form and equal values: also two that were made in different places.
    /// Values of a type that is not `Equatable` are compared part by part.
    ///
    /// - Complexity: O(n) for n parts of the predicates.
    public static func == (left: FetchDescriptor, right: FetchDescriptor) -> Bool {
        left.fetchLimit == right.fetchLimit && left.fetchOffset == right.fetchOffset
            && left.includePendingChanges == right.includePendingChanges
            && left.leavesOutSubclasses == right.leavesOutSubclasses && left.sortBy == right.sortBy
            && left.propertiesToFetch == right.propertiesToFetch
            && left.relationshipKeyPathsForPrefetching == right.relationshipKeyPathsForPrefetching
            && left.relationshipPathsForPrefetching == right.relationshipPathsForPrefetching
            && PredicateComparison.areEqual(left.predicate, right.predicate)
    }
}
