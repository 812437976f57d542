package import FaultlineModel
package import FaultlineObjects
internal import FaultlineStore

/// The way from a store's schema to the one asked for: a step for each stage, checked before anything is written.
package struct MigrationSteps {
    package struct Step {
        package let name: String
        package let from: Schema
        package let to: Schema
        /// Nil for the step that is inferred where there is no plan.
        package let stage: MigrationStage?
        package let fromTypes: [ModelType]
        package let toTypes: [ModelType]

        /// What a streamed stage does; empty for others.
        var streamedEntities: [StreamedEntity] {
            if case .streamedEntities(_, _, let entities)? = stage { return entities }
            return []
        }

        /// The closures of a custom stage; nil for others, and where there are none.
        var closures: StageClosures? {
            guard case .custom(_, _, let will, let did)? = stage, will != nil || did != nil else { return nil }
            return StageClosures(willMigrate: will, didMigrate: did)
        }

        /// The mapping models of a mapped stage; empty for others.
        var mappingModels: [MappingModel] {
            if case .mappedEntities(_, _, let models)? = stage { return models }
            return []
        }

        /// Whether the step goes through objects by itself.
        var isHeavy: Bool { !streamedEntities.isEmpty || closures != nil || !mappingModels.isEmpty }

        /// What tells the step from others between the same schemas.
        var mark: String {
            if closures != nil { return "custom" }
            let mappings = mappingModels.flatMap(\.entityMappings).map(\.name)
            if !mappings.isEmpty { return "mapped \(mappings.joined(separator: ","))" }
            return streamedEntities.map(\.entityName).joined(separator: ",")
        }

        /// Old entities of which the stage says itself what becomes of their large values: a policy may take one from any
        /// object.
        var readEntities: Set<String> {
            Set(mappingModels.isEmpty ? streamedEntities.map(\.entityName) : from.entities.map(\.name))
        }

        /// Entities of the new schema whose objects the stage writes anew, under their new names.
        func rewrittenEntities(from old: Schema) -> Set<String> {
            let mapped = mappingModels.flatMap(\.entityMappings).compactMap(\.destinationEntityName)
            if !mapped.isEmpty { return Set(mapped) }
            let streamed = Set(streamedEntities.map(\.entityName))
            if streamed.isEmpty { return [] }
            let names = SchemaDifference(from: old, to: to).oldEntityNames
            return Set(names.filter { streamed.contains($0.value) }.keys)
        }

        /// The links that are to be made of references of rows that stay: a stage that writes objects anew relates them
        /// itself.
        ///
        /// - Throws: `badPlan` where only the objects that are referred to are written anew.
        func linksToBuild(
            _ plan: EntityMapPlan, over old: Schema
        ) throws -> [EntityMapPlan.LinkToBuild] {
            let rewritten = rewrittenEntities(from: old)
            let links = plan.linksToBuild.filter { !rewritten.contains($0.entity) }
            for link in links where rewritten.contains(link.destination) {
                throw MigrationError(
                    .badPlan,
                    "The stage to \(name) writes \(link.destination) anew, and not \(link.entity), whose references become links. Let the stage write both."
                )
            }
            return links
        }
    }

    package private(set) var all: [Step] = []
    package private(set) var versions: [String] = []
    /// Tells these steps from others: a migration is taken up again only by the steps that began it.
    package private(set) var digest = ""

    /// - Throws: `MigrationError` if there is no way, naming entity and property where a change needs a default or a
    ///   stage.
    package init(from stored: Schema, to target: Schema, plan: (any SchemaMigrationPlan.Type)?) throws {
        if stored.fingerprint == target.fingerprint { return }
        guard let plan else {
            try Self.checkLightweight(from: stored, to: target, "the container's schema")
            all = [Step(name: "\(target.version)", from: stored, to: target, stage: nil, fromTypes: [], toTypes: [])]
            versions = ["\(stored.version)", "\(target.version)"]
            digest = "\(stored.fingerprint)>\(target.fingerprint)"
            return
        }
        let schemas = try plan.schemas.map { try Schema.checked($0.models, version: $0.versionIdentifier) }
        let prints = schemas.map(\.fingerprint)
        for (place, print) in prints.enumerated() {
            if let twin = prints[..<place].firstIndex(of: print) {
                throw MigrationError(
                    .badPlan,
                    "Versions \(schemas[twin].version) and \(schemas[place].version) of \(plan) describe the same schema. Give a property of the newer one a hashModifier, or remove one of them."
                )
            }
        }
        guard let end = prints.firstIndex(of: target.fingerprint) else {
            throw MigrationError(
                .badPlan,
                "The container's schema is none of the versions of \(plan). Add it to the plan's schemas, with a stage that leads to it."
            )
        }
        guard let start = prints.firstIndex(of: stored.fingerprint) else {
            throw MigrationError(
                .unknownVersion,
                "The store was written under a schema (version \(stored.version)) that is none of the versions of \(plan). Open it with the app version that wrote it, or add that schema to the plan as it was."
            )
        }
        guard start <= end else {
            throw MigrationError(
                .backward,
                "The store has version \(schemas[start].version), the container asks for \(schemas[end].version): a store is not migrated backwards. Use the newer app version."
            )
        }
        let stages = plan.stages
        guard stages.count >= schemas.count - 1 else {
            throw MigrationError(
                .badPlan,
                "\(plan) has \(schemas.count) versions and \(stages.count) stages: one stage is needed for each pair of neighbours."
            )
        }
        var names = ["\(schemas[start].version)"]
        for place in start..<end {
            let stage = stages[place]
            let from = try Schema.checked(stage.fromVersion.models, version: stage.fromVersion.versionIdentifier)
            let to = try Schema.checked(stage.toVersion.models, version: stage.toVersion.versionIdentifier)
            guard from.fingerprint == prints[place], to.fingerprint == prints[place + 1] else {
                throw MigrationError(
                    .badPlan,
                    "Stage \(place + 1) of \(plan) leads from \(stage.fromVersion) to \(stage.toVersion), but the versions at its place are \(schemas[place].version) and \(schemas[place + 1].version). List stages in the order of schemas."
                )
            }
            let step = Step(
                name: "\(to.version)", from: schemas[place], to: schemas[place + 1], stage: stage,
                fromTypes: Schema.reachable(from: stage.fromVersion.models).map { $0._$modelType },
                toTypes: Schema.reachable(from: stage.toVersion.models).map { $0._$modelType })
            try Self.checkStreamed(step, from: schemas[place])
            _ = try MappingResolution(step.mappingModels, from: schemas[place], to: step.to, stage: step.name)
                .resolved()
            try Self.checkLightweight(
                from: schemas[place], to: schemas[place + 1], "version \(to.version)",
                except: step.rewrittenEntities(from: schemas[place]))
            all.append(step)
            names.append("\(to.version)")
        }
        versions = names
        digest = zip(prints[start...], all).map { "\($0)\($1.mark)>" }.joined() + "\(prints[end])"
    }

    private static func checkStreamed(_ step: Step, from old: Schema) throws {
        var names: Set<String> = []
        for entity in step.streamedEntities {
            guard old.entitiesByName[entity.entityName] != nil else {
                throw MigrationError(
                    .badPlan,
                    "The streamed stage to \(step.name) names \(entity.entityName), which the version before it does not have."
                )
            }
            guard names.insert(entity.entityName).inserted else {
                throw MigrationError(
                    .badPlan,
                    "The streamed stage to \(step.name) names \(entity.entityName) twice. Put all that is done with an object into one closure."
                )
            }
        }
    }

    /// Checks that what no stage rewrites can go over as it is.
    private static func checkLightweight(
        from old: Schema, to new: Schema, _ name: String, except rewritten: Set<String> = []
    ) throws {
        let difference = SchemaDifference(from: old, to: new)
        let reasons = difference.changes
            .filter { $0.demand != .lightweight && !rewritten.contains($0.entityName) }.map(\.description)
        guard !reasons.isEmpty else { return }
        throw MigrationError(
            .notLightweight,
            "The store cannot be brought to \(name) without more: \(reasons.joined(separator: "; ")).")
    }
}
