internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs a step whose objects go over as they are, but for those that a streamed stage writes anew.
struct LightweightStepRunner {
    let log: Log
    let step: MigrationSteps.Step
    let beginning: StepBeginning
    let course: MigrationCourse
    let options: MigrationOptions

    /// Runs the step.
    ///
    /// - Parameters:
    ///   - progress: What the steps before have come to; has the step's result afterwards.
    ///   - stopped: The record of this step, if it was begun and did not end.
    /// - Throws: `MigrationError`: `duplicate` where rows contradict a uniqueness constraint, `stageFailed` where a
    ///   closure threw; what the store says where it cannot be read or written.
    func run(_ progress: inout StepProgress, stopped: MigrationRecord?) throws {
        let current = progress.current
        let rewritten = step.rewrittenEntities(from: current.schema)
        let plan = try EntityMapPlan(
            for: step.to, over: current.schema, in: current.map, layouts: current.layouts, rewriting: rewritten)
        progress.newLayouts += plan.newLayouts
        progress.note(plan, of: step)
        course.noteLeftBehind(LeftBehindValues(step, current).found(in: log.snapshot()))
        let target = current.under(step.to, plan.map, adding: plan.newLayouts)
        let entities = step.streamedEntities
        let links = try step.linksToBuild(plan, over: current.schema)
        let required = try step.requiredReferences(plan, over: current.schema)
        if !entities.isEmpty || !plan.indexesToBuild.isEmpty || !links.isEmpty || !required.isEmpty {
            let record =
                try stopped
                ?? beginning.write(
                    progress, target: target, counters: target.map.counters,
                    successors: StepBeginning.successors(of: rewritten, from: current, to: target)
                        + LinkBuilding.successors(links, in: target.map))
            progress.firstBlob = record.firstBlob
            // What is past that need not be done again.
            if record.entity == 0, record.lastDone == 0 {
                try abandoningOnFailure(isFirst: progress.intermediateTables.isEmpty) {
                    try LinkBuilding(log: log, catalog: target, course: course).run(links, record: record)
                    try RequiredReferenceCheck(log: log, catalog: target, course: course).run(required, of: step)
                    if !plan.indexesToBuild.isEmpty {
                        try IndexBuilding(log: log, catalog: target, course: course).run(
                            plan.indexesToBuild, record: record)
                    }
                }
            }
            try stream(entities, target, record, &progress)
            progress.intermediateTables.formUnion(record.targetMap.tables)
        }
        progress.current = target
    }

    /// Looks at rows that stay; where they contradict the new version and no earlier stage has finished, gives the
    /// migration up, so that the old state is in force at once.
    private func abandoningOnFailure(isFirst: Bool, _ body: () throws -> Void) throws {
        do { try body() } catch {
            let error = MigrationError.translating(error)
            if isFirst, let failure = error as? MigrationError, failure.code != .cancelled,
                let now = try StoredCatalog.read(log.snapshot())
            {
                try MigrationAbandonment(log: log).run(now)
            }
            throw error
        }
    }

    private func stream(
        _ entities: [StreamedEntity], _ target: StoredCatalog, _ record: MigrationRecord,
        _ progress: inout StepProgress
    ) throws {
        guard !entities.isEmpty else { return }
        var runner = StageRunner(
            log: log, source: progress.current, target: target, entities: entities, record: record,
            fromTypes: step.fromTypes, toTypes: step.toTypes, options: options, course: course)
        try runner.run()
        progress.leftBehindCount = runner.leftBehindCount
    }
}
