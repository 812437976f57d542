internal import FaultlineBackup
package import FaultlineDisk
package import FaultlineLog
public import FaultlineMigration
public import FaultlineModel
public import FaultlineObjects

extension ModelContainer {
    /// Whether opening a store for some model classes would migrate it.
    ///
    ///     if try ModelContainer.migrationIsDue(for: Photo.self, migrationPlan: PhotoPlan.self, at: configuration) {
    ///         logger.notice("The next start migrates the store.")
    ///     }
    ///
    /// - Throws: As the form that takes a schema.
    /// - Complexity: As the form that takes a schema.
    public static func migrationIsDue(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        at configuration: ModelConfiguration
    ) throws -> Bool {
        try migrationIsDue(ContainerRequest(forTypes, migrationPlan, [configuration]))
    }

    /// Whether opening a store for a schema would migrate it, or go on with a migration that was stopped.
    ///
    ///     let isDue = try ModelContainer.migrationIsDue(for: schema, migrationPlan: Plan.self, at: configuration)
    ///
    /// Writes nothing, and takes no lock that a writer needs: it works beside processes that have the store open. It
    /// shows the newest state that their writer is known to have synchronized. Sequences of the configuration's progress
    /// go on to the opening that follows; an error ends them.
    ///
    /// - Parameters:
    ///   - givenSchema: The requested schema.
    ///   - migrationPlan: The way from older schemas; nil if none is needed.
    ///   - configuration: The store.
    /// - Returns: True for a migration by the plan, for a lightweight one, and if an index must be built; false if
    ///   there is no store, for a store in memory, and for changes that need no migration.
    /// - Throws: As opening would: `SchemaError` for classes that break a rule, `MigrationError` if there is no way to
    ///   the schema, `StorageError` if the store is damaged or cannot be read.
    /// - Complexity: About a millisecond after a close, or if this process has the store open: it reads the manifest, a
    ///   checkpoint's list of tables, and the schemas. After a kill, and beside a writer of another process, the log
    ///   since the last checkpoint is read, as by every opening: usually at most 32 MiB.
    public static func migrationIsDue(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        at configuration: ModelConfiguration
    ) throws -> Bool {
        try migrationIsDue(ContainerRequest(givenSchema, migrationPlan, [configuration]))
    }

    private static func migrationIsDue(_ request: ContainerRequest) throws -> Bool {
        let configuration = request.configuration
        let migration = configuration.options.migration.options
        guard !configuration.isStoredInMemoryOnly else { return false }
        do {
            return try migrationIsDue(
                request.written, request.migrationPlan, StorePlace(configuration, observer: nil), migration)
        } catch {
            // Otherwise the sequences are of the opening that follows.
            migration.finishUpdates()
            throw error
        }
    }

    /// As the public form, on a given disk: for simulations, which must be repeatable.
    package static func migrationIsDue(
        for types: [any PersistentModel.Type], migrationPlan: (any SchemaMigrationPlan.Type)?, directory: String,
        on disk: Disk, options: LogOptions, migration: MigrationOptions = MigrationOptions()
    ) throws -> Bool {
        let schema = try Schema.checked(types, version: ContainerRequest.version(of: types, in: migrationPlan)).tables()
        return try migrationIsDue(
            schema, migrationPlan,
            StorePlace(directory: directory, disk: disk, clock: .system, options: options), migration)
    }

    private static func migrationIsDue(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, _ place: StorePlace, _ migration: MigrationOptions
    ) throws -> Bool {
        try StorageError.translating {
            guard try place.isPresent() else { return false }
            let log: Log
            do throws(LogError) { log = try place.forReading.open(place.options.memoryBudget) } catch {
                // Opening makes a store there, or refuses a directory of other files.
                guard error.code != .notAStore else { return false }
                throw error
            }
            // Its error says nothing about the answer: nothing was written.
            defer { try? log.close() }
            // Another container of this process may have opened it for reading a while ago.
            try log.follow()
            return try Migrator(log: log, schema: schema, types: [], plan: plan, options: migration).isDue()
        }
    }

    /// Tries out the migration that opening a store for some model classes would make.
    ///
    /// - Throws: As the form that takes a schema.
    /// - Complexity: As the form that takes a schema.
    public static func previewMigration(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration..., failureLimit: Int = 100,
        sample: Int? = nil, onCopy: Bool = false
    ) throws -> MigrationReport {
        try previewMigration(ContainerRequest(forTypes, migrationPlan, configurations), failureLimit, sample, onCopy)
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
    ///   - onCopy: Whether to work on a copy of the store's present state, in a directory beside it with `.dry-run`
    ///     behind its name, which is removed at the end. Then the store is only read: this and other processes save
    ///     meanwhile, and a migration that was stopped is not refused. The copy shares the files that do not change any
    ///     more, where the file system has hard links.
    /// - Returns: The effect of the migration, its needs, and the errors that would stop it; without versions if there
    ///   is nothing to do.
    /// - Throws: `SchemaError` for classes that break a rule; `MigrationError` if there is no way to the schema, of
    ///   code `underWay` if a migration was stopped and can continue, or the store has another dry run on a copy, of
    ///   code `fullDisk` if the disk has too little room for the copy or for the migration of it
    ///   (`MigrationOptions.checksSpace`), of code `cancelled`; `StorageError` if the store cannot be opened for writing,
    ///   or its copy cannot be made.
    /// - Complexity: That of the migration: with `sample`, of the sampled objects and of whole custom stages and
    ///   indexes.
    public static func previewMigration(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration], failureLimit: Int = 100,
        sample: Int? = nil, onCopy: Bool = false
    ) throws -> MigrationReport {
        try previewMigration(
            ContainerRequest(givenSchema, migrationPlan, configurations), failureLimit, sample, onCopy)
    }

    private static func previewMigration(
        _ request: ContainerRequest, _ failureLimit: Int, _ sample: Int?, _ onCopy: Bool
    ) throws -> MigrationReport {
        guard request.stores.count == 1 else {
            throw SeveralStoresError(
                .ofOneStore,
                "A preview is of one store, and \(request.stores.count) configurations were given. Preview each by itself, with its part of the schema."
            )
        }
        let configuration = request.configuration
        var migration = configuration.options.migration.options
        migration.previewsCopy = onCopy
        defer { migration.finishUpdates() }
        let place = StorePlace(configuration, observer: nil)
        return try StorageError.translating {
            guard !configuration.isStoredInMemoryOnly, configuration.allowsSave || onCopy, try place.isPresent() else {
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
        let schema = try Schema.checked(types, version: ContainerRequest.version(of: types, in: migrationPlan)).tables()
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
        let copy =
            try migration.previewsCopy
            ? copying {
                try StoreCopy.make(
                    of: place.directory, for: .dryRun, on: place.disk, clock: place.clock,
                    checksSpace: migration.checksSpace)
            } : nil
        defer { copy?.remove() }
        let free = try place.disk.freeByteCount(in: copy?.directory ?? place.directory)
        try copying { try copy?.checkPresence() }
        let budget = min(place.options.memoryBudget, migration.engineByteCount)
        let log = try copy.map { try place.openCopy(in: $0.directory, budget) } ?? place.open(budget)
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

    /// Runs a step on a copy of the store, and throws its refusal as that of a dry run.
    private static func copying<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as StoreCopyError {
            throw MigrationError(error.code, "\(error)")
        }
    }
}

extension StoreCopyError {
    /// The code of a dry run that cannot begin.
    fileprivate var code: MigrationError.Code {
        switch self {
        case .underWay: .underWay
        case .foreignFile, .removed: .storage
        case .noRoom: .fullDisk
        }
    }
}
