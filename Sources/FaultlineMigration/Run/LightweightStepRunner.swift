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
            for: step.to, over: current.schema, in: current.map, rewriting: rewritten)
        progress.newLayouts += plan.newLayouts
        progress.note(plan, of: step)
        course.noteLeftBehind(LeftBehindValues(step, current).found(in: log.snapshot()))
        let target = current.under(step.to, plan.map, adding: plan.newLayouts)
        let entities = step.streamedEntities
        let links = try step.linksToBuild(plan, over: current.schema)
        if !entities.isEmpty || !plan.indexesToBuild.isEmpty || !links.isEmpty {
            let record =
                try stopped
                ?? beginning.write(
                    progress, target: target, counters: target.map.counters,
                    successors: StepBeginning.successors(of: rewritten, from: current, to: target)
                        + LinkBuilding.successors(links, in: target.map))
            progress.firstBlob = record.firstBlob
            try build(plan.indexesToBuild, links, target, record)
            try stream(entities, target, record, &progress)
            progress.intermediateTables.formUnion(record.targetMap.tables)
        }
        progress.current = target
    }

    /// Builds the indexes and links that a step adds over rows that stay, unless the step is past that.
    private func build(
        _ indexes: [EntityMapPlan.IndexToBuild], _ links: [EntityMapPlan.LinkToBuild], _ target: StoredCatalog,
        _ record: MigrationRecord
    ) throws {
        guard record.entity == 0, record.lastDone == 0 else { return }
        try LinkBuilding(log: log, catalog: target).run(links, record: record)
        guard !indexes.isEmpty else { return }
        do {
            try IndexBuilding(log: log, catalog: target, course: course).run(indexes, record: record)
        } catch let error as StoreError where error.code == .duplicate {
            if let now = try StoredCatalog.read(log.snapshot()) {
                try MigrationAbandonment(log: log).run(now)
            }
            throw MigrationError.translating(error)
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
