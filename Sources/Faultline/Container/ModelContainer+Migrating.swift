internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

// The opening of a store's log, and its way to the schema.

extension ModelContainer {
    /// Opens the log and brings it to the schema.
    ///
    /// A migration that rewrites objects has the log opened with the engine's share of its ceiling.
    static func openStore(
        _ place: StorePlace, _ schema: Schema, _ types: [ModelType], _ plan: (any SchemaMigrationPlan.Type)?,
        _ migration: MigrationOptions, _ configuration: ModelConfiguration, isReadOnly: Bool
    ) throws -> Migrator.Opened {
        let migration = migration.timed(by: place.clock)
        defer { migration.finishUpdates() }
        func use<R>(_ budget: Int, _ body: (_ migrator: inout Migrator, _ log: Log) throws -> R) throws -> R {
            let log = try place.open(budget)
            do {
                var migrator = Migrator(
                    log: log, schema: schema, types: types, plan: plan, options: migration,
                    makeStageContainer: {
                        ModelContainer(stage: $0, migrationPlan: plan, configuration: configuration)
                    })
                return try body(&migrator, log)
            } catch {
                // The caller gets no container that could close the log.
                try? log.close()
                throw error
            }
        }
        let budget = place.options.memoryBudget
        return try StorageError.opening {
            let opened = try use(budget) { migrator, log -> Migrator.Opened? in
                if budget <= migration.engineByteCount { return try migrator.run(isReadOnly: isReadOnly) }
                let opened = try migrator.runUnlessRewriting(isReadOnly: isReadOnly)
                if opened == nil { try log.close() }
                return opened
            }
            if let opened { return opened }
            let report = try use(migration.engineByteCount) { migrator, log in
                let report = try migrator.run(isReadOnly: isReadOnly).report
                try log.close()
                return report
            }
            return (try use(budget) { migrator, _ in try migrator.run(isReadOnly: isReadOnly).store }, report)
        }
    }
}
