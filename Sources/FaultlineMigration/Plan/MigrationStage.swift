public import FaultlineObjects

/// How one version becomes the next.
public enum MigrationStage: Sendable {
    /// Only what needs no code: properties added with a default, removed, renamed, made optional or required with a
    /// default. No object is rewritten.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// A lightweight change with code before it, which sees the old version's objects, and after it, which sees the new
    /// version's.
    ///
    /// Each closure has a context of its own, which knows the classes of its version alone. What a closure does not save
    /// is lost. What it saves is seen by nobody else until the whole migration has switched, and a stage that was
    /// stopped begins again with the objects as they were before it: it works on a copy of all rows, values out of the
    /// row left out. What a closure throws, and any error that its contexts met, even if the closure caught it, stops
    /// the migration; the store keeps its old state.
    ///
    /// Without closures it is a lightweight stage.
    @preconcurrency case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?)
    /// Made by `streamed(fromVersion:toVersion:_:)`.
    case streamedEntities(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, entities: [StreamedEntity])

    /// Made by `mapped(fromVersion:toVersion:_:)`.
    case mappedEntities(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, models: [MappingModel])

    /// Mapping models, and the policies that they name, in the three passes that users of Core Data know.
    ///
    /// Objects of entities of the new version that no mapping makes go over as in a lightweight stage, and keep their
    /// identity. Several models are worked off as one, mapping by mapping: relationships between objects of different
    /// models are found. After a kill a stage whose policies are all `ResumablePolicy`s, or that has none, goes on at its
    /// last batch; another begins again.
    ///
    /// - Parameters:
    ///   - fromVersion: The version whose objects are read.
    ///   - toVersion: The version whose objects are written.
    ///   - models: What becomes of the objects.
    /// - Returns: A stage for `SchemaMigrationPlan.stages`.
    public static func mapped(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, _ models: MappingModel...
    ) -> MigrationStage {
        .mappedEntities(fromVersion: fromVersion, toVersion: toVersion, models: models)
    }

    /// Code that sees the old and the new side by side, one object at a time, in bounded memory.
    ///
    /// Objects of entities that no `StreamedEntity` names go over as in a lightweight stage, and keep their identity.
    /// The stage is resumed after a kill where it was, at most one batch is done again; so its closures should depend
    /// on nothing but the object they are given.
    ///
    /// - Parameters:
    ///   - fromVersion: The version whose objects are read.
    ///   - toVersion: The version whose objects are written.
    ///   - entities: One for each entity of the old version whose objects are to be written anew.
    /// - Returns: A stage for `SchemaMigrationPlan.stages`.
    public static func streamed(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, _ entities: StreamedEntity...
    ) -> MigrationStage {
        .streamedEntities(fromVersion: fromVersion, toVersion: toVersion, entities: entities)
    }

    package var fromVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(let from, _), .custom(let from, _, _, _), .streamedEntities(let from, _, _),
            .mappedEntities(let from, _, _):
            from
        }
    }

    package var toVersion: any VersionedSchema.Type {
        switch self {
        case .lightweight(_, let to), .custom(_, let to, _, _), .streamedEntities(_, let to, _),
            .mappedEntities(_, let to, _):
            to
        }
    }
}
