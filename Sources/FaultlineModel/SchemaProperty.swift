/// The common interface of an entity's parts: attributes, relationships, and the marks for indexes and uniqueness.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    /// The name of the property in its class.
    var name: String { get set }
    /// The name under which an older schema knew the property; the same as `name` if it was never renamed.
    var originalName: String { get set }
    /// The declared Swift type, with its optionals; `Any` if it is not known.
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    /// Whether values are kept in memory only.
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    /// Whether no two objects share a value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// The property as an attribute, composite or not; nil for all others.
    ///
    /// The same as a cast, but fast. A cast that fails checks whether the class is bridged to a value, and the first
    /// check of a type and a protocol makes the runtime search all conformances of the process: too slow for opening a
    /// store.
    package var asAttribute: Schema.Attribute? {
        Self.self is Schema.Attribute.Type ? reference(as: Schema.Attribute.self) : nil
    }

    /// The property as a relationship; nil for all others.
    package var asRelationship: Schema.Relationship? {
        Self.self is Schema.Relationship.Type ? reference(as: Schema.Relationship.self) : nil
    }

    /// The property as an object of a class, which must be its type or a superclass of that.
    private func reference<Class: AnyObject>(as type: Class.Type) -> Class {
        // Safe because a value of such a type is a reference.
        withUnsafePointer(to: self) { UnsafeRawPointer($0).load(as: type) }
    }

    /// Whether this is an attribute; false by default.
    public var isAttribute: Bool { false }
    /// Whether this is a relationship; false by default.
    public var isRelationship: Bool { false }
    /// Whether values are kept in memory only; false by default.
    public var isTransient: Bool { false }
    /// Whether the declared type is an optional.
    public var isOptional: Bool { FaultlineModel.isOptional(valueType) }
}
