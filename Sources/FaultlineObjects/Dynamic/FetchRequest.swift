/// What to fetch of an entity that is known at run time: filter, order, window.
public struct FetchRequest: Sendable {
    /// The entity whose objects are wanted.
    public var entityName: String
    /// Which objects; nil for all.
    public var filter: Filter?
    /// In which order; empty for the order of creation.
    public var sortedBy: [Order]
    /// At most so many objects, 0 or nil for no bound.
    public var fetchLimit: Int?
    /// So many objects of the ordered result are left out at its beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true
    /// Attributes whose row is loaded with the fetch, so that to touch them fires no fault; empty for none.
    ///
    /// A row is loaded whole, and what lies out of it never is: one attribute stands for all of the row.
    public var propertiesToFetch: [String] = []
    /// Relationships, or paths of them as in `department.company`, whose objects' rows are loaded with the fetch, so that
    /// to touch those objects fires no fault.
    public var relationshipKeyPathsForPrefetching: [String] = []

    /// A property by which objects are ordered: nil first, text by Swift's `<`.
    public struct Order: Sendable {
        let key: String
        let isAscending: Bool

        /// Least first.
        public static func ascending(_ key: String) -> Order { Order(key: key, isAscending: true) }
        /// Greatest first.
        public static func descending(_ key: String) -> Order { Order(key: key, isAscending: false) }
    }

    /// Describes a fetch of all objects of an entity that satisfy a filter, in an order.
    public init(entityName: String, filter: Filter? = nil, sortedBy: [Order] = []) {
        self.entityName = entityName
        self.filter = filter
        self.sortedBy = sortedBy
    }
}
