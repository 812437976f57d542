internal import FaultlineModel
internal import FaultlineObjects

/// The three passes of a mapped stage, with the calls of its policies.
struct MappedPasses {
    let stage: MappedStage
    let manager: MigrationManager
    /// What errors call the stage.
    let name: String
    let course: MigrationCourse
    /// One for each mapping that has one, by the mapping's place.
    private let policies: [EntityMigrationPolicy?]

    /// Findings that an error names.
    private static let findingsMax = 20

    init(_ stage: MappedStage, _ manager: MigrationManager, name: String, course: MigrationCourse) {
        self.stage = stage
        self.manager = manager
        self.name = name
        self.course = course
        policies = stage.mappings.map { $0.mapping.entityMigrationPolicy.map { $0.init() } }
    }

    func run() throws {
        for mapping in stage.mappings { try make(mapping) }
        for mapping in stage.mappings { try relate(mapping) }
        for mapping in stage.mappings { try check(mapping) }
        try checkRules()
        for entity in manager.sourceSchema.entities {
            try course.begin(.validation, of: entity.name, total: stage.source.storedCount(entityNamed: entity.name))
            try stage.leaveBehind(entity.name)
        }
        try stage.flush()
    }

    // MARK: Passes

    private func make(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        try call(mapping) { try policies[mapping.place]?.begin(mapping.mapping, with: manager) }
        if let source = mapping.source?.name, mapping.mapping.mappingType != .add {
            let total = stage.source.storedCount(entityNamed: source)
            try course.begin(.instances, of: source, mapping: mapping.mapping.name, total: total)
            try stage.source.forEachStored(
                entityNamed: source, where: mapping.mapping.sourceFilter,
                skipped: { try advance(mapping, of: total, pass: 0) }
            ) { old, _, _ in
                course.countRead()
                let before = stage.associationCount
                try call(mapping, old) {
                    if let policy = policies[mapping.place] {
                        try policy.createDestinationInstances(forSource: old, in: mapping.mapping, manager: manager)
                    } else {
                        try manager.createDestinationInstance(forSource: old, in: mapping.mapping)
                    }
                }
                if stage.associationCount == before { course.countDropped() }
                try call(mapping, old) { try stage.flushIfFull() }
                try advance(mapping, of: total, pass: 0)
            }
        }
        try call(mapping) {
            try policies[mapping.place]?.endInstanceCreation(forMapping: mapping.mapping, manager: manager)
            try stage.flush()
        }
    }

    private func relate(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        if policies[mapping.place] != nil || !mapping.relationships.isEmpty {
            let total = try stage.destinationCount(of: mapping)
            try course.begin(
                .relationships, of: mapping.destination?.name, mapping: mapping.mapping.name, total: total)
            try stage.forEachDestination(of: mapping) { new, old in
                manager.currentSource = old
                defer { manager.currentSource = nil }
                try call(mapping, old) {
                    if let policy = policies[mapping.place] {
                        try policy.createRelationships(forDestination: new, in: mapping.mapping, manager: manager)
                    } else {
                        try manager.createRelationships(forDestination: new, in: mapping.mapping)
                    }
                    try stage.flushIfFull()
                }
                try advance(mapping, of: total, pass: 1)
            }
        }
        try call(mapping) {
            try policies[mapping.place]?.endRelationshipCreation(forMapping: mapping.mapping, manager: manager)
            try stage.flush()
        }
    }

    private func check(_ mapping: ResolvedMapping) throws {
        manager.currentEntityMapping = mapping.mapping
        try course.begin(.validation, of: mapping.destination?.name, mapping: mapping.mapping.name)
        try call(mapping) {
            try policies[mapping.place]?.performCustomValidation(forMapping: mapping.mapping, manager: manager)
            try policies[mapping.place]?.end(mapping.mapping, manager: manager)
            try stage.flush()
        }
    }

    /// Asks of the new objects what the new schema asks of relationships.
    private func checkRules() throws {
        var findings: [String] = []
        let rewritten = Set(stage.mappings.compactMap(\.destination?.name))
        for entity in manager.destinationSchema.entities where isConcerned(entity, rewritten) {
            let total = stage.target.storedCount(entityNamed: entity.name)
            try course.begin(.validation, of: entity.name, total: total)
            findings += try stage.target.brokenRules(
                entityNamed: entity.name, limit: Self.findingsMax - findings.count, targetsOf: rewritten
            ) { try course.advance(by: $0) }
            if findings.count >= Self.findingsMax { break }
        }
        guard findings.isEmpty else {
            throw MigrationError(
                .stageFailed,
                "What the stage to \(name) made breaks rules of the new version: \(findings.joined(separator: "; ")). The store is in its old state."
            )
        }
    }

    /// Whether an entity was written anew, or has to refer to one that was.
    private func isConcerned(_ entity: Schema.Entity, _ rewritten: Set<String>) -> Bool {
        rewritten.contains(entity.name)
            || entity.properties.contains {
                guard let relationship = $0 as? Schema.Relationship else { return false }
                return relationship.isToOneRelationship && !relationship.isOptional
                    && rewritten.contains(relationship.destination)
            }
    }

    // MARK: Calls

    /// Makes a call of a policy, and sees whether it went well: what setters could not throw is thrown here.
    private func call(_ mapping: ResolvedMapping, _ old: ManagedObject? = nil, _ body: () throws -> Void) throws {
        do {
            try body()
            if let error = stage.takeError() { throw error }
        } catch let error as MigrationError where error.code != .stageFailed {
            throw error
        } catch {
            let object = old.map { ", \($0.entity.name) \($0.objectID.number)" } ?? ""
            throw MigrationError(
                .stageFailed,
                "The mapping \(mapping.mapping.name) of the stage to \(name) stopped\(object). The store is in its old state.",
                cause: StorageError.translating(error))
        }
        if let cancellation = manager.cancellation { throw cancellation }
    }

    private func advance(_ mapping: ResolvedMapping, of total: Int, pass: Int) throws {
        if course.done % 1_000 == 999 {
            let share = Float(course.done) / Float(max(total, 1))
            let mappings = Float(stage.mappings.count)
            manager.migrationProgress = (Float(pass) * mappings + Float(mapping.place) + min(share, 1)) / (3 * mappings)
        }
        try course.advance()
    }
}
