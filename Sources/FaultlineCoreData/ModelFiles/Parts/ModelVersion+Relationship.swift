public import FaultlineModel

extension ModelVersion {
    /// A relationship of an entity.
    public struct Relationship: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The entity that it leads to; nil if the model does not say it.
        public var destination: String?
        /// The inverse relationship of the destination; nil for none.
        public var inverseName: String?
        /// The entity that declares the inverse; nil if the model does not say it.
        public var inverseEntityName: String?
        /// Whether it leads to several objects.
        public var isToMany = false
        /// Whether the objects have an order.
        public var isOrdered = false
        /// Whether it may lead to no object.
        public var isOptional = false
        /// Whether it is never stored.
        public var isTransient = false
        /// The least number of objects; 0 for none.
        public var minimumCount = 0
        /// The greatest number of objects; 0 for none.
        public var maximumCount = 0
        /// The effect of deleting the owner.
        public var deleteRule = Schema.Relationship.DeleteRule.nullify
        /// Whether the relationship has an index of its own.
        public var isIndexed = false
        /// The name in an older version; nil if it is the same.
        public var renamingIdentifier: String?
        /// A text that distinguishes versions which are otherwise equal.
        public var versionHashModifier: String?
        /// Texts that the author added.
        public var userInfo: [String: String] = [:]
        /// The line of the file; nil for compiled models.
        public var line: Int?

        init(_ name: String) { self.name = name }
    }
}
