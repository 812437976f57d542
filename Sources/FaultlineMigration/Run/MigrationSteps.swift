package import FaultlineModel
package import FaultlineObjects
package import FaultlineStore

/// The way from a store's schema to the requested one: a step for each stage, checked before anything is written.
package struct MigrationSteps {
    package struct Step {
        package let name: String
        package let from: Schema
        package let to: Schema
        /// Nil for the step that is inferred without a plan.
        package let stage: MigrationStage?
        package let fromTypes: [ModelType]
        package let toTypes: [ModelType]

        /// Whether an unfinished step was for these schemas: classes whose properties are in another order have other
        /// rows.
        ///
        /// The work of closures and policies restarts in any case.
        func goesOn(from record: MigrationRecord) -> Bool {
            closures != nil || !mappingModels.isEmpty || isOfSchemas(of: record)
        }

        /// Whether the schemas of a record equal those of the step, including the order of properties.
        func isOfSchemas(of record: MigrationRecord) -> Bool {
            Self.isSame(record.sourceSchema, from) && Self.isSame(record.targetSchema, to)
        }

        private static func isSame(_ one: Schema, _ other: Schema) -> Bool {
            one == other && one.entities.map(\.name) == other.entities.map(\.name)
        }

        /// The versions that the step leads from and to.
        var title: String { "\(from.version) → \(to.version)" }

        /// The entities of a streamed stage; empty for others.
        var streamedEntities: [StreamedEntity] {
            if case .streamedEntities(_, _, _, let entities)? = stage { return entities }
            return []
        }

        /// The closures of a custom stage; nil for others, and if there are none.
        var closures: StageClosures? {
            guard case .custom(_, _, _, let will, let did)? = stage, will != nil || did != nil else { return nil }
            return StageClosures(willMigrate: will, didMigrate: did)
        }

        /// The mapping models of a mapped stage; empty for others.
        var mappingModels: [MappingModel] {
            if case .mappedEntities(_, _, _, let models)? = stage { return models }
            return []
        }

        /// The class of a mapped stage's manager.
        var managerClass: MigrationManager.Type {
            mappingModels.map(\.managerClass).first { $0 != MigrationManager.self } ?? MigrationManager.self
        }

        /// The revision of its code.
        var revision: Int { stage?.revision ?? 0 }

        /// Whether the step goes through objects by itself.
        var isHeavy: Bool { !streamedEntities.isEmpty || closures != nil || !mappingModels.isEmpty }

        /// Entities of the old version whose objects the step rewrites.
        var convertedEntities: Set<String> {
            let mapped = mappingModels.flatMap(\.entityMappings).compactMap(\.sourceEntityName)
            return Set(mapped + streamedEntities.map(\.entityName))
        }

        /// Distinguishes the step from others between the same schemas.
        var mark: String {
            if closures != nil { return "custom" }
            let mappings = mappingModels.flatMap(\.entityMappings)
            if !mappings.isEmpty {
                let manager = managerClass == MigrationManager.self ? [] : ["\(managerClass)"]
                // Older releases take a property by its name first, so the same mappings make other objects.
                return "following \(Fingerprint(of: (mappings.map(\.mark) + manager).joined(separator: "\n")))"
            }
            // Older releases carry no values over, so the same closures make other objects.
            return (streamedEntities.isEmpty ? "" : "carrying ")
                + streamedEntities.map(\.entityName).joined(separator: ",")
        }

        /// Old entities whose large values the stage handles itself: a policy may take one from any object.
        var readEntities: Set<String> {
            Set(mappingModels.isEmpty ? streamedEntities.map(\.entityName) : from.entities.map(\.name))
        }

        /// Entities of the new schema whose objects the stage rewrites, under their new names.
        func rewrittenEntities(from old: Schema) -> Set<String> {
            let mapped = mappingModels.flatMap(\.entityMappings).compactMap(\.destinationEntityName)
            if !mapped.isEmpty { return Set(mapped) }
            let streamed = Set(streamedEntities.map(\.entityName))
            if streamed.isEmpty { return [] }
            let names = SchemaDifference(from: old, to: to).oldEntityNames
            return Set(names.filter { streamed.contains($0.value) }.keys)
        }

        /// The links to make from references of remaining rows: a stage that rewrites objects relates them itself.
        ///
        /// - Throws: `badPlan` if only the objects that are referred to are rewritten, or if the relationship is only
        ///   theirs and mappings without code rewrite the others.
        func linksToBuild(_ plan: EntityMapPlan, over old: Schema) throws -> [EntityMapPlan.LinkToBuild] {
            let rewritten = rewrittenEntities(from: old)
            return try plan.linksToBuild.filter { link in
                try checkIsSet(link, plan.map, rewritten)
                return try stays(link.entity, referringTo: link.destination, rewritten, "whose references become links")
            }
        }

        /// Checks that a mapping sets the links which replace the references of rows that it rewrites.
        private func checkIsSet(
            _ link: EntityMapPlan.LinkToBuild, _ map: EntityMap, _ rewritten: Set<String>
        ) throws {
            let mappings = mappingModels.flatMap(\.entityMappings)
            guard !mappings.isEmpty, !mappings.contains(where: \.runsCode), rewritten.contains(link.entity),
                !rewritten.contains(link.destination),
                let stored = map.links.first(where: { $0.table == link.table }),
                (link.isLeft ? stored.leftColumn : stored.rightColumn) == 0
            else { return }
            let column = link.isLeft ? stored.rightColumn : stored.leftColumn
            let property = map.entity(named: link.destination)?.columns.first { $0.number == column }?.name
            throw MigrationError(
                .badPlan,
                "The stage to \(name) writes \(link.entity) anew, and not \(link.destination), whose \(property ?? "relationship") replaces its references. Let the stage write both.",
                stage: title, entity: link.destination, property: property)
        }

        /// The references of remaining rows that become required.
        ///
        /// - Throws: `badPlan` if only the objects that are referred to are rewritten.
        func requiredReferences(
            _ plan: EntityMapPlan, over old: Schema
        ) throws -> [EntityMapPlan.RequiredReference] {
            let rewritten = rewrittenEntities(from: old)
            return try plan.requiredReferences.filter { reference in
                try stays(
                    reference.entity, referringTo: reference.destination, rewritten, "whose references become required")
            }
        }

        private func stays(
            _ entity: String, referringTo destination: String, _ rewritten: Set<String>, _ what: String
        ) throws -> Bool {
            if rewritten.contains(entity) { return false }
            guard !rewritten.contains(destination) else {
                throw MigrationError(
                    .badPlan,
                    "The stage to \(name) writes \(destination) anew, and not \(entity), \(what). Let the stage write both.",
                    stage: title, entity: entity)
            }
            return true
        }
    }

    /// The first step, up to the unfinished one, whose code has another revision now than when it was begun; nil if
    /// there is none.
    func firstChanged(since record: MigrationRecord) -> Int? {
        let begun = record.revisions ?? []
        return all.indices.prefix { $0 <= record.stage }
            .first { all[$0].revision != (begun.indices.contains($0) ? begun[$0] : 0) }
    }

    package private(set) var all: [Step] = []
    /// The schema means the same as the stored one, and declares indexes that the store lacks.
    package private(set) var buildsIndexesOnly = false
    package private(set) var versions: [String] = []
    /// Whether some entity of a version declares an index.
    var declareIndexes: Bool {
        all.flatMap { $0.from.entities + $0.to.entities }.contains { !$0.indices.isEmpty }
    }
    /// Whether some entity of a version declares a text index.
    var declareTextIndexes: Bool {
        all.flatMap { $0.from.entities + $0.to.entities }.contains { !$0.textIndexes.isEmpty }
    }

    /// Whether a table of some version has the rows of several classes.
    var haveHeirs: Bool { all.contains { $0.from.hasHeirs || $0.to.hasHeirs } }

    /// Distinguishes steps by the text indexes that they build, and by the release's tokenizer; empty without such.
    ///
    /// The fingerprints of schemas leave indexes out, and an index is not continued with other words.
    private var textMark: String {
        guard declareTextIndexes else { return "" }
        let indexes = all.flatMap(\.to.entities).flatMap { entity in
            entity.textIndexes.map { "\(entity.name) \($0.properties.joined(separator: " "))" }
        }
        return " texts \(Fingerprint(of: ([StoredTextIndex.ownTokenizer] + indexes).joined(separator: "\n")))"
    }
    /// Distinguishes these steps from others: a migration is resumed only by the steps that began it.
    package private(set) var digest = ""

    /// - Parameters:
    ///   - stored: The schema of the store.
    ///   - map: Its entity map; nil if missing indexes do not matter.
    ///   - target: The requested schema.
    ///   - plan: The way from older schemas; nil if none is needed.
    ///   - mapping: The way without a plan; nil if none is needed.
    /// - Throws: `MigrationError` if there is no way, with entity and property if a change needs a default or a stage;
    ///   `badPlan` if there are two.
    package init(
        from stored: Schema, _ map: EntityMap? = nil, to target: Schema, plan: (any SchemaMigrationPlan.Type)?,
        mapping: MappingModel? = nil
    ) throws {
        try plan.map { try PlanVersions.checkDropped(stored, by: $0, for: target) }
        if stored.meansTheSame(as: target) {
            try Self.checkNames(from: stored, to: target)
            guard map?.lacksIndexes(of: target) == true else { return }
            buildsIndexesOnly = true
            all = [Step(name: "\(target.version)", from: stored, to: target, stage: nil, fromTypes: [], toTypes: [])]
            versions = ["\(stored.version)", "\(target.version)"]
            digest = "indexes of \(target.fingerprint)\(textMark)"
            return
        }
        guard let plan else {
            let step = Self.step(from: stored, to: target, by: mapping)
            try Self.checkHeirs(step)
            _ = try MappingResolution(step.mappingModels, from: stored, to: target, stage: step.name).resolved()
            try Self.checkLightweight(
                from: stored, to: target, "the container's schema", except: step.rewrittenEntities(from: stored))
            all = [step]
            versions = ["\(stored.version)", "\(target.version)"]
            digest = "\(stored.fingerprint)\(step.mark)>\(target.fingerprint)\(textMark)"
            return
        }
        guard mapping == nil else {
            throw MigrationError(
                .badPlan,
                "The options have a mapping, and the container has \(plan): put the mapping into one of its stages.",
                stage: "\(stored.version) → \(target.version)"
            ).comparing(SchemaMismatch(stored: stored, requested: target))
        }
        let versions = try PlanVersions(plan)
        let (start, end) = try versions.places(from: stored, to: target)
        let schemas = versions.schemas
        try Self.checkNames(from: stored, to: schemas[start])
        let stages = try versions.stages()
        var names = ["\(schemas[start].version)"]
        for place in start..<end {
            let stage = stages[place]
            let step = Step(
                name: "\(schemas[place + 1].version)", from: schemas[place], to: schemas[place + 1], stage: stage,
                fromTypes: stage.fromVersion.modelTypes, toTypes: stage.toVersion.modelTypes)
            try Self.checkHeirs(step)
            try Self.checkStreamed(step, from: schemas[place])
            _ = try MappingResolution(step.mappingModels, from: schemas[place], to: step.to, stage: step.name)
                .resolved()
            try Self.checkLightweight(
                from: schemas[place], to: schemas[place + 1], "version \(schemas[place + 1].version)",
                except: step.rewrittenEntities(from: schemas[place]))
            all.append(step)
            names.append("\(schemas[place + 1].version)")
        }
        self.versions = names
        digest = zip(versions.fingerprints[start...], all).map { "\($0)\($1.mark)>" }.joined()
        digest += "\(target.fingerprint)\(textMark)"
    }

    /// Replaces the versions of a stage that is known only by its schemas.
    private enum NoVersion: VersionedSchema {
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { Schema.Version(0, 0, 0) }
    }

    /// The single step without a plan.
    private static func step(from stored: Schema, to target: Schema, by mapping: MappingModel?) -> Step {
        let mapping = mapping.flatMap { $0.entityMappings.isEmpty ? nil : $0 }
        return Step(
            name: "\(target.version)", from: stored, to: target,
            stage: mapping.map { .mapped(fromVersion: NoVersion.self, toVersion: NoVersion.self, $0) },
            fromTypes: [], toTypes: [])
    }

    /// Checks a plan when no store needs a migration: each stage from its first version on.
    ///
    /// - Throws: `MigrationError`, as the migration of a store of the first version would.
    static func check(_ plan: any SchemaMigrationPlan.Type, for target: Schema) throws {
        guard let first = try PlanVersions(plan).schemas.first else { return }
        _ = try MigrationSteps(from: first, to: target, plan: plan)
    }

    /// Checks that the references of remaining rows can be converted in every step.
    ///
    /// - Throws: `badPlan` as `Step.linksToBuild` and `Step.requiredReferences`; `exhausted` if the store has used up
    ///   its numbers.
    func checkReferences(over stored: StoredCatalog) throws {
        var current = stored
        for step in all {
            let plan = try EntityMapPlan(
                for: step.to, over: current.schema, in: current.map, layouts: current.layouts,
                rewriting: step.rewrittenEntities(from: current.schema))
            // Closures get copies of all objects.
            if step.closures == nil {
                _ = try step.linksToBuild(plan, over: current.schema)
                _ = try step.requiredReferences(plan, over: current.schema)
            }
            current = current.under(step.to, plan.map, adding: plan.newLayouts)
        }
    }

    private static func checkStreamed(_ step: Step, from old: Schema) throws {
        var names: Set<String> = []
        for entity in step.streamedEntities {
            guard old.entitiesByName[entity.entityName] != nil else {
                throw MigrationError(
                    .badPlan,
                    "The streamed stage to \(step.name) names \(entity.entityName), which the version before it does not have.",
                    stage: step.title, entity: entity.entityName
                )
            }
            guard names.insert(entity.entityName).inserted else {
                throw MigrationError(
                    .badPlan,
                    "The streamed stage to \(step.name) names \(entity.entityName) twice. Put all that is done with an object into one closure.",
                    stage: step.title, entity: entity.entityName
                )
            }
        }
    }

    /// Checks that objects which no stage rewrites can be carried over.
    private static func checkLightweight(
        from old: Schema, to new: Schema, _ name: String, except rewritten: Set<String> = []
    ) throws {
        let changes = new.difference(from: old).changes
            .filter { $0.demand != .lightweight && !rewritten.contains($0.entityName) }
        guard let first = changes.first else { return }
        throw MigrationError(
            .notLightweight,
            "The store cannot be brought to \(name) without more: \(changes.map(\.description).joined(separator: "; "))",
            stage: "\(old.version) → \(new.version)", entity: first.entityName, property: first.propertyName
        ).comparing(SchemaMismatch(stored: old, requested: new))
    }
}
