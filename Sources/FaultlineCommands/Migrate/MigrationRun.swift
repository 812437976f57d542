package import Faultline
import FaultlineDisk
import FaultlineLog
package import FaultlineMigration
import FaultlineStore
import FoundationEssentials
import Synchronization

/// Runs a migration for a command: looks at the store first, shows progress on the terminal, cancels on Ctrl-C,
/// reports.
package struct MigrationRun {
    private let arguments: MigrationArguments

    package init(_ arguments: MigrationArguments) { self.arguments = arguments }

    /// The target of a migration.
    package struct Goal {
        /// The schema asked for.
        let schema: Schema
        /// The stages that lead to the schema; nil if none is needed.
        let plan: (any SchemaMigrationPlan.Type)?
        /// The mapping that replaces stages if there are none; nil if none is needed.
        let mapping: MappingModel?

        package init(
            _ schema: Schema, by plan: (any SchemaMigrationPlan.Type)? = nil, mapping: MappingModel? = nil
        ) {
            self.schema = schema
            self.plan = plan
            self.mapping = mapping
        }

        /// Whether an unfinished migration has this goal.
        package func continues(_ unfinished: UnfinishedMigration) -> Bool {
            unfinished.goesOn(to: schema, by: plan, mapping: mapping)
        }
    }

    /// Migrates the store, or tries it out, and prints the report.
    ///
    /// - Parameter goal: Makes the goal; it gets the unfinished migration, if there is one, and the schema of the
    ///   store.
    /// - Throws: `CommandFailure`: with status 3 if there is no store, or it cannot be opened; with status 1 if it
    ///   cannot be migrated, if the dry run found an error or too little room on the disk, or if it was cancelled.
    package func run(to goal: (UnfinishedMigration?, Schema) throws -> Goal) throws {
        // Opened for reading first: nothing is written to a directory that is no store.
        let found = try OpenedStore(arguments.store)
        let unfinished = UnfinishedMigration(found.catalog)
        try CommandFailure.working { try found.log.close() }
        if arguments.resume, unfinished == nil {
            throw CommandFailure(
                CommandFailure.refused,
                "\(arguments.store) has no migration under way. Leave --resume out to begin one.")
        }
        let goal = try goal(unfinished, found.catalog.schema)
        if arguments.resume, let unfinished, !goal.continues(unfinished) {
            throw CommandFailure(
                CommandFailure.refused,
                "\(arguments.store) has a migration under way that is another one: beginning this one would give it up. Go on with what began it, or leave --resume out."
            )
        }
        let report = try CommandFailure.working { try migrateOrReport(to: goal) }
        Terminal.output.write(arguments.json ? try report.json() : report.text)
        do { try write(report) } catch {
            throw CommandFailure(
                CommandFailure.refused,
                "The migration is done, but its report, printed above, could not be written to \(arguments.report ?? ""). \(error)"
            )
        }
        if !report.failures.isEmpty {
            throw CommandFailure(
                CommandFailure.refused,
                "The store cannot be migrated as it is: see the failures above. It is as it was.")
        }
        if report.isDryRun, !report.fitsOnDisk {
            throw CommandFailure(
                CommandFailure.refused,
                "The migration needs \(report.diskBytesNeeded) bytes of disk, and \(report.diskBytesFree) are free. Make room first; the store is as it was."
            )
        }
    }

    private func write(_ report: MigrationReport) throws {
        guard let file = arguments.report else { return }
        try Data(report.json().utf8).write(to: URL(filePath: file), options: .atomic)
    }

    /// Migrates; writes the report file also if that fails, with the work up to there.
    private func migrateOrReport(to goal: Goal) throws -> MigrationReport {
        let stopped = Guarded<MigrationReport?>(nil)
        do {
            return try migrate(to: goal) { event in
                if case .failed(_, let report) = event { stopped.withLock { $0 = report } }
            }
        } catch {
            var report = stopped.withLock { $0 } ?? MigrationReport().stopped(by: error)
            report.isDryRun = arguments.dryRun
            do { try write(report) } catch let unwritten {
                throw CommandFailure(
                    CommandFailure.refused,
                    "\(CommandFailure.sentence(for: error)) The report could not be written to \(arguments.report ?? "") either. \(unwritten)"
                )
            }
            throw error
        }
    }

    private func migrate(
        to goal: Goal, observing observer: @escaping @Sendable (MigrationEvent) -> Void
    ) throws -> MigrationReport {
        let display = MigrationDisplay()
        let control = MigrationControl()
        let interrupts = Interrupts(cancelling: control)
        defer {
            interrupts.end()
            display.finish()
        }
        var configuration = ModelConfiguration(
            url: URL(filePath: arguments.store, directoryHint: .isDirectory))
        configuration.options.migration.memoryCeiling = arguments.memory << 20
        configuration.options.migration.unhandledData =
            arguments.keepData ? .fail : arguments.dropData ? .drop : .byPlan
        configuration.options.migration.allowsOlderSchema = arguments.allowOlder
        if let limit = arguments.quarantine { configuration.options.migration.onFailure = .quarantine(limit: limit) }
        if let grace = arguments.grace { configuration.options.migration.gracePeriod = .seconds(grace * 3_600) }
        configuration.options.migration.checksSpace = !arguments.skipSpaceCheck
        configuration.options.migration.isOnline = arguments.online
        configuration.options.migration.restarts = arguments.restart
        configuration.options.migration.resumesAnyway = arguments.resume
        configuration.options.migration.mapping = goal.mapping
        configuration.options.migration.control = control
        configuration.options.migration.progress = { display.show($0) }
        configuration.options.migration.observers.append(observer)
        if arguments.dryRun {
            return try ModelContainer.previewMigration(
                for: goal.schema, migrationPlan: goal.plan, configurations: [configuration],
                sample: arguments.sample, onCopy: arguments.copy)
        }
        let container: ModelContainer
        do {
            container = try ModelContainer(
                for: goal.schema, migrationPlan: goal.plan, configurations: [configuration])
        } catch let error as StorageError where error.code == .lockedByAnother {
            throw CommandFailure(CommandFailure.cannotOpen, "\(error)")
        }
        let report = container.migrationReport
        try container.close()
        return report
    }
}
