internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs one mapped stage: makes the new objects, relates them, checks them; each pass visits the mappings in their
/// order.
///
/// The new objects lie in tables of their own, and who became whom in hidden links. A stage that was stopped goes on if it
/// can; else it is taken back and begins again.
struct MappedStageRunner {
    let log: Log
    let step: MigrationSteps.Step
    let beginning: StepBeginning
    let course: MigrationCourse
    let options: MigrationOptions

    /// Runs the stage.
    ///
    /// - Parameters:
    ///   - progress: What the steps before have come to; has the stage's result afterwards.
    ///   - stopped: The record of this stage, if it was begun and did not end.
    /// - Throws: `MigrationError.stageFailed` where a policy or an object failed; what a policy cancelled the migration
    ///   with; what the store says where it cannot be read or written.
    func run(_ progress: inout StepProgress, stopped: MigrationRecord?) throws {
        let resumed = stopped.flatMap { goesOn(from: $0) ? $0 : nil }
        if let stopped, resumed == nil { try beginning.takeBack(stopped, &progress) }
        var attempt = progress
        let isLate: Bool
        do { isLate = try run(attempt: &attempt, resumed: resumed) } catch {
            // Should this fail too, it fails the same way the next time.
            if (error as? MigrationError)?.code != .cancelled { try? beginAgainNextTime() }
            throw error
        }
        guard isLate else {
            progress = attempt
            return
        }
        // Something was made of objects that were taken into the quarantine afterwards.
        let again = MappedStageRunner(
            log: log, step: step, beginning: try beginning.again(&progress), course: course, options: options)
        try again.run(&progress, stopped: nil)
    }

    /// Whether a stage that was stopped goes on, and does not begin again.
    private func goesOn(from stopped: MigrationRecord) -> Bool {
        guard let progress = stopped.mapped, isResumable, step.isOfSchemas(of: stopped) else { return false }
        let count = step.mappingModels.reduce(0) { $0 + $1.entityMappings.count }
        return progress.mapping <= count && progress.merging.allSatisfy { $0 < count }
            && progress.leftBehindCount <= stopped.leftBehindCount
            && progress.blobsLeftBehind <= stopped.report.blobsLeftBehind
    }

    /// Writes down that the stage has failed: what mends its mappings or policies has to make the objects again.
    private func beginAgainNextTime() throws {
        guard var record = try StoredCatalog.read(log.snapshot())?.migration, record.mapped != nil else { return }
        record.mapped = nil
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
    }

    /// Whether a kill need not be the end of what was done: nothing has to be taken back, and no policy is lost.
    private var isResumable: Bool {
        !course.goesOnBehindFailures
            && step.mappingModels.flatMap(\.entityMappings).allSatisfy {
                $0.entityMigrationPolicy == nil || $0.entityMigrationPolicy is any ResumablePolicy.Type
            }
    }

    /// Runs the stage once.
    ///
    /// - Parameters:
    ///   - progress: What the steps before have come to.
    ///   - resumed: The record of the stage, if it goes on.
    /// - Returns: Whether it has to be run again without the objects that were taken into the quarantine.
    /// - Throws: As `run(_:stopped:)`.
    private func run(attempt progress: inout StepProgress, resumed: MigrationRecord?) throws -> Bool {
        let current = progress.current
        let mappings = try MappingResolution(
            step.mappingModels, from: current.schema, to: step.to, stage: step.name
        ).resolved()
        let rewritten = step.rewrittenEntities(from: current.schema)
        var plan = try EntityMapPlan(
            for: step.to, over: current.schema, in: current.map, layouts: current.layouts, rewriting: rewritten)
        try plan.addPassingLinks(mappings.count + 1)
        progress.newLayouts += plan.newLayouts
        progress.note(plan, of: step)
        course.noteLeftBehind(LeftBehindValues(step, current, mappings).found(in: log.snapshot()))
        let target = current.under(step.to, plan.map, adding: plan.newLayouts)
        let links = try step.linksToBuild(plan, over: current.schema)
        let required = try step.requiredReferences(plan, over: current.schema)
        let ownTables = Set(plan.map.tables).subtracting(current.map.tables).sorted()
        let record =
            try resumed.map(takeBackLeaving)
            ?? beginning.write(
                progress, target: target, counters: target.map.counters,
                successors: StepBeginning.successors(of: rewritten, from: current, to: target)
                    + LinkBuilding.successors(links, in: target.map),
                ownTables: ownTables)
        progress.firstBlob = record.firstBlob
        progress.intermediateTables.formUnion(ownTables)
        // What is past that need not be done again.
        if resumed == nil {
            try LinkBuilding(log: log, catalog: target, course: course).run(links, record: record)
            try RequiredReferenceCheck(log: log, catalog: target, course: course, source: current).run(
                required, of: step)
            if !plan.indexesToBuild.isEmpty {
                try IndexBuilding(log: log, catalog: target, course: course, source: current).run(
                    plan.indexesToBuild, record: record)
            }
        }
        let stage = try makeStage(mappings, from: current, to: target, record)
        stage.goesOn = isResumable
        try MappedPasses(
            stage, MigrationManager(stage, source: current.schema, destination: target.schema),
            name: step.name, course: course
        ).run()
        let settling = QuarantineSettling(
            log: log, step: step, source: current, target: target, rewritten: rewritten, course: course,
            makers: { try stage.makers(of: $1, entityNamed: $0) })
        if try settling.run() { return true }
        progress.leftBehindCount = stage.record.leftBehindCount
        progress.current = target.under(target.schema, target.map.withoutPassingLinks)
        return false
    }

    /// Takes back what the last pass of a stage that goes on had written down, as it is done again as a whole.
    private func takeBackLeaving(_ stopped: MigrationRecord) throws -> MigrationRecord {
        guard let progress = stopped.mapped, progress.pass == .leave,
            progress.leftBehindCount < stopped.leftBehindCount
        else { return stopped }
        var record = stopped
        record.leftBehindCount = progress.leftBehindCount
        course.counts.blobsLeftBehind = progress.blobsLeftBehind
        record.report = course.settledCounts
        _ = try log.write(author: nil) { transaction in
            for place in progress.leftBehindCount..<stopped.leftBehindCount {
                try transaction.delete(StoredCatalog.RecordNumber.leftBehind + RecordID(place), in: .catalog)
            }
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        return record
    }

    private func makeStage(
        _ mappings: [ResolvedMapping], from current: StoredCatalog, to target: StoredCatalog, _ record: MigrationRecord
    ) throws -> MappedStage {
        let session = StageSession(
            firstOwnBlob: record.restart?.firstBlob ?? record.firstBlob, isDryRun: course.findings != nil)
        let reader = session.makeCore(
            try RowStore(log: log, catalog: current), current.schema.entities.map(ModelType.dynamic), isReadOnly: true)
        let writer = session.makeCore(
            try RowStore(log: log, catalog: target, isMigrationTarget: true),
            target.schema.entities.map(ModelType.dynamic))
        writer.sharedTables = Set(
            Set(current.map.tables).intersection(target.map.tables).map { TableID(rawValue: $0) })
        course.watch(session.tallies)
        return try MappedStage(
            mappings, source: reader, target: writer, session: session, record: record, course: course,
            batchByteCount: options.stageBatchByteCount)
    }
}
