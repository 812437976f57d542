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
}

extension Schema {
    /// Makes the schema of a version.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }
}
