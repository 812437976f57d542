public import FaultlineModel
public import FaultlineObjects

/// One version of an app's models: the classes, and a number.
///
/// A version without classes is a `VersionedEntities`.
public protocol VersionedSchema: SendableMetatype {
    /// Every model class of the version.
    static var models: [any PersistentModel.Type] { get }
    /// The number of the version: higher than that of every older version of the plan.
    static var versionIdentifier: Schema.Version { get }
}

/// The versions an app has had, in order, and the stages between them.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// Oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// One for each pair of neighbours.
    static var stages: [MigrationStage] { get }
    /// Versions that the plan once began with, and can no longer migrate; none by default.
    ///
    /// A plan may start late: remove its oldest versions and their stages, and list here their entries in the lock
    /// file. A store with one of them is refused, with the release that can migrate it.
    static var droppedVersions: [DroppedVersion] { get }
}

extension SchemaMigrationPlan {
    /// None.
    public static var droppedVersions: [DroppedVersion] { [] }
}

extension SchemaLock {
    /// Describes the current versions of a plan.
    ///
    /// - Throws: `SchemaLockError` if two versions have the same number or equal schemas; `SchemaError` for a class
    ///   that breaks a rule.
    /// - Complexity: O(n log n) for n properties of all versions.
    public init(_ plan: any SchemaMigrationPlan.Type) throws {
        try self.init(
            plan.schemas.map { try $0.checkedSchema() },
            dropped: plan.droppedVersions)
    }
}

extension Schema {
    /// Makes the schema of a version.
    ///
    /// - Complexity: O(n) for n properties of the classes.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        if let version = versionedSchema as? any VersionedEntities.Type {
            self.init(entities: version.schema.entities, version: version.versionIdentifier)
            return
        }
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }
}
