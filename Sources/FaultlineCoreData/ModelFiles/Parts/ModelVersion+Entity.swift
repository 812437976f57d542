extension ModelVersion {
    /// An entity of a model.
    public struct Entity: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The class of its objects; nil for none of its own.
        public var className: String?
        /// The entity that it inherits from.
        public var superentityName: String?
        /// Whether it has no objects of its own.
        public var isAbstract = false
        /// The name in an older version; nil if it is the same.
        public var renamingIdentifier: String?
        /// A text that distinguishes versions which are otherwise equal.
        public var versionHashModifier: String?
        /// The attributes that the entity itself declares, in the order of the file.
        public var attributes: [Attribute] = []
        /// The relationships that the entity itself declares.
        public var relationships: [Relationship] = []
        /// The properties whose values are fetched.
        public var fetchedProperties: [FetchedProperty] = []
        /// Groups of properties that are unique together.
        public var uniquenessConstraints: [[String]] = []
        /// The indexes of several properties, or with a name.
        public var indexes: [Index] = []
        /// Texts that the author added.
        public var userInfo: [String: String] = [:]
        /// The line of the file; nil for compiled models.
        public var line: Int?

        init(_ name: String) { self.name = name }

        /// The attribute with a name, of those that the entity itself declares.
        ///
        /// - Complexity: O(n) for n attributes.
        public func attribute(named name: String) -> Attribute? { attributes.first { $0.name == name } }

        /// The relationship with a name, of those that the entity itself declares.
        ///
        /// - Complexity: O(n) for n relationships.
        public func relationship(named name: String) -> Relationship? { relationships.first { $0.name == name } }
    }

    /// A set of entities for one store.
    public struct Configuration: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The names of the entities.
        public var entityNames: [String]
    }

    /// An index of an entity.
    public struct Index: Hashable, Sendable {
        /// The name; nil for the compound indexes of models before 2017.
        public var name: String?
        /// The parts, in order.
        public var elements: [Element]
        /// The predicate of the objects that are in the index; nil for all.
        public var predicate: String?

        /// A part of an index.
        public struct Element: Hashable, Sendable {
            /// The property; nil for an expression.
            public var property: String?
            /// The expression, for a part that is no property.
            public var expression: String?
            /// Whether values ascend.
            public var isAscending = true
            /// Whether it is an index of places, which this library keeps as one of values.
            public var isSpatial = false
        }
    }
}
