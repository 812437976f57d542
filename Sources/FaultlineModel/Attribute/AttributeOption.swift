extension Schema.Attribute {
    /// An option for the storage of an attribute.
    public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
        /// The name of the option, as written in a schema.
        package let name: String
        /// The registered name of the transformer, for `transformable` only.
        package let transformerName: String?

        package init(_ name: String, transformerName: String? = nil) {
            self.name = name
            self.transformerName = transformerName
        }

        /// No two objects have the same value; saving a second one updates the first.
        public static let unique = Option("unique")
        /// Values that are not empty are stored outside rows, at any size.
        public static let externalStorage = Option("externalStorage")
        /// The value stays readable in the history after its object was deleted.
        public static let preserveValueOnDeletion = Option("preserveValueOnDeletion")
        /// Changes are tracked, but never stored.
        public static let ephemeral = Option("ephemeral")
        /// Accepted for source compatibility; has no effect.
        public static let allowsCloudEncryption = Option("allowsCloudEncryption")
        /// Objects can be found by the words of this text: all texts of an entity that are marked so have an index
        /// together.
        ///
        /// Values that are no texts are not indexed.
        public static let spotlight = Option("spotlight")
        /// The value is stored as its own `Codable` encoding, opaque to queries and migrations.
        public static let codable = Option("codable")

        /// Values pass through the transformer registered under a name.
        public static func transformable(by name: String) -> Option {
            Option("transformable", transformerName: name)
        }

        /// The name, with that of the transformer if there is one.
        public var debugDescription: String {
            transformerName.map { ".\(name)(by: \"\($0)\")" } ?? ".\(name)"
        }
    }
}
