public import Faultline
internal import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

/// Migrates a store through several versions, some of them by code.
///
///     let manager = NSStagedMigrationManager([
///         NSLightweightMigrationStage([notes1.versionChecksum, notes2.versionChecksum]), stage,
///     ])
///     let container = try manager.openContainer(for: notes3, configuration: configuration)
///
/// The stages give the order of all versions: that of a lightweight stage's checksums, and the two of a custom stage.
/// Core Data puts the manager into the options of a store; here it opens the store.
public final class NSStagedMigrationManager {
    /// The stages, oldest versions first.
    public let stages: [NSMigrationStage]
    /// While a handler runs, a container of the handler's version: its contexts see the objects as the stage does, and
    /// save into it; nil at other times.
    public private(set) var container: ModelContainer?

    /// Makes a manager of stages.
    public init(_ stages: [NSMigrationStage]) { self.stages = stages }

    /// Opens a store under a model, and migrates it before if it has an earlier version.
    ///
    /// - Parameters:
    ///   - model: The model; the stages name its checksum.
    ///   - configuration: The store, and the options of its migration.
    /// - Returns: A container of the model.
    /// - Throws: `MigrationError`: `stagesOutOfOrder` for a version that the stages name twice, `badPlan` for a model
    ///   that they do not name, `unknownVersion` for such a store, and for a reference whose model has another checksum,
    ///   `backward` for a store of a later version; the errors of a container, of handlers and of references.
    /// - Complexity: As a container; a store on the disk is opened once more, for reading its model.
    public func openContainer(
        for model: NSManagedObjectModel, configuration: ModelConfiguration = ModelConfiguration()
    ) throws -> ModelContainer {
        let way: StagedMigrationPlan.Way
        do { way = try self.way(to: model, from: storedModel(configuration)) } catch {
            configuration.options.migration.finishUpdates()
            throw error
        }
        return try StagedMigrationPlan.$current.withValue(way) {
            try ModelContainer(
                for: model, migrationPlan: StagedMigrationPlan.self, configurations: [configuration])
        }
    }

    // MARK: The way

    /// The model of a store; nil if there is none.
    private func storedModel(_ configuration: ModelConfiguration) throws -> Schema? {
        guard !configuration.isStoredInMemoryOnly else { return nil }
        var reading = ModelConfiguration(configuration.name, url: configuration.url, allowsSave: false)
        reading.options.memoryBudget = configuration.options.memoryBudget
        reading.options.reporting = configuration.options.reporting
        reading.options.performing = configuration.options.performing
        do {
            let container = try ModelContainer(opening: reading)
            defer { try? container.close() }
            return container.schema
        } catch SwiftDataError.unknownSchema {
            return nil
        } catch let error as StorageError where error.code == .notAStore {
            // A kill may have left a beginning, which opening for writing completes.
            return nil
        }
    }

    /// The versions with a model in their order, and the stages between them.
    private func way(to model: Schema, from stored: Schema?) throws -> StagedMigrationPlan.Way {
        var order: [String] = []
        var models: [String: Schema] = [:]
        var customs: [String: NSCustomMigrationStage] = [:]
        func add(_ checksum: String) throws {
            if order.last == checksum { return }
            guard !order.contains(checksum) else {
                throw MigrationError(
                    .stagesOutOfOrder,
                    "The stages name the version with the checksum \(checksum) twice, with others between. List each version once, oldest first."
                )
            }
            order.append(checksum)
        }
        for stage in stages {
            if let stage = stage as? NSLightweightMigrationStage {
                for checksum in stage.versionChecksums { try add(checksum) }
            } else if let stage = stage as? NSCustomMigrationStage {
                for reference in [stage.currentModel, stage.nextModel] {
                    try add(reference.versionChecksum)
                    models[reference.versionChecksum] = try reference.resolvedModel
                }
                customs[stage.currentModel.versionChecksum] = stage
            }
        }
        guard order.contains(model.versionChecksum) else {
            throw MigrationError(
                .badPlan,
                "The stages do not name the model of version \(model.version), whose checksum is \(model.versionChecksum). List it in a lightweight stage, or lead a custom stage to it."
            )
        }
        models[model.versionChecksum] = model
        if let stored { models[stored.versionChecksum] = stored }
        let known = order.filter { models[$0] != nil }
        let versions = StagedMigrationPlan.versions(known.count)
        let ways = known.indices.dropLast().map { place in
            way(from: versions[place], to: versions[place + 1], by: customs[known[place]])
        }
        return StagedMigrationPlan.Way(schemas: known.compactMap { models[$0] }, stages: ways)
    }

    private func way(
        from: any VersionedSchema.Type, to: any VersionedSchema.Type, by stage: NSCustomMigrationStage?
    ) -> MigrationStage {
        guard let stage else { return .lightweight(fromVersion: from, toVersion: to) }
        let call = HandlerCall(manager: self, stage: stage)
        let will: @Sendable (ModelContext) throws -> Void = { try call.run($0, isBefore: true) }
        let did: @Sendable (ModelContext) throws -> Void = { try call.run($0, isBefore: false) }
        return .custom(
            fromVersion: from, toVersion: to, revision: stage.revision,
            willMigrate: stage.willMigrateHandler == nil ? nil : will,
            didMigrate: stage.didMigrateHandler == nil ? nil : did)
    }

    /// Calls a handler with a container of its version.
    fileprivate func call(
        _ handler: NSCustomMigrationStage.Handler?, of stage: NSCustomMigrationStage, _ context: ModelContext
    ) throws {
        container = context.container
        defer { container = nil }
        try handler?(self, stage)
    }
}

/// A handler that a stage calls.
// Safe because the thread that opens the container calls it, inside of the call of the manager.
private struct HandlerCall: @unchecked Sendable {
    let manager: NSStagedMigrationManager
    let stage: NSCustomMigrationStage

    func run(_ context: ModelContext, isBefore: Bool) throws {
        try manager.call(isBefore ? stage.willMigrateHandler : stage.didMigrateHandler, of: stage, context)
    }
}

extension ModelContainer {
    /// A new context of the container, for the current thread.
    ///
    /// - Complexity: O(1).
    public func newBackgroundContext() -> ModelContext { ModelContext(self) }
}
