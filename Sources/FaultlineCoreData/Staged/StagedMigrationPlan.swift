internal import FaultlineMigration
internal import FaultlineModel

/// The plan of a staged migration, for the time in which its container is made.
///
/// A plan is a type, and so are its versions. Those of a staged migration are values: the plan finds them in a task-local
/// value, and each version is a type that stands for an index.
enum StagedMigrationPlan: SchemaMigrationPlan {
    /// The versions, oldest first, and a stage for each pair of neighbours.
    struct Way: Sendable {
        let schemas: [Schema]
        let stages: [MigrationStage]
    }

    @TaskLocal static var current = Way(schemas: [], stages: [])

    static var schemas: [any VersionedSchema.Type] { versions(current.schemas.count) }
    static var stages: [MigrationStage] { current.stages }

    /// The types of the first versions.
    static func versions(_ count: Int) -> [any VersionedSchema.Type] {
        var versions: [any VersionedSchema.Type] = []
        var index: any StagedIndex.Type = FirstIndex.self
        while versions.count < count {
            versions.append(version(index))
            index = next(index)
        }
        return versions
    }

    private static func version<Index: StagedIndex>(_ index: Index.Type) -> any VersionedSchema.Type {
        StagedVersion<Index>.self
    }

    private static func next<Index: StagedIndex>(_ index: Index.Type) -> any StagedIndex.Type {
        NextIndex<Index>.self
    }
}

/// The version at an index.
enum StagedVersion<Index: StagedIndex>: VersionedEntities {
    static var schema: Schema {
        let schemas = StagedMigrationPlan.current.schemas
        return schemas.indices.contains(Index.value) ? schemas[Index.value] : Schema(entities: [])
    }
}

/// A type that stands for an index.
protocol StagedIndex: SendableMetatype {
    static var value: Int { get }
}

/// 0.
enum FirstIndex: StagedIndex {
    static var value: Int { 0 }
}

/// The index after another one.
enum NextIndex<Before: StagedIndex>: StagedIndex {
    static var value: Int { Before.value + 1 }
}
