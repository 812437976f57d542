internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The three passes of a mapped stage, with the calls of its policies.
struct MappedPasses {
    let stage: MappedStage
    let manager: MigrationManager
    /// The name of the stage in errors.
    let name: String
    let course: MigrationCourse
    /// The policy of each mapping that has one, by the mapping's index.
    private let policies: [EntityMigrationPolicy?]

    init(_ stage: MappedStage, _ manager: MigrationManager, name: String, course: MigrationCourse) {
        self.stage = stage
        self.manager = manager
        self.name = name
        self.course = course
        policies = stage.mappings.map { $0.mapping.ownPolicy.map { $0.init() } }
    }

    func run() throws {
        // An invalid filter is refused before any object is made, not hours later.
        for mapping in stage.mappings { try checkFilter(mapping) }
        try stage.chooseRows(manager)
        let start = stage.progress
        try resume(at: start)
        func isDue(_ mapping: ResolvedMapping, _ pass: MappedProgress.Pass) -> Bool {
            start.pass < pass || start.pass == pass && start.mapping <= mapping.place
        }
        for mapping in stage.mappings where isDue(mapping, .make) { try make(mapping) }
        for mapping in stage.mappings where isDue(mapping, .relate) { try relate(mapping) }
        for mapping in stage.mappings where isDue(mapping, .check) { try check(mapping) }
        // Objects of a sample lack related objects outside of it.
        if course.findings?.sample == nil, start.pass < .leave { try checkRules() }
        stage.enter(.leave, 0)
        for entity in manager.sourceSchema.entities {
            try course.begin(.validation, of: entity.name, total: stage.source.storedCount(entityNamed: entity.name))
            try stage.leaveBehind(entity.name)
        }
        try stage.flush()
    }

    private func checkFilter(_ mapping: ResolvedMapping) throws {
        guard let source = mapping.source?.name, let filter = mapping.mapping.sourceFilter else { return }
        do { try stage.source.check(filter, entityNamed: source) } catch {
            throw MigrationError(
                .badPlan,
                "The mapping \(mapping.mapping.name) of the stage to \(name) has a condition that cannot be evaluated.",
                entity: source, cause: error)
        }
    }

    /// Notifies the policies whose work is resumed.
    private func resume(at start: MappedProgress) throws {
        for mapping in stage.mappings {
            let isBegun =
                switch start.pass {
                case .make: mapping.place < start.mapping || mapping.place == start.mapping && start.isBegun
                case .relate: true
                case .check: mapping.place >= start.mapping
                case .leave: false
                }
            guard isBegun, let policy = policies[mapping.place] as? any ResumablePolicy else { continue }
            manager.currentEntityMapping = mapping.mapping
            try call(mapping) { try policy.resume(mapping.mapping, with: manager) }
        }
    }

    // MARK: Passes

    private func make(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        stage.enter(.make, mapping.place)
        if !stage.progress.isBegun {
            try recovering(mapping) {
                try call(mapping) { try policies[mapping.place]?.begin(mapping.mapping, with: manager) }
            }
            stage.progress.isBegun = true
        }
        if let source = mapping.source?.name, mapping.mapping.mappingType != .add {
            let total = stage.source.storedCount(entityNamed: source)
            try course.begin(
                .instances, of: source, mapping: mapping.mapping.name, done: stage.progress.done, total: total)
            if let rows = stage.rows(of: mapping) {
                try makeRows(mapping, rows.conversion, of: source, total: total)
            } else {
                try makeObjects(mapping, of: source, total: total)
            }
        }
        try end(mapping, .make) { try $0?.endInstanceCreation(forMapping: mapping.mapping, manager: manager) }
    }

    private func makeObjects(_ mapping: ResolvedMapping, of source: String, total: Int) throws {
        // Objects that an earlier mapping has made of the old object are dropped with it.
        let isMade = stage.mappings[..<mapping.place].contains { $0.source?.name == source }
        let recovery = recovery(source) {
            isMade ? [(source, $0)] : nil
        } convert: {
            try create(mapping, of: stage.source.dynamicObject($0, entityNamed: source))
        }
        try stage.source.forEachStored(
            entityNamed: source, where: mapping.mapping.sourceFilter, after: stage.progress.lastDone,
            skipped: { try advance(mapping, of: total, pass: 0) }, while: { course.wantsMore }
        ) { old, number, _ in
            if stage.isTaken(number, ofSource: source) { return try advance(mapping, of: total, pass: 0) }
            try recovering(mapping, by: recovery) {
                try create(mapping, of: old)
                stage.reach(number)
                try call(mapping) { try stage.flushIfFull() }
            }
            try advance(mapping, of: total, pass: 0)
        }
        try flushForTrial(mapping, by: recovery)
    }

    func create(_ mapping: ResolvedMapping, of old: ManagedObject) throws {
        course.countRead()
        stage.begin(old.objectID.number)
        let before = stage.associationCount
        try call(mapping, old) {
            if let policy = policies[mapping.place] {
                try policy.createDestinationInstances(forSource: old, in: mapping.mapping, manager: manager)
            } else {
                try manager.createDestinationInstance(forSource: old, in: mapping.mapping)
            }
        }
        if stage.associationCount == before { course.countDropped() }
    }

    private func relate(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        stage.enter(.relate, mapping.place)
        if policies[mapping.place] != nil || !stage.relationships(of: mapping).isEmpty,
            let source = mapping.source?.name,
            let destination = mapping.destination?.name
        {
            let total = try stage.destinationCount(of: mapping)
            try course.begin(
                .relationships, of: destination, mapping: mapping.mapping.name, done: stage.progress.done,
                total: total)
            // Objects that policies make from here on are not related.
            if stage.progress.end == 0 { stage.progress.end = try stage.lastDestination(of: mapping) }
            let recovery = recovery(destination) {
                try stage.makers(of: $0, entityNamed: destination)
            } convert: {
                let new = try stage.target.dynamicObject($0, entityNamed: destination)
                guard let old = try stage.firstSource(of: new, by: mapping.place) else { return }
                try relate(mapping, new, to: stage.source.dynamicObject(old.objectID.number, entityNamed: source))
            }
            try stage.forEachDestination(
                of: mapping, after: stage.progress.lastDone, through: stage.progress.end
            ) { new, old, place in
                try recovering(mapping, by: recovery) {
                    try relate(mapping, new, to: old)
                    stage.reach(place)
                    try call(mapping) { try stage.flushIfFull() }
                }
                try advance(mapping, of: total, pass: 1)
            }
            try flushForTrial(mapping, by: recovery)
        }
        try end(mapping, .relate) { try $0?.endRelationshipCreation(forMapping: mapping.mapping, manager: manager) }
    }

    private func relate(_ mapping: ResolvedMapping, _ new: ManagedObject, to old: ManagedObject) throws {
        stage.begin(new.objectID.number)
        manager.currentSource = old
        defer { manager.currentSource = nil }
        try call(mapping, old) {
            if let policy = policies[mapping.place] {
                try policy.createRelationships(forDestination: new, in: mapping.mapping, manager: manager)
            } else {
                try manager.createRelationships(forDestination: new, in: mapping.mapping)
            }
        }
    }

    private func check(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        stage.enter(.check, mapping.place)
        try course.begin(.validation, of: mapping.destination?.name, mapping: mapping.mapping.name)
        try end(mapping, .check) { policy in
            if course.findings?.sample == nil {
                try policy?.performCustomValidation(forMapping: mapping.mapping, manager: manager)
            }
            try policy?.end(mapping.mapping, manager: manager)
        }
    }

    /// Checks the new objects against the relationship rules of the new schema.
    private func checkRules() throws {
        let check = RuleCheck(
            target: stage.target, schema: manager.destinationSchema,
            rewritten: Set(stage.mappings.compactMap(\.destination?.name)), course: course)
        let limit = course.findings?.room ?? course.quarantine.room ?? RuleCheck.findingsMax
        let broken = try check.run(limit: limit)
        if let findings = course.findings {
            for broken in broken { try findings.note(broken, stage: course.stageName) }
            return
        }
        if course.quarantine.isOn { return try broken.forEach(take) }
        guard broken.isEmpty else {
            let findings = broken.map(\.description).joined(separator: "; ")
            throw MigrationError(
                .stageFailed,
                "Objects from the stage to \(name) break rules of the new version: \(findings). The store is in its old state.",
                entity: broken.first?.entityName, property: broken.first?.propertyName, object: broken.first?.number)
        }
    }

    /// Moves the old objects of a new one that breaks a rule to the quarantine: the stage restarts without them.
    private func take(_ broken: BrokenRule) throws {
        let reason = QuarantineKeeper.Reason(
            MigrationReport.Failure.Rule(broken.kind), broken.description, property: broken.propertyName)
        guard stage.mappings.contains(where: { $0.destination?.name == broken.entityName }) else {
            // It is carried over unchanged, but refers to an object that is not.
            let oldNames = SchemaDifference(from: manager.sourceSchema, to: manager.destinationSchema).oldEntityNames
            if let old = oldNames[broken.entityName] { try course.quarantine.take(broken.number, of: old, reason) }
            return
        }
        let makers = try stage.makers(of: broken.number, entityNamed: broken.entityName)
        guard !makers.isEmpty else {
            throw MigrationError(
                .stageFailed,
                "A new object from the stage to \(name) that comes from no old object breaks a rule of the new version: \(broken.description). The store is in its old state.",
                entity: broken.entityName, property: broken.propertyName)
        }
        for object in makers {
            try course.quarantine.take(object.number, of: object.entity, reason)
        }
        course.quarantine.isLate = true
    }

    // MARK: Failures

    /// Continues after an object that fails.
    private func recovery(
        _ entity: String, makers: @escaping (RecordID) throws -> [(entity: String, number: RecordID)]?,
        convert: @escaping (RecordID) throws -> Void
    ) -> BatchRecovery {
        BatchRecovery(
            convert: convert, flush: { try stage.flush() }, discard: { stage.discard() },
            note: { try stage.noteFailure(of: $0, entity: entity, $1, makers: makers($0)) })
    }

    /// Saves before calls that are not about one object, if the stage continues after failures, so that an object that
    /// cannot be saved is found.
    private func flushForTrial(_ mapping: ResolvedMapping, by recovery: BatchRecovery) throws {
        guard course.goesOnBehindFailures else { return }
        try recovering(mapping, by: recovery) { try call(mapping) { try stage.flush() } }
    }

    /// Calls `body`; if the stage continues after failures, records an error that affects only some objects, and
    /// converts the rest of the batch.
    ///
    /// - Parameters:
    ///   - mapping: The mapping.
    ///   - recovery: Converts the rest; nil for calls that are not about one object.
    ///   - body: The calls.
    /// - Throws: The error of `body`, unless it was recorded.
    private func recovering(
        _ mapping: ResolvedMapping, by recovery: BatchRecovery? = nil, _ body: () throws -> Void
    ) throws {
        do { try body() } catch {
            guard course.goesOnBehindFailures, manager.cancellation == nil, PreviewFindings.isOfObject(error) else {
                throw error
            }
            if let recovery { return try recovery.run(stage.batch[...]) }
            // The failure is not caused by an object.
            guard course.findings != nil else { throw error }
            stage.discard()
            try stage.noteFailure(of: nil, entity: mapping.destination?.name ?? "", error)
        }
    }

    // MARK: Calls

    /// Ends a pass over a mapping: makes the calls that are not about one object, and saves their results.
    private func end(
        _ mapping: ResolvedMapping, _ pass: MappedProgress.Pass, _ calls: (EntityMigrationPolicy?) throws -> Void
    ) throws {
        try recovering(mapping) {
            try call(mapping) {
                try calls(policies[mapping.place])
                stage.leave(pass, mapping.place)
                try stage.flush()
            }
        }
    }

    /// Makes a call of a policy, and throws errors of setters that could not throw.
    func call(_ mapping: ResolvedMapping, _ old: ManagedObject? = nil, _ body: () throws -> Void) throws {
        _ = manager.takeFailedProperty()
        do {
            try body()
            if let error = stage.takeError() { throw error }
        } catch let error as MigrationError where error.code != .stageFailed {
            try throwCancellation()
            throw error.about(entity: old?.entity.name, object: old?.objectID.number)
        } catch {
            try throwCancellation()
            let object = old.map { ", \($0.entity.name) \($0.objectID.number)" } ?? ""
            let cause = stage.cause(of: error)
            let place = FailurePlace(of: cause)
            let isOfMapping = place.entity == mapping.destination?.name || place.entity == mapping.source?.name
            let property = manager.takeFailedProperty() ?? (isOfMapping ? place.property : nil)
            throw MigrationError(
                .stageFailed,
                "The mapping \(mapping.mapping.name) of the stage to \(name) stopped\(object). The store is in its old state.",
                entity: old?.entity.name ?? mapping.source?.name ?? mapping.destination?.name,
                property: property, object: old?.objectID.number, cause: cause)
        }
        try throwCancellation()
    }

    /// Throws the error by which a policy has cancelled the migration, which matters more than one that it throws then.
    private func throwCancellation() throws {
        guard let cancellation = manager.cancellation else { return }
        course.noteCancellation()
        throw cancellation
    }

    func advance(_ mapping: ResolvedMapping, of total: Int, pass: Int) throws {
        if course.done % 1_000 == 999 {
            let share = Float(course.done) / Float(max(total, 1))
            let mappings = Float(stage.mappings.count)
            manager.migrationProgress = (Float(pass) * mappings + Float(mapping.place) + min(share, 1)) / (3 * mappings)
        }
        try course.advance()
    }
}
