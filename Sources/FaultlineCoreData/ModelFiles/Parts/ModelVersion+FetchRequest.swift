extension ModelVersion {
    /// A property whose values a fetch request finds.
    public struct FetchedProperty: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The request; nil if the model has none.
        public var request: FetchRequest?
        /// Texts that the author added.
        public var userInfo: [String: String] = [:]
        /// The line of the file; nil for compiled models.
        public var line: Int?
    }

    /// A fetch request that a model stores under a name.
    public struct FetchRequest: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The entity of the objects; nil if the model does not say it.
        public var entityName: String?
        /// The predicate, in the format of predicates; nil for all objects.
        public var predicate: String?
        /// The keys that the objects are sorted by, a minus before those that descend.
        public var sortKeys: [String] = []
        /// The other settings by name, such as `fetchLimit`, as the file has them.
        public var settings: [String: String] = [:]
        /// The line of the file; nil for compiled models.
        public var line: Int?
    }
}
