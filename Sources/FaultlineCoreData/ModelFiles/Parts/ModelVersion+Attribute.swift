extension ModelVersion {
    /// An attribute of an entity, or a part of a composite attribute.
    public struct Attribute: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The type of its values.
        public var type: AttributeType
        /// Whether objects may have no value.
        public var isOptional = false
        /// Whether values are never stored.
        public var isTransient = false
        /// Whether the attribute has an index of its own.
        public var isIndexed = false
        /// The name in an older version; nil if it is the same.
        public var renamingIdentifier: String?
        /// A text that distinguishes versions which are otherwise equal.
        public var versionHashModifier: String?
        /// The value of new objects.
        public var defaultValue: Value?
        /// The least value, or the least length of a text.
        public var minimum: Value?
        /// The greatest value, or the greatest length of a text.
        public var maximum: Value?
        /// The expression that a text must match.
        public var regularExpression: String?
        /// Further conditions of a compiled model, in the format of predicates.
        public var conditions: [String] = []
        /// The expression that the value is derived from; nil if it is not derived.
        public var derivation: String?
        /// The name of the transformer, for transformable attributes.
        public var transformerName: String?
        /// The class of the values, for transformable attributes, and the type of a composite one.
        public var valueClassName: String?
        /// Whether large values are files of their own.
        public var isStoredExternally = false
        /// Whether the value stays readable in the history after its object was deleted.
        public var isPreservedOnDeletion = false
        /// Whether the value may be encrypted in CloudKit.
        public var allowsCloudEncryption = false
        /// Whether Spotlight finds the value.
        public var isIndexedBySpotlight = false
        /// The parts of a composite attribute.
        public var elements: [Attribute] = []
        /// Texts that the author added.
        public var userInfo: [String: String] = [:]
        /// The line of the file; nil for compiled models.
        public var line: Int?

        init(_ name: String, _ type: AttributeType) {
            self.name = name
            self.type = type
        }

        /// Whether the value is computed from others.
        public var isDerived: Bool { derivation != nil }
    }

    /// The type of an attribute; the raw value is Core Data's number.
    public enum AttributeType: Int, Sendable, CaseIterable {
        /// Any object, for transient attributes.
        case undefined = 0
        case integer16 = 100
        case integer32 = 200
        case integer64 = 300
        case decimal = 400
        case double = 500
        case float = 600
        case string = 700
        case boolean = 800
        case date = 900
        case binary = 1000
        case uuid = 1100
        case uri = 1200
        /// An object that a transformer turns into bytes.
        case transformable = 1800
        /// The identity of an object.
        case objectID = 2000
        /// Several attributes under one name.
        case composite = 2100

        /// The type by its name in XML; nil for an unknown one.
        init?(markup name: String) {
            switch name {
            case "Undefined", "": self = .undefined
            case "Integer 16": self = .integer16
            case "Integer 32": self = .integer32
            case "Integer 64": self = .integer64
            case "Decimal": self = .decimal
            case "Double": self = .double
            case "Float": self = .float
            case "String": self = .string
            case "Boolean": self = .boolean
            case "Date": self = .date
            case "Binary", "Binary Data": self = .binary
            case "UUID": self = .uuid
            case "URI": self = .uri
            case "Transformable": self = .transformable
            case "Object ID", "ObjectID": self = .objectID
            case "Composite": self = .composite
            default: return nil
            }
        }
    }
}
