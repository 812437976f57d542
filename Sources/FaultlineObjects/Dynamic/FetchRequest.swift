/// Describes a fetch for an entity that is known only at run time: filter, order, window.
public struct FetchRequest: Sendable {
    /// The entity to fetch.
    public var entityName: String
    /// Selects the objects; nil for all.
    public var filter: Filter?
    /// The order of the result; empty for the order of creation.
    public var sortedBy: [Order]
    /// The greatest number of objects; 0 or nil for no bound.
    public var fetchLimit: Int?
    /// The number of objects to skip at the beginning of the ordered result.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true
    /// Whether objects of entities that inherit from the entity are fetched too.
    public var includesSubentities = true
    /// Attributes whose row is loaded with the fetch, so that reading them fires no fault; empty for none.
    ///
    /// A row is loaded whole, and large values never are: one attribute stands for all of the row.
    public var propertiesToFetch: [String] = []
    /// Relationships, or paths of them such as `department.company`, whose objects' rows are loaded with the fetch, so
    /// that reading those objects fires no fault.
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
