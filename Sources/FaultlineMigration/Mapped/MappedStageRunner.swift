internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs one mapped stage: makes the new objects, relates them, checks them; each pass visits the mappings in their
/// order.
///
/// The new objects are in tables of their own, and the pairs of old and new objects in hidden links. A stopped stage is
/// resumed if possible; else it is undone and restarts.
struct MappedStageRunner {
    let log: Log
    let step: MigrationSteps.Step
    let beginning: StepBeginning
    let course: MigrationCourse
    let options: MigrationOptions

    /// Runs the stage.
    ///
    /// - Parameters:
    ///   - progress: The result of the steps before; has the stage's result afterwards.
    ///   - stopped: The record of this stage, if it was begun and did not end.
    /// - Throws: `MigrationError.stageFailed` if a policy or an object failed; the error with which a policy cancelled
    ///   the migration; the store's error if it cannot be read or written.
    func run(_ progress: inout StepProgress, stopped: MigrationRecord?) throws {
        let resumed = stopped.flatMap { goesOn(from: $0) ? $0 : nil }
        if let stopped, resumed == nil { try beginning.takeBack(stopped, &progress) }
        var attempt = progress
        let isLate: Bool
        do { isLate = try run(attempt: &attempt, resumed: resumed) } catch {
            // If this fails too, the next opening fails in the same way.
            if (error as? MigrationError)?.code != .cancelled { try? beginAgainNextTime() }
            throw error
        }
        guard isLate else {
            progress = attempt
            return
        }
        // Objects were used before they were quarantined.
        let again = MappedStageRunner(
            log: log, step: step, beginning: try beginning.again(&progress), course: course, options: options)
        try again.run(&progress, stopped: nil)
    }

    /// Whether a stopped stage is resumed, instead of restarting.
    private func goesOn(from stopped: MigrationRecord) -> Bool {
        guard !beginning.beginsAgain, let progress = stopped.mapped, isResumable, step.isOfSchemas(of: stopped)
        else { return false }
        let count = step.mappingModels.reduce(0) { $0 + $1.entityMappings.count }
        return progress.mapping <= count && progress.merging.allSatisfy { $0 < count }
            && progress.leftBehindCount <= stopped.leftBehindCount
            && progress.blobsLeftBehind <= stopped.report.blobsLeftBehind
    }

    /// Records that the stage has failed: corrected mappings or policies must make all objects again.
    private func beginAgainNextTime() throws {
        guard var record = try StoredCatalog.read(log.snapshot())?.migration, record.mapped != nil else { return }
        record.mapped = nil
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
    }

    /// Whether the stage can be resumed after a kill: nothing must be undone, and no policy loses its state.
    private var isResumable: Bool {
        !course.goesOnBehindFailures
            && step.mappingModels.flatMap(\.entityMappings).allSatisfy {
                $0.ownPolicy == nil || $0.ownPolicy is any ResumablePolicy.Type
            }
    }

    /// Runs the stage once.
    ///
    /// - Parameters:
    ///   - progress: The result of the steps before.
    ///   - resumed: The record of the stage, if it is resumed.
    /// - Returns: Whether it must run again without the objects that were quarantined.
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
        let successors =
            StepBeginning.successors(of: rewritten, from: current, to: target)
            + LinkBuilding.successors(links, in: target.map)
        let record =
            try resumed.map { try beginning.resume(takeBackLeaving($0), successors: successors) }
            ?? beginning.write(
                progress, target: target, counters: target.map.counters, successors: successors, ownTables: ownTables)
        progress.firstBlob = record.firstBlob
        progress.intermediateTables.formUnion(ownTables)
        // A resumed stage has done this already.
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
            stage,
            step.managerClass.init(.init(objects: stage, source: current.schema, destination: target.schema)),
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

    /// Undoes the records of a resumed stage's last pass, because it is repeated as a whole.
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
        let session = StageSession(firstOwnBlob: record.firstStageBlob, isDryRun: course.findings != nil)
        let reader = session.makeCore(
            try RowStore(log: log, catalog: current), current.schema.entities.map(ModelType.dynamic), isReadOnly: true)
        let writer = session.makeCore(
            try RowStore(log: log, catalog: target, isMigrationTarget: true),
            target.schema.entities.map(ModelType.dynamic))
        writer.rules.sharedTables = Set(
            Set(current.map.tables).intersection(target.map.tables).map { TableID(rawValue: $0) })
        course.watch(session.tallies)
        return try MappedStage(
            mappings, source: StageContext(reader), target: StageContext(writer), session: session, record: record,
            course: course, options: options)
    }
}
