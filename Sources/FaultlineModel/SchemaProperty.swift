/// What the parts of an entity have in common: attributes, relationships, and the marks for indexes and uniqueness.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    var name: String { get set }
    /// The name under which an older schema knew the property; the same as `name` if it was never renamed.
    var originalName: String { get set }
    /// The declared Swift type, optionality included; `Any` where it is not known.
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    /// Whether values are kept in memory only.
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// Whether this is an attribute; false unless a type says otherwise.
    public var isAttribute: Bool { false }
    /// Whether this is a relationship; false unless a type says otherwise.
    public var isRelationship: Bool { false }
    /// Whether values are kept in memory only; false unless a type says otherwise.
    public var isTransient: Bool { false }
    /// Whether the declared type is an optional.
    public var isOptional: Bool { FaultlineModel.isOptional(valueType) }
}
