public import FaultlineModel
public import FaultlineObjects

/// One version of an app's models: the classes, and a number.
public protocol VersionedSchema: SendableMetatype {
    /// Every model class of the version.
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}

/// The versions an app has had, in order, and how to get from each to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
    /// Oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// One for each pair of neighbours.
    static var stages: [MigrationStage] { get }
    /// Versions that the plan began with once, and cannot migrate any more; none if not said otherwise.
    ///
    /// A plan may start late: leave its oldest versions and their stages out, and name here what the lock file says of
    /// them. A store of one of them is refused, with the release that can migrate it.
    static var droppedVersions: [DroppedVersion] { get }
}

extension SchemaMigrationPlan {
    /// None.
    public static var droppedVersions: [DroppedVersion] { [] }
}

extension SchemaLock {
    /// Describes the versions of a plan as they are now.
    ///
    /// - Throws: `SchemaLockError` if two versions have the same number or look the same; `SchemaError` for a class
    ///   that breaks a rule.
    public init(_ plan: any SchemaMigrationPlan.Type) throws {
        try self.init(
            plan.schemas.map { try Schema.checked($0.models, version: $0.versionIdentifier) },
            dropped: plan.droppedVersions)
    }
}

extension Schema {
    /// Makes the schema of a version.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }
}
