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
        _ configurations: [ModelConfiguration]
    ) throws {
        try self.init(plan, configurations) {
            try (Schema.checked(classes, version: Self.version(of: classes, in: plan)), Self.types(of: classes))
        }
    }

    /// Requests a schema: of model classes, if it was made of them, else of objects without classes.
    ///
    /// - Throws: As the form that takes classes.
    init(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [ModelConfiguration]
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
        _ plan: (any SchemaMigrationPlan.Type)?, _ configurations: [ModelConfiguration],
        _ resolve: () throws -> (Schema, [ModelType])
    ) throws {
        do {
            configuration = try Self.only(configurations)
            (schema, types) = try resolve()
            tables = Schema.modelTypes(of: schema) == nil ? nil : try schema.tables()
            try Self.check(configuration.schema, isIn: schema)
        } catch {
            for configuration in configurations { configuration.options.migration.options.finishUpdates() }
            throw error
        }
        migrationPlan = plan
    }

    private static func only(_ configurations: [ModelConfiguration]) throws -> ModelConfiguration {
        guard configurations.count <= 1 else {
            throw SwiftDataError.duplicateConfiguration.explained(
                "A container has one store; \(configurations.count) configurations were given.")
        }
        let configuration = configurations.first ?? ModelConfiguration()
        try configuration.validate()
        return configuration
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
