extension Schema {
    /// A model class's description of one of its persisted properties.
    ///
    /// `@Model` writes a list of these; a schema turns them into entities.
    public struct PropertyMetadata {
        package let name: String
        package let keypath: AnyKeyPath
        package let defaultValue: Any?
        package let metadata: (any SchemaProperty)?

        /// Describes a property.
        ///
        /// `metadata` is the attribute, relationship, index or uniqueness constraint that was declared, if any.
        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
}
