public import FaultlineObjects

/// Describes how one version becomes the next.
public enum MigrationStage: Sendable {
    /// Only changes that need no code: properties added with a default, removed, renamed, made optional or required
    /// with a default.
    ///
    /// No object is rewritten.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A lightweight change with code before it, for the old version's objects, and after it, for the new version's.
    ///
    /// Each closure has a context of its own, which knows only the classes of its version. Unsaved changes of a closure
    /// are lost. Its saved changes are invisible elsewhere until the whole migration has switched, and a stopped stage
    /// restarts with the original objects: it works on a copy of all rows, without large values. An error that a
    /// closure throws, or that its contexts met, even if the closure caught it, stops the migration; the store keeps
    /// its old state.
    ///
    /// Without closures it is a lightweight stage. Raise `revision` when a released closure is corrected: an unfinished
    /// migration that has run the old one then begins again.
    @preconcurrency case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, revision: Int = 0,
        willMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?)
    /// Made by `streamed(fromVersion:toVersion:revision:_:)`.
    case streamedEntities(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, revision: Int,
        entities: [StreamedEntity])

    /// Made by `mapped(fromVersion:toVersion:revision:_:)`.
    case mappedEntities(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, revision: Int,
        models: [MappingModel])

    /// Mapping models, and the policies that they name, in the three passes of Core Data.
    ///
    /// Entities of the new version that no mapping makes are carried over as in a lightweight stage, and their objects
    /// keep their identity. Several models are run as one, mapping by mapping: relationships between objects of
    /// different models are found. After a kill a stage whose policies are all `ResumablePolicy`s, or that has none,
    /// resumes at its last batch; another restarts.
    ///
    /// - Parameters:
    ///   - fromVersion: The version whose objects are read.
    ///   - toVersion: The version whose objects are written.
    ///   - revision: Raise it when released policies or code of expressions are corrected: an unfinished stage of
    ///     another revision begins again.
    ///   - models: The mappings of the objects.
    /// - Returns: A stage for `SchemaMigrationPlan.stages`.
    public static func mapped(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, revision: Int = 0,
        _ models: MappingModel...
    ) -> MigrationStage {
        .mappedEntities(fromVersion: fromVersion, toVersion: toVersion, revision: revision, models: models)
    }

    /// Code that gets an old object and makes new ones, one object at a time, in bounded memory.
    ///
    /// Entities that no `StreamedEntity` names are carried over as in a lightweight stage, and their objects keep their
    /// identity. After a kill the stage is resumed, and at most one batch is repeated; so its closures should depend
    /// only on the object they are given.
    ///
    /// - Parameters:
    ///   - fromVersion: The version whose objects are read.
    ///   - toVersion: The version whose objects are written.
    ///   - revision: Raise it when a released closure is corrected: an unfinished stage of another revision begins
    ///     again, so that no object stays as the old closure made it.
    ///   - entities: One for each entity of the old version whose objects are rewritten.
    /// - Returns: A stage for `SchemaMigrationPlan.stages`.
    public static func streamed(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, revision: Int = 0,
        _ entities: StreamedEntity...
    ) -> MigrationStage {
        .streamedEntities(fromVersion: fromVersion, toVersion: toVersion, revision: revision, entities: entities)
    }

    package var fromVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(let from, _), .custom(let from, _, _, _, _), .streamedEntities(let from, _, _, _),
            .mappedEntities(let from, _, _, _):
            from
        }
    }

    /// The revision of the stage's code; 0 for stages without code.
    var revision: Int {
        switch self {
        case .lightweight, .custom(_, _, _, nil, nil): 0
        case .custom(_, _, let revision, _, _), .streamedEntities(_, _, let revision, _),
            .mappedEntities(_, _, let revision, _):
            revision
        }
    }

    package var toVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(_, let to), .custom(_, let to, _, _, _), .streamedEntities(_, let to, _, _),
            .mappedEntities(_, let to, _, _):
            to
        }
    }
}
