internal import FaultlineDisk
package import FaultlineLog
package import FaultlineModel
package import FaultlineObjects
package import FaultlineStore

/// Migrates a store to the schema of a container.
///
/// A store without a catalog gets one. A store with that schema is used unchanged. Otherwise the stages from the
/// store's version on are run, or, without a plan, one lightweight step; they all end in one transaction, the switch,
/// until which the old state is in force.
package struct Migrator {
    let log: Log
    let schema: Schema
    private let types: [ModelType]
    let plan: (any SchemaMigrationPlan.Type)?
    let options: MigrationOptions
    private let makeStageContainer: (StageStore) -> AnyObject?
    private(set) var report = MigrationReport()
    /// For an online migration: enters the rows that others save meanwhile into its indexes.
    var mirror: IndexMirror?

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - log: The store.
    ///   - schema: The requested schema.
    ///   - types: Its classes.
    ///   - plan: The way from older schemas; nil if none is needed.
    ///   - options: How the migration runs.
    ///   - makeStageContainer: Makes the container for the contexts of a custom stage's closures.
    package init(
        log: Log, schema: Schema, types: [ModelType], plan: (any SchemaMigrationPlan.Type)?,
        options: MigrationOptions,
        makeStageContainer: @escaping (StageStore) -> AnyObject? = { _ in nil }
    ) {
        self.log = log
        self.schema = schema
        self.types = types
        self.plan = plan
        self.options = options
        self.makeStageContainer = makeStageContainer
    }

    /// The result: rows under the requested schema, and the report.
    package typealias Opened = (store: RowStore, report: MigrationReport)

    /// Migrates the store to the schema.
    package mutating func run(isReadOnly: Bool) throws -> Opened {
        if let opened = try openBesideMigration() { return opened }
        return try inTurn { migrator in
            try migrator.tellingFailures { try $0.runInTurn(StoredCatalog.read($0.log.snapshot()), isReadOnly) }
        }
    }

    /// Reports to observers why the store was not migrated; other errors of an opening are not reported.
    private mutating func tellingFailures<R>(_ body: (inout Migrator) throws -> R) throws -> R {
        do { return try body(&self) } catch {
            if error is MigrationError { options.observe?(.failed(error, report.stopped(by: error))) }
            throw error
        }
    }

    /// Calls `body` while no other thread of this process migrates the store.
    mutating func inTurn<R>(_ body: (inout Migrator) throws -> R) throws -> R {
        let turn = MigrationTurns.shared.turn(of: log)
        try turn.take()
        defer { turn.giveUp() }
        return try body(&self)
    }

    /// The same, unless the migration goes through objects: then the log must be opened with only its share of the
    /// ceiling.
    ///
    /// - Returns: Nil if it does; nothing was written then.
    package mutating func runUnlessRewriting(isReadOnly: Bool) throws -> Opened? {
        if let opened = try openBesideMigration() { return opened }
        return try inTurn { migrator in
            try migrator.tellingFailures { migrator in
                let stored = try StoredCatalog.read(migrator.log.snapshot())
                if let stored, !isReadOnly, try migrator.isRewriteDue(stored) { return nil }
                return try migrator.runInTurn(stored, isReadOnly)
            }
        }
    }

    private func isRewriteDue(_ stored: StoredCatalog) throws -> Bool {
        var current = stored
        for step in try MigrationSteps(
            from: stored.schema, stored.map, to: schema, plan: plan, mapping: options.mapping
        ).all {
            if step.isHeavy { return true }
            let plan = try EntityMapPlan(
                for: step.to, over: current.schema, in: current.map, layouts: current.layouts, rewriting: [])
            if plan.readsRows { return true }
            current = current.under(step.to, plan.map, adding: plan.newLayouts)
        }
        return false
    }

    private mutating func runInTurn(_ stored: StoredCatalog?, _ isReadOnly: Bool) throws -> Opened {
        guard let stored else {
            guard !isReadOnly else {
                throw MigrationError(
                    .storage, "The store is empty, and was opened for reading only. Open it for writing once."
                )
            }
            // An invalid plan is reported with the first store, not to a user whose store is old.
            if let plan { try MigrationSteps.check(plan, for: schema) }
            return (try open(try create()), report)
        }
        if !isReadOnly {
            try SwitchKeeping(log: log).settle(now: options.clock.wallNanoseconds())
            // Repeated, because a salvage may not have seen that the catalog names some.
            try noteFeatures(of: stored.schema, stored.map)
        }
        let steps = try MigrationSteps(
            from: stored.schema, stored.map, to: schema, plan: plan, mapping: options.mapping)
        // A read-only opening works without the new indexes.
        if steps.all.isEmpty || isReadOnly && steps.buildsIndexesOnly {
            let catalog = try finishUp(stored, isReadOnly)
            return (try open(catalog), report)
        }
        let consent = try MigrationConsent(log, stored, steps, self)
        try consent.checkVersion()
        guard !isReadOnly else {
            throw MigrationError(
                .storage,
                "The store has to be migrated, and was opened for reading only. Open it for writing once.",
                stage: steps.all.first?.title
            ).comparing(SchemaMismatch(stored: stored.schema, requested: schema))
        }
        try steps.checkReferences(over: stored)
        if options.isOnline { try OnlineCheck(stored: stored, steps: steps.all, options: options).run(consent) }
        let catalog = try options.isOnline ? migrateOnline(stored, steps, consent) : migrate(stored, steps, consent)
        return (try open(catalog), report)
    }

    func open(_ catalog: StoredCatalog) throws -> RowStore {
        try RowStore(log: log, catalog: catalog, types: types, isOfContainer: true)
    }

    /// Records that the store has tables of several classes, and indexes that older releases would not keep.
    private func noteFeatures(of schema: Schema, _ map: EntityMap) throws {
        if schema.hasHeirs { try log.noteSubclasses() }
        if map.hasSecondaryIndexes { try log.noteSecondaryIndexes() }
        if map.hasTextIndexes { try log.noteTextIndexes() }
    }

    // MARK: Without steps

    /// Writes the catalog of a new store.
    private func create() throws -> StoredCatalog {
        let plan = try EntityMapPlan(for: schema)
        try noteFeatures(of: schema, plan.map)
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.write(schema, plan.map, newLayouts: plan.newLayouts, in: &transaction)
            try SchemaLineage.note([], after: schema, in: &transaction)
        }
        return StoredCatalog(schema: schema, map: plan.map, layouts: [:]).under(
            schema, plan.map, adding: plan.newLayouts)
    }

    /// Does the remaining work of an earlier migration, and applies changes of the schema that need no migration:
    /// defaults, delete rules, order.
    private func finishUp(_ stored: StoredCatalog, _ isReadOnly: Bool) throws -> StoredCatalog {
        if isReadOnly { return stored.inForce }
        let stored = try MigrationAbandonment(log: log).run(stored)
        try LeftBehindCleaning(log: log, layouts: stored.layouts).run()
        try dropIndexes(notIn: stored.map)
        let taken = try takeOver(schema, stored)
        try SchemaLineage.settle(log, under: taken.schema)
        return taken
    }

    /// A schema under a version that is not below the stored one: a container without a plan gives it the number 1.0.0.
    func raised(_ asked: Schema, over stored: Schema) -> Schema {
        asked.version < stored.version ? asked.numbered(stored.version) : asked
    }

    /// Applies changes of the schema that need no migration: defaults, delete rules, order.
    ///
    /// Classes are read by the order of their properties, so it must be known before a stage reads objects.
    func takeOver(_ asked: Schema, _ stored: StoredCatalog) throws -> StoredCatalog {
        let schema = raised(asked, over: stored.schema)
        if stored.schema == schema { return stored }
        let plan = try EntityMapPlan(
            for: schema, over: stored.schema, in: stored.map, layouts: stored.layouts, rewriting: [])
        // An index without entries would give wrong answers: a step of its own builds it.
        let map = plan.map.without(plan.indexesToBuild)
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.write(schema, map, newLayouts: plan.newLayouts, in: &transaction)
            try SchemaLineage.note([], after: schema, in: &transaction)
            try SwitchRecord.countOwn(in: &transaction)
        }
        try dropIndexes(notIn: map)
        return stored.under(schema, map, adding: plan.newLayouts)
    }

    /// Drops indexes that no schema names any more.
    ///
    /// Indexes of dropped tables reappear after a crash, so every opening checks.
    func dropIndexes(notIn map: EntityMap) throws {
        let named = map.indexes
        for index in log.indexIDs where !named.contains(index.rawValue) { try log.dropIndex(index) }
    }

    // MARK: Steps

    mutating func migrate(
        _ stored: StoredCatalog, _ steps: MigrationSteps, _ consent: MigrationConsent
    ) throws -> StoredCatalog {
        // For a migration that is refused: the work of earlier runs, if it is kept.
        let earlier = stored.migration.flatMap { $0.planDigest == steps.digest ? $0.report : nil }
        report = MigrationReport(steps.versions, earlier ?? MigrationCounts(), lastPasses: [])
        if options.checksSpace, stored.migration == nil {
            try SpaceCheck(log: log, stored: stored, steps: steps.all).run()
        }
        guard consent.readsValues else {
            return try migrate(begin(stored, steps, digest: digest(of: steps)), steps, replacing: stored.migration)
        }
        let fence = MigrationFence(log: log)
        // Values that are saved after the check would be dropped unseen; an unfinished migration forbids saves already.
        if stored.migration == nil { try fence.raise(stored) }
        do {
            try consent.checkValues()
            return try migrate(
                begin(stored, steps, digest: steps.digest, fence: fence), steps, replacing: stored.migration)
        } catch {
            // If this fails too, the next opening does it.
            try? fence.lower()
            throw error
        }
    }

    private mutating func migrate(
        _ beginning: Begun, _ steps: MigrationSteps, replacing earlier: MigrationRecord?
    ) throws -> StoredCatalog {
        var begun = beginning
        // The next write names new indexes; a migration that was refused before leaves the store to older releases.
        if steps.declareIndexes { try log.noteSecondaryIndexes() }
        if steps.declareTextIndexes { try log.noteTextIndexes() }
        if steps.haveHeirs { try log.noteSubclasses() }
        if begun.resumed == nil { begun.stored = try withoutUnknownTexts(begun.stored) }
        let course = try prepare(begun, steps, replacing: earlier)
        var progress = StepProgress(stored: begun.stored, resumed: begun.resumed)
        options.observe?(.began(versions: steps.versions, isResumed: begun.resumed != nil))
        if let mirror { OnlineMirrors.add(mirror) }
        do {
            try run(steps, begun, course, &progress)
            course.endStages()
            try finish(begun, steps, course, progress)
        } catch {
            course.tellEnd(isStopped: true)
            noteEnd(of: begun, steps, by: error, countsAsFailure: !course.isCancelledByCode)
            report = MigrationReport(steps.versions, course.settledCounts, lastPasses: course.lastPasses)
            report.quarantined = (try? course.quarantine.counts()) ?? []
            if !(error is MigrationError) { options.observe?(.failed(error, report.stopped(by: error))) }
            throw error
        }
        options.observe?(.ended(report))
        return progress.current
    }

    /// Puts the new schema in force, and deletes data that is no longer needed.
    private mutating func finish(
        _ begun: Begun, _ steps: MigrationSteps, _ course: MigrationCourse, _ progress: StepProgress
    ) throws {
        try course.begin(.switching)
        let keeping = SwitchKeeping(log: log)
        // A migration that only builds indexes does not replace an earlier kept state.
        let record =
            steps.buildsIndexesOnly
            ? nil
            : try keeping.begin(options, from: steps.versions.first ?? "", to: steps.versions.last ?? "")
        try settleBeforeSwitch()
        try switchOver(begun.stored, progress, course.quarantine, steps, record)
        try course.begin(.reclaiming)
        try LeftBehindCleaning(log: log, layouts: progress.current.layouts, course: course).run()
        try dropIndexes(notIn: progress.current.map)
        course.end()
        report = MigrationReport(steps.versions, course.settledCounts, lastPasses: course.lastPasses)
        report.quarantined = try course.quarantine.counts()
        if record != nil { report.gracePeriod = try keeping.period() }
    }

    /// Runs the remaining steps.
    func run(
        _ steps: MigrationSteps, _ begun: Begun, _ course: MigrationCourse, _ progress: inout StepProgress
    ) throws {
        // An older container may have opened the log with more.
        try log.budget.limited(to: max(options.engineByteCount, 1)) {
            for (place, step) in steps.all.enumerated() where place >= begun.resumed?.stage ?? 0 {
                let stopped = place == begun.resumed?.stage ? begun.resumed : nil
                course.begin(step, at: place, isResumed: stopped != nil)
                try course.quarantine.begin(step, reading: progress.current)
                var beginning = StepBeginning(
                    log: log, planDigest: begun.digest, place: place, mapInForce: begun.stored.map, course: course,
                    unusedNumbers: begun.unusedNumbers, revisions: steps.all.prefix(place + 1).map(\.revision))
                beginning.isOnline = mirror != nil
                beginning.beginsAgain = stopped != nil && begun.dropsStage
                beginning.attempts = stopped?.attempts
                let check = HierarchyCheck(log, progress.current, step, options)
                progress.hierarchyChecks.append(check)
                do {
                    try check.run()
                    try run(step, &progress, stopped: stopped, beginning, course)
                } catch let error as MigrationError {
                    throw error.about(stage: step.title)
                }
            }
        }
    }

    private func run(
        _ step: MigrationSteps.Step, _ progress: inout StepProgress, stopped: MigrationRecord?,
        _ beginning: StepBeginning, _ course: MigrationCourse
    ) throws {
        if let closures = step.closures {
            let runner = CustomStageRunner(
                log: log, step: step, closures: closures, beginning: beginning, course: course, options: options,
                makeContainer: makeStageContainer)
            try abandoningOnFailure(of: &progress) { try runner.run(&$0, stopped: stopped) }
        } else if !step.mappingModels.isEmpty {
            let runner = MappedStageRunner(
                log: log, step: step, beginning: beginning, course: course, options: options)
            try abandoningOnFailure(of: &progress) { try runner.run(&$0, stopped: stopped) }
        } else {
            let runner = LightweightStepRunner(
                log: log, step: step, beginning: beginning, course: course, options: options, mirror: mirror)
            try runner.run(&progress, stopped: stopped)
        }
    }

    /// Runs a custom or a mapped stage; if it fails and no earlier stage has finished, drops the migration, so that the
    /// old state is in force at once.
    ///
    /// A cancelled stage that can be resumed is left as after a kill.
    private func abandoningOnFailure(
        of progress: inout StepProgress, _ body: (inout StepProgress) throws -> Void
    ) throws {
        let isFirst = progress.intermediateTables.isEmpty
        do { try body(&progress) } catch {
            let isCancelled = (error as? MigrationError)?.code == .cancelled
            // If this fails too, the next opening does it.
            if isFirst, let now = try? StoredCatalog.read(log.snapshot()),
                !isCancelled || now.migration?.mapped == nil
            {
                _ = try? MigrationAbandonment(log: log).run(now)
                try? LeftBehindCleaning(log: log, layouts: now.layouts).run()
                try? dropIndexes(notIn: now.map)
            }
            throw MigrationError.translating(error)
        }
    }

    /// The single transaction that puts the new schema in force.
    private func switchOver(
        _ stored: StoredCatalog, _ progress: StepProgress, _ quarantine: QuarantineKeeper, _ steps: MigrationSteps,
        _ record: SwitchRecord?
    ) throws {
        let target = progress.current
        let dropped = Set(stored.map.tables).union(progress.intermediateTables).subtracting(
            target.map.tables
        ).sorted()
        _ = try log.write(author: nil) { transaction in
            try settleInSwitch(&transaction)
            // Others may have saved since the steps began.
            for check in progress.hierarchyChecks { try check.run(in: transaction) }
            try StoredCatalog.write(
                target.schema, target.map, newLayouts: progress.newLayouts, in: &transaction)
            try SchemaLineage.note(steps.all.map(\.to), after: stored.schema, in: &transaction)
            try quarantine.removeRows(target, steps, in: &transaction)
            // Rewritten objects may have other numbers than in the history.
            if !dropped.isEmpty { try HistoryStart.beginAnew(in: &transaction) }
            if let record { try StoredCatalog.put(record, StoredCatalog.RecordNumber.lastSwitch, in: &transaction) }
            // A stage's last save may be newer than the steps' counts.
            var leftBehindCount = max(
                progress.leftBehindCount, try StoredCatalog.migration(in: transaction)?.leftBehindCount ?? 0)
            for table in dropped {
                guard progress.unreadTables.contains(table), transaction.recordCount(of: .blobs) > 0 else {
                    try transaction.dropTable(TableID(rawValue: table))
                    continue
                }
                try StoredCatalog.put(
                    LeftBehind.table(table),
                    StoredCatalog.RecordNumber.leftBehind + RecordID(leftBehindCount),
                    in: &transaction)
                leftBehindCount += 1
            }
            if try !transaction.location(of: StoredCatalog.RecordNumber.migration, in: .catalog).isAbsent {
                try transaction.delete(StoredCatalog.RecordNumber.migration, in: .catalog)
            }
        }
    }
}
