internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs one custom stage: copies the rows that its closures may change, calls them, and makes the change between them.
///
/// The old state keeps its tables, indexes and large values: closures write in a working copy, and large values of the
/// old state that they drop are deleted after the switch. A stopped stage is undone and restarts: it counts only as a
/// whole.
struct CustomStageRunner {
    let log: Log
    let step: MigrationSteps.Step
    let closures: StageClosures
    let beginning: StepBeginning
    let course: MigrationCourse
    let options: MigrationOptions
    /// Makes the container for `context.container`.
    let makeContainer: (StageStore) -> AnyObject?

    /// The places of the stage's rows.
    private struct Plan {
        /// The copied state: under the old schema if `willMigrate` needs it, else under the new one.
        let working: StoredCatalog
        let target: StoredCatalog
        let newLayouts: [RowLayout]
        let indexesToBuild: [EntityMapPlan.IndexToBuild]
        let linksToBuild: [EntityMapPlan.LinkToBuild]
        let requiredReferences: [EntityMapPlan.RequiredReference]
    }

    /// Runs the stage.
    ///
    /// - Parameters:
    ///   - progress: The result of the steps before; has the stage's result afterwards.
    ///   - stopped: The record of this stage, if it was begun and did not end.
    /// - Throws: `MigrationError.stageFailed` if a closure failed; `duplicate` if rows contradict a uniqueness
    ///   constraint; the store's error if it cannot be read or written.
    func run(_ progress: inout StepProgress, stopped: MigrationRecord?) throws {
        if let stopped { try beginning.takeBack(stopped, &progress) }
        let plan = try plan(progress.current)
        progress.newLayouts += plan.newLayouts
        let workingStore = try rows(plan.working, closures.willMigrate == nil ? step.toTypes : step.fromTypes)
        let copying = RowCopying(
            from: progress.current, to: workingStore,
            batchByteCount: options.stageBatchByteCount)

        let oldTables = Set(progress.current.map.tables)
        let ownTables = Set(plan.working.map.tables + plan.target.map.tables).subtracting(oldTables).sorted()
        let record = try beginning.write(
            progress, target: plan.working, counters: plan.target.map.counters,
            successors: copying.pairs.map { ($0.source.rawValue, $0.target.rawValue) }, ownTables: ownTables)
        progress.firstBlob = record.firstBlob
        let copiedTables = Set(copying.pairs.map(\.source.rawValue))
        progress.unreadTables.formUnion(Self.entityTables(progress.current).subtracting(copiedTables))
        progress.unreadTables.formUnion(Self.entityTables(plan.working).subtracting(plan.target.map.tables))
        progress.intermediateTables.formUnion(ownTables)
        if closures.willMigrate == nil {
            course.noteLeftBehind(LeftBehindValues(step, progress.current).found(in: log.snapshot()))
        }
        try copy(copying)
        let firstOwnBlob = record.firstStageBlob
        if let willMigrate = closures.willMigrate {
            try call(willMigrate, "willMigrate", workingStore, step.fromTypes, firstOwnBlob)
            course.noteLeftBehind(LeftBehindValues(step, plan.working).found(in: log.snapshot()))
            let record = try moveOn(to: plan.target, plan.linksToBuild)
            try LinkBuilding(log: log, catalog: plan.target, course: course).run(plan.linksToBuild, record: record)
            if !plan.indexesToBuild.isEmpty {
                try IndexBuilding(log: log, catalog: plan.target, course: course).run(
                    plan.indexesToBuild, record: record)
            }
        } else if !plan.linksToBuild.isEmpty {
            let record = try moveOn(to: plan.target, plan.linksToBuild)
            try LinkBuilding(log: log, catalog: plan.target, course: course).run(plan.linksToBuild, record: record)
        }
        try RequiredReferenceCheck(log: log, catalog: plan.target, course: course).run(
            plan.requiredReferences, of: step, endsAtFirst: true)
        if let didMigrate = closures.didMigrate {
            try call(didMigrate, "didMigrate", rows(plan.target, step.toTypes), step.toTypes, firstOwnBlob)
        }
        progress.leftBehindCount =
            try StoredCatalog.entry(MigrationRecord.self, StoredCatalog.RecordNumber.migration, in: log.snapshot())?
            .leftBehindCount ?? progress.leftBehindCount
        progress.current = plan.target
    }

    // MARK: Before the closures

    private func copy(_ copying: RowCopying) throws {
        try course.begin(.copying)
        var entityName = ""
        try copying.run(
            except: { course.quarantine.contains($0, in: $1.rawValue) },
            // A transaction ends when a report is due: the handler may take long.
            endsEarly: { course.isDue },
            progress: { entity, done, total in
                if entity != entityName {
                    entityName = entity
                    try course.begin(.copying, of: entity, total: total)
                }
                course.countCopied(done - course.done, of: entity)
                try course.reach(done)
            })
    }

    private func plan(_ current: StoredCatalog) throws -> Plan {
        let copied = closures.willMigrate == nil ? step.to : step.from
        let copy = try EntityMapPlan(
            for: copied, over: current.schema, in: current.map, layouts: current.layouts,
            rewriting: Set(copied.entities.map(\.name)))
        let working = current.under(copied, copy.map, adding: copy.newLayouts)
        guard closures.willMigrate != nil else {
            return Plan(
                working: working, target: working, newLayouts: copy.newLayouts, indexesToBuild: [],
                linksToBuild: copy.linksToBuild, requiredReferences: copy.requiredReferences)
        }
        let change = try EntityMapPlan(
            for: step.to, over: copied, in: copy.map, layouts: working.layouts, rewriting: [])
        return Plan(
            working: working, target: working.under(step.to, change.map, adding: change.newLayouts),
            newLayouts: copy.newLayouts + change.newLayouts, indexesToBuild: change.indexesToBuild,
            linksToBuild: change.linksToBuild, requiredReferences: change.requiredReferences)
    }

    private static func entityTables(_ catalog: StoredCatalog) -> Set<UInt16> { Set(catalog.map.entities.map(\.table)) }

    /// Records that the stage continues under the new schema: a replay of the log from here on has its indexes.
    private func moveOn(to target: StoredCatalog, _ links: [EntityMapPlan.LinkToBuild]) throws -> MigrationRecord {
        try log.write(author: nil) { transaction in
            guard var record = try StoredCatalog.migration(in: transaction) else {
                throw MigrationError(.storage, "The migration's record is gone while it runs. Run `faultline verify`.")
            }
            record.targetSchema = target.schema
            record.targetMap = target.map
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            try StepBeginning.reserve(LinkBuilding.successors(links, in: target.map), in: &transaction)
            return record
        }.value
    }

    // MARK: Closures

    private func rows(_ catalog: StoredCatalog, _ types: [ModelType]) throws -> RowStore {
        try RowStore(log: log, catalog: catalog, types: types, isMigrationTarget: true)
    }

    private func call(
        _ closure: (ModelContext) throws -> Void, _ name: String, _ store: RowStore, _ types: [ModelType],
        _ firstOwnBlob: UInt64
    ) throws {
        let session = StageSession(
            firstOwnBlob: firstOwnBlob, isDryRun: course.findings != nil,
            heldByteCountMax: options.stageBatchByteCount)
        let stage = StageStore(store: store, types: types, session: session)
        let context = ModelContext(stage.makeCore(), owner: makeContainer(stage))
        course.watch(session.tallies)
        try course.begin(.closures)
        let work = ClosureWork(course, options, session)
        session.onUse = { try work.note() }
        defer { session.end() }
        do { try closure(context) } catch {
            try options.control?.obey()
            throw failure(name, "threw an error", session.cause(of: error))
        }
        try options.control?.obey()
        if let error = session.error {
            throw failure(name, "caught an error that its context met, so the call was not carried out", error)
        }
        let saved = session.saved
        course.countRead(session.tallies.sum.rowsRead)
        course.countWritten(saved.written)
        course.countDeleted(saved.deleted)
        course.countLeftBehind(blobs: saved.blobsLeftBehind)
        course.countNotSaved(StageContext(context.core).pendingCount)
        course.settle()
    }

    private func failure(_ name: String, _ problem: String, _ cause: any Error) -> MigrationError {
        let place = FailurePlace(of: cause)
        return MigrationError(
            .stageFailed,
            "\(name) of the custom stage from \(step.from.version) to \(step.to.version) \(problem). The store is in its old state; the stage begins again when the container is made again.",
            stage: step.title, entity: place.entity, property: place.property, object: place.object, cause: cause)
    }
}
