internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs a step whose objects are carried over, except those that a streamed stage rewrites.
struct LightweightStepRunner {
    let log: Log
    let step: MigrationSteps.Step
    let beginning: StepBeginning
    let course: MigrationCourse
    let options: MigrationOptions
    /// For an online migration: enters the rows that others save meanwhile.
    var mirror: IndexMirror?

    /// Runs the step.
    ///
    /// - Parameters:
    ///   - progress: The result of the steps before; has the step's result afterwards.
    ///   - stopped: The record of this step, if it was begun and did not end.
    /// - Throws: `MigrationError`: `duplicate` if rows contradict a uniqueness constraint, `stageFailed` if a closure
    ///   threw; the store's error if it cannot be read or written.
    func run(_ progress: inout StepProgress, stopped: MigrationRecord?) throws {
        if beginning.beginsAgain, let stopped {
            try beginning.takeBack(stopped, &progress)
            return try run(&progress, stopped: nil)
        }
        var attempt = progress
        guard try run(attempt: &attempt, stopped: stopped) else {
            progress = attempt
            return
        }
        // Objects were used before they were quarantined.
        let again = LightweightStepRunner(
            log: log, step: step, beginning: try beginning.again(&progress), course: course, options: options)
        try again.run(&progress, stopped: nil)
    }

    /// Runs the step once.
    ///
    /// - Returns: Whether it must run again without the objects that were quarantined.
    private func run(attempt progress: inout StepProgress, stopped: MigrationRecord?) throws -> Bool {
        let current = progress.current
        let isFirst = progress.intermediateTables.isEmpty
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
            try mirror?.add(plan.indexesToBuild, of: target)
            let successors =
                StepBeginning.successors(of: rewritten, from: current, to: target)
                + LinkBuilding.successors(links, in: target.map)
            let record =
                try stopped.map { try beginning.resume($0, successors: successors) }
                ?? beginning.write(
                    progress, target: target, counters: target.map.counters, successors: successors,
                    ownTables: course.quarantine.isOn || !entities.isEmpty
                        ? Set(target.map.tables).subtracting(current.map.tables).sorted() : nil,
                    goesOn: !course.quarantine.isOn)
            mirror?.noteCounted(below: target.map.counters.index)
            progress.firstBlob = record.firstBlob
            // A resumed step has done this already.
            if record.entity == 0, record.lastDone == 0 {
                try abandoningOnFailure(isFirst: isFirst) {
                    try LinkBuilding(log: log, catalog: target, course: course).run(links, record: record)
                    try RequiredReferenceCheck(log: log, catalog: target, course: course, source: current).run(
                        required, of: step)
                    if !plan.indexesToBuild.isEmpty {
                        try IndexBuilding(
                            log: log, catalog: target, course: course, source: current, mirror: mirror
                        ).run(plan.indexesToBuild, record: record)
                    }
                }
            }
            try stream(entities, target, record, &progress)
            progress.intermediateTables.formUnion(record.targetMap.tables)
        }
        if try settling(current, target, rewritten).run() { return true }
        if !entities.isEmpty, course.findings == nil {
            try beginningAgainOnFailure(isFirst: isFirst) { try checkRules(of: target, rewritten, over: current) }
        }
        progress.current = target
        return false
    }

    /// Checks the objects that streamed closures have made, and those that refer to them, against the relationship
    /// rules of the new schema.
    ///
    /// Quarantined objects leave their tables with the switch.
    private func checkRules(
        of target: StoredCatalog, _ rewritten: Set<String>, over current: StoredCatalog
    ) throws {
        let store = try RowStore(log: log, catalog: target, types: step.toTypes, isMigrationTarget: true)
        let session = StageSession(firstOwnBlob: 1, isDryRun: false)
        let output = StageContext(session.makeCore(store, step.toTypes, isReadOnly: true))
        let oldTables = SchemaDifference(from: current.schema, to: target.schema).oldEntityNames.compactMapValues {
            current.map.entity(named: $0)?.table
        }
        let check = RuleCheck(target: output, schema: target.schema, rewritten: rewritten, course: course) {
            (name, number) in oldTables[name].map { course.quarantine.contains(number, in: $0) } ?? false
        }
        let broken = try check.run(limit: course.quarantine.room ?? RuleCheck.findingsMax)
        if course.quarantine.isOn { return try settling(current, target, rewritten).take(broken) }
        guard let first = broken.first else { return }
        let findings = broken.map(\.description).joined(separator: "; ")
        let isOfReference = if case .count = first.kind { false } else { true }
        throw MigrationError(
            isOfReference ? .missingReference : .stageFailed,
            "Objects from the streamed stage to \(step.name) break rules of the new version: \(findings). The store is in its old state, and the stage begins again. Let it write the missing objects, or make the relationship optional.",
            stage: step.title, entity: first.entityName, property: first.propertyName, object: first.number)
    }

    private func settling(
        _ current: StoredCatalog, _ target: StoredCatalog, _ rewritten: Set<String>
    ) -> QuarantineSettling {
        let oldNames = SchemaDifference(from: current.schema, to: target.schema).oldEntityNames
        return QuarantineSettling(
            log: log, step: step, source: current, target: target, rewritten: rewritten, course: course
        ) { entity, number in
            // Objects in the entity of an old one keep its number, new ones have no old number.
            guard let old = oldNames[entity], let table = current.map.entity(named: old)?.table,
                try !log.snapshot().location(of: number, in: TableID(rawValue: table)).isAbsent
            else { return [] }
            return [(old, number)]
        }
    }

    /// Checks remaining rows; if they contradict the new version and no earlier stage has finished, drops the
    /// migration, so that the old state is in force at once.
    private func abandoningOnFailure(isFirst: Bool, _ body: () throws -> Void) throws {
        do { try body() } catch {
            let error = MigrationError.translating(error)
            if isFirst, let failure = error as? MigrationError, failure.code != .cancelled,
                let now = try? StoredCatalog.read(log.snapshot())
            {
                // If this fails too, the next opening does it.
                _ = try? MigrationAbandonment(log: log).run(now)
            }
            throw error
        }
    }

    /// Checks the output of a streamed stage; if it breaks a rule, makes the stage begin again, because corrected
    /// closures make other objects.
    ///
    /// If no earlier stage has finished, drops the migration. Other errors, like a full disk, say nothing about the
    /// output: the next opening goes on with the check.
    private func beginningAgainOnFailure(isFirst: Bool, _ body: () throws -> Void) throws {
        do { try body() } catch let error as MigrationError
            where error.code == .stageFailed || error.code == .missingReference
        {
            try abandoningOnFailure(isFirst: isFirst) {
                // If this fails too, the next opening fails in the same way.
                if !isFirst { try? beginAgainNextTime() }
                throw error
            }
        }
    }

    private func beginAgainNextTime() throws {
        guard var record = try StoredCatalog.read(log.snapshot())?.migration else { return }
        record.restart?.goesOn = nil
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
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
