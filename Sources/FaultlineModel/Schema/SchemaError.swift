/// A mistake in a schema, and its place.
public struct SchemaError: Error, Hashable, CustomStringConvertible, Sendable {
    /// The kinds of mistakes.
    public enum Code: String, Sendable, CaseIterable {
        /// An entity or a property has no name.
        case emptyName
        /// Two entities, or two properties of an entity, have one name.
        case duplicateName
        /// Two entities, or two properties of an entity, claim to be the same one of an older schema.
        case duplicateOriginalName
        /// An entity has more properties than a row has slots.
        case tooManyProperties
        /// An entity inherits from one that the schema lacks.
        case unknownSuperentity
        /// A relationship leads to an entity that the schema lacks.
        case unknownDestination
        /// A relationship names an inverse that its destination lacks.
        case unknownInverse
        /// The inverse names another relationship as its own inverse, or refers to another entity.
        case inverseMismatch
        /// A constraint or an index names a property that the entity does not have.
        case unknownProperty
        /// A to-many relationship is part of a uniqueness constraint or an index.
        case uniqueOnToMany
        /// An ephemeral attribute, which is never stored, is part of a uniqueness constraint.
        case uniqueOnEphemeral
        /// A text index names a property that is no text, or has weights that fit no property.
        case invalidTextIndex
        /// The least number of objects exceeds the greatest, or one of them is negative, or a to-one has a minimum or
        /// maximum above 1.
        case invalidModelCount
        /// The property's type is neither `Codable` nor a model, and has no transformer.
        case unstorableType
        /// The default is not a value of the attribute's type.
        case defaultMismatch
        /// The schema has no written form.
        case unwritable
        /// Bytes are no schema, or one of a newer library.
        case unreadable
    }

    /// The kind of the mistake.
    public let code: Code
    /// The problem and the remedy, with the entity and the property.
    public let message: String
    /// The entity with the mistake; nil if it belongs to none.
    public let entityName: String?
    /// The property with the mistake; nil if it belongs to none.
    public let propertyName: String?

    package init(_ code: Code, entity: String? = nil, property: String? = nil, _ message: String) {
        self.code = code
        self.message = message
        self.entityName = entity
        self.propertyName = property
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
