public import FaultlineModel

/// A stage of a staged migration; an `NSLightweightMigrationStage` or an `NSCustomMigrationStage`.
public class NSMigrationStage {
    /// A name for people, without effect.
    public var label: String?

    init() {}
}

/// Versions between which a store is migrated without code.
///
///     NSLightweightMigrationStage([notes1.versionChecksum, notes2.versionChecksum])
///
/// Each version that stores may have is listed once in some stage. A model is needed only for the version that the
/// container asks for, and for those of custom stages: a store carries its own.
public final class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions, oldest first.
    public let versionChecksums: [String]

    /// Lists versions, oldest first.
    public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

    /// Lists the versions of a lock file, without those that were dropped.
    ///
    ///     NSLightweightMigrationStage(try SchemaLock(text: String(contentsOf: lockFile, encoding: .utf8)))
    public convenience init(_ lock: SchemaLock) {
        self.init(lock.versions.filter { $0.lastRelease == nil }.map { "\($0.fingerprint)" })
    }
}

/// Code before and after the change from one version to the next.
///
///     let stage = NSCustomMigrationStage(migratingFrom: notes2, to: notes3)
///     stage.didMigrateHandler = { manager, _ in
///         guard let context = manager.container?.newBackgroundContext() else { return }
///         for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
///             note.setValue((note.value(forKey: "text") as? String ?? "").count, forKey: "length")
///         }
///         try context.save()
///     }
///
/// The change itself must be one that needs no code. It is a custom stage of `MigrationStage`: an error of a handler
/// stops the migration, and the store is in its old state; after a kill the stage begins again.
public final class NSCustomMigrationStage: NSMigrationStage {
    /// Code of a stage.
    public typealias Handler = (_ manager: NSStagedMigrationManager, _ stage: NSCustomMigrationStage) throws -> Void

    /// The version before.
    public let currentModel: NSManagedObjectModelReference
    /// The version after.
    public let nextModel: NSManagedObjectModelReference
    /// Called before the change, with a container of the version before; nil, the default, for no code.
    public var willMigrateHandler: Handler?
    /// Called after the change, with a container of the version after; nil, the default, for no code.
    public var didMigrateHandler: Handler?
    /// Raise it when a released handler is corrected: an unfinished migration that has run the old one begins again.
    public var revision = 0

    /// Leads from one version to the next.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference)
    {
        self.currentModel = currentModel
        self.nextModel = nextModel
    }
}
