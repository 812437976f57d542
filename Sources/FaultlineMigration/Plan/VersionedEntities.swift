public import FaultlineModel
public import FaultlineObjects

/// One version of an app's entities as a value, so that a plan needs no class of it.
///
///     enum Library1: VersionedEntities {
///         static let schema = Schema(
///             Schema.Entity("Book", properties: Schema.Attribute(name: "title", valueType: String.self)),
///             version: Schema.Version(1, 0, 0))
///     }
///
/// A plan may list such versions beside versions with classes. The closures of a custom stage from or to one get
/// `ManagedObject`s, which they fetch by a `FetchRequest`; mappings and lightweight stages need nothing else. A
/// `StreamedEntity` needs a class. The schema of an old version can be read from a file: `faultline schema --json` writes
/// that of a store, `Schema.load(from:)` reads it.
public protocol VersionedEntities: VersionedSchema {
    /// The entities of the version, and its number.
    ///
    /// It is read whenever a store is opened by the plan, and must be the same each time: a `static let`.
    static var schema: Schema { get }
}

extension VersionedEntities {
    /// Empty: the version has no classes.
    public static var models: [any PersistentModel.Type] { [] }
    /// The number of the schema.
    public static var versionIdentifier: Schema.Version { schema.version }
}

extension VersionedSchema {
    /// The schema of the version: of its classes, or a copy of its value.
    ///
    /// - Throws: `SchemaError` naming entity and property, if a rule is broken.
    static func checkedSchema() throws -> Schema {
        guard let version = self as? any VersionedEntities.Type else {
            return try Schema.checked(models, version: versionIdentifier).tables()
        }
        let schema = version.schema
        try schema.validate()
        let copy = schema.copied().numbered(versionIdentifier)
        copy.encodeDefaults()
        return copy
    }

    /// The types of the objects in contexts of the version.
    static var modelTypes: [ModelType] {
        guard let version = self as? any VersionedEntities.Type else {
            return ModelType.types(of: models)
        }
        return version.schema.entities.map(ModelType.dynamic)
    }
}
