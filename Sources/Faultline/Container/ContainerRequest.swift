internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects

/// The arguments of a container, checked before its store is touched.
struct ContainerRequest {
    let schema: Schema
    /// The schema of the tables that hold the objects of classes; nil for a schema made of values.
    private let tables: Schema?
    /// The classes of its objects, or their replacements.
    let types: [ModelType]
    let migrationPlan: (any SchemaMigrationPlan.Type)?
    /// The configurations of its stores: at least one.
    let stores: [any DataStoreConfiguration]
    /// The first configuration of this library.
    let configuration: ModelConfiguration

    /// The schema to store: a copy if it is made of values, because the caller may change the original.
    var written: Schema {
        if let tables { return tables }
        let copy = schema.copied()
        copy.encodeDefaults()
        return copy
    }

    /// Requests some model classes, and all classes that their relationships lead to.
    ///
    /// A refused request ends the progress of its configurations.
    ///
    /// - Throws: `SchemaError` for classes that break a rule; the errors of invalid configurations.
    init(
        _ classes: [any PersistentModel.Type], _ plan: (any SchemaMigrationPlan.Type)?,
        _ configurations: [any DataStoreConfiguration]
    ) throws {
        try self.init(plan, configurations) {
            try (Schema.checked(classes, version: Self.version(of: classes, in: plan)), Self.types(of: classes))
        }
    }

    /// Requests a schema: of model classes, if it was made of them, else of objects without classes.
    ///
    /// - Throws: As the form that takes classes.
    init(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [any DataStoreConfiguration]
    ) throws {
        try self.init(plan, configurations) {
            if let defect = schema.defect { throw defect }
            if let classes = Schema.modelTypes(of: schema) {
                return try (Schema.checked(classes, version: schema.version), Self.types(of: classes))
            }
            try schema.validate()
            return (schema, schema.entities.map(ModelType.dynamic))
        }
    }

    private init(
        _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [any DataStoreConfiguration],
        _ resolve: () throws -> (Schema, [ModelType])
    ) throws {
        let own = configurations.compactMap { $0 as? ModelConfiguration }
        do {
            configuration = own.first ?? ModelConfiguration()
            stores = configurations.isEmpty ? [configuration] : configurations
            for store in stores { try store.validate() }
            (schema, types) = try resolve()
            tables = Schema.modelTypes(of: schema) == nil ? nil : try schema.tables()
            if stores.count == 1 { try Self.check(stores[0].schema, isIn: schema) }
            try Self.check(plan, for: stores)
        } catch {
            for configuration in own { configuration.options.migration.options.finishUpdates() }
            throw error
        }
        migrationPlan = plan
    }

    /// Refuses a plan for several stores: its versions and stages are of one.
    private static func check(_ plan: (any SchemaMigrationPlan.Type)?, for stores: [any DataStoreConfiguration]) throws
    {
        guard let plan, stores.count > 1 else { return }
        throw SeveralStoresError(
            .planOverSeveralStores,
            "\(plan) was given for \(stores.count) stores: the versions and stages of a plan are of one. Open each store by itself first, with its configuration and a plan of its entities, close it, and then open all without a plan."
        )
    }

    /// - Throws: `SwiftDataError.configurationSchemaNotFoundInContainerSchema`, with the entities that are missing.
    static func check(_ part: Schema?, isIn schema: Schema) throws(SwiftDataError) {
        let missing = part?.entities.map(\.name).filter { schema.entitiesByName[$0] == nil } ?? []
        guard !missing.isEmpty else { return }
        throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.explained(
            "The configuration's schema has entities that the container's schema lacks: \(missing.joined(separator: ", ")). Add them to the container's schema."
        )
    }

    static func types(of classes: [any PersistentModel.Type]) -> [ModelType] {
        ModelType.types(of: classes)
    }

    /// The version of a plan that has some classes, the newest of several.
    static func version(
        of classes: [any PersistentModel.Type], in plan: (any SchemaMigrationPlan.Type)?
    ) -> Schema.Version {
        guard let plan else { return Schema.Version(1, 0, 0) }
        let wanted = Set(classes.map { ObjectIdentifier($0) })
        return plan.schemas.last { wanted.isSubset(of: Set($0.models.map { ObjectIdentifier($0) })) }?.versionIdentifier
            ?? Schema.Version(1, 0, 0)
    }
}
