package import FaultlineDisk
package import FaultlineLog
public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

extension ModelContainer {
    /// Tries out the migration that opening a store for some model classes would make.
    ///
    /// - Throws: As the form that takes a schema.
    /// - Complexity: As the form that takes a schema.
    public static func previewMigration(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., failureLimit: Int = 100,
        sample: Int? = nil
    ) throws -> MigrationReport {
        try previewMigration(ContainerRequest(forTypes, migrationPlan, configurations), failureLimit, sample)
    }

    /// Tries out the migration that opening a store for a schema would make: runs all of it on the real store except
    /// the switch, and drops its output.
    ///
    /// The objects of the store are as before. During the preview, containers of the old schema can read and not save,
    /// and the disk holds the migration's output; compaction frees it. After a kill the next opening drops the remains.
    /// Failures do not stop a preview: the report lists the objects. Custom stages end at the first failure, because
    /// later code would lack the results of the failed code.
    ///
    /// - Parameters:
    ///   - givenSchema: The requested schema.
    ///   - migrationPlan: The way from older schemas; nil if none is needed.
    ///   - configurations: The store, one at most.
    ///   - failureLimit: Failures after which the preview ends.
    ///   - sample: Objects of each entity that streamed and mapped stages try out, the first ones: for an estimate of
    ///     time and space. References to objects outside the sample are not checked, and custom stages run as a whole.
    ///     Nil for all.
    /// - Returns: The effect of the migration, its needs, and the errors that would stop it; without versions if there
    ///   is nothing to do.
    /// - Throws: `SchemaError` for classes that break a rule; `MigrationError` if there is no way to the schema, of
    ///   code `underWay` if a migration was stopped and can continue, of code `cancelled`; `StorageError` if the
    ///   store cannot be opened for writing.
    /// - Complexity: That of the migration: with `sample`, of the sampled objects and of whole custom stages and
    ///   indexes.
    public static func previewMigration(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration], failureLimit: Int = 100,
        sample: Int? = nil
    ) throws -> MigrationReport {
        try previewMigration(ContainerRequest(givenSchema, migrationPlan, configurations), failureLimit, sample)
    }

    private static func previewMigration(
        _ request: ContainerRequest, _ failureLimit: Int, _ sample: Int?
    ) throws -> MigrationReport {
        let configuration = request.configuration
        let migration = configuration.options.migration.options
        defer { migration.finishUpdates() }
        let place = StorePlace(configuration, observer: nil)
        return try StorageError.translating {
            guard !configuration.isStoredInMemoryOnly, configuration.allowsSave, try place.isPresent() else {
                throw SwiftDataError.unknownSchema.explained(
                    "There is no store to be migrated at \(configuration.url.path), or it may not be written.")
            }
            return try previewMigration(
                request.written, request.types, request.migrationPlan, place, migration, configuration, failureLimit,
                sample)
        }
    }

    /// Tries out a migration on a given disk: for simulations, which must be repeatable.
    package static func previewMigration(
        for types: [any PersistentModel.Type], migrationPlan: (any SchemaMigrationPlan.Type)?, directory: String,
        on disk: Disk, clock: Clock = .system, options: LogOptions, migration: MigrationOptions = MigrationOptions(),
        failureLimit: Int = 100, sample: Int? = nil
    ) throws -> MigrationReport {
        let schema = try Schema.checked(types, version: ContainerRequest.version(of: types, in: migrationPlan))
        return try StorageError.translating {
            try previewMigration(
                schema, ContainerRequest.types(of: types), migrationPlan,
                StorePlace(directory: directory, disk: disk, clock: clock, options: options), migration,
                ModelConfiguration(isStoredInMemoryOnly: true), failureLimit, sample)
        }
    }

    private static func previewMigration(
        _ schema: Schema, _ types: [ModelType], _ plan: (any SchemaMigrationPlan.Type)?, _ place: StorePlace,
        _ migration: MigrationOptions, _ configuration: ModelConfiguration, _ failureLimit: Int,
        _ sample: Int?
    ) throws -> MigrationReport {
        let migration = migration.timed(by: place.clock)
        defer { migration.finishUpdates() }
        let free = try place.disk.freeByteCount(in: place.directory)
        let log = try place.open(min(place.options.memoryBudget, migration.engineByteCount))
        do {
            var migrator = Migrator(
                log: log, schema: schema, types: types, plan: plan, options: migration,
                makeStageContainer: {
                    ModelContainer(stage: $0, migrationPlan: plan, configuration: configuration)
                })
            var report = try migrator.preview(failureLimit: failureLimit, sample: sample)
            report.diskBytesFree = Int(clamping: free)
            try log.close()
            return report
        } catch {
            // The caller gets no container that could close the log.
            try? log.close()
            throw error
        }
    }
}
