internal import FaultlineModel
internal import FaultlineObjects

/// The versions of a plan, and its stages in their order, checked.
struct PlanVersions {
    private let plan: any SchemaMigrationPlan.Type
    private let types: [any VersionedSchema.Type]
    /// Oldest first.
    let schemas: [Schema]
    let fingerprints: [Fingerprint]

    /// - Throws: `MigrationError.twinVersions` for versions with equal schemas; `SchemaError` for a class that breaks a
    ///   rule.
    init(_ plan: any SchemaMigrationPlan.Type) throws {
        self.plan = plan
        types = plan.schemas
        schemas = try types.map { try $0.checkedSchema() }
        fingerprints = schemas.map(\.fingerprint)
        for (place, print) in fingerprints.enumerated() {
            if let twin = fingerprints[..<place].firstIndex(of: print) {
                throw Self.twins(schemas[twin].version, schemas[place], of: plan)
            }
            if let twin = plan.droppedVersions.first(where: { $0.fingerprint == print }) {
                throw Self.twins(twin.number, schemas[place], of: plan)
            }
        }
    }

    /// Refuses a store of a version that a plan has dropped.
    ///
    /// - Throws: `MigrationError.droppedVersion`; `twinVersions` if the container requests an equal schema.
    static func checkDropped(
        _ stored: Schema, by plan: any SchemaMigrationPlan.Type, for target: Schema
    ) throws(MigrationError) {
        let print = stored.fingerprint
        guard let dropped = plan.droppedVersions.first(where: { $0.fingerprint == print }) else { return }
        if print == target.fingerprint { throw twins(dropped.number, target, of: plan) }
        throw MigrationError(
            .droppedVersion,
            "The store has version \(dropped.number), which \(plan) does not migrate any more. Open it once with release \(dropped.lastRelease), the last one that can, then with this one.",
            stage: "\(dropped.number) → \(target.version)"
        ).comparing(SchemaMismatch(stored: stored, requested: target))
    }

    private static func twins(
        _ older: Schema.Version, _ newer: Schema, of plan: any SchemaMigrationPlan.Type
    ) -> MigrationError {
        MigrationError(
            .twinVersions,
            "Versions \(older) and \(newer.version) of \(plan) describe the same schema (fingerprint \(newer.fingerprint)), so their stores cannot be told apart. Give a property of the newer one a hashModifier, or remove one of them.",
            stage: "\(older) → \(newer.version)")
    }

    /// The indexes of a store's schema and of a container's among the versions.
    ///
    /// - Throws: `MigrationError`: `badPlan` for a container's schema that is none of them, `unknownVersion` for such a
    ///   store, `backward` for a store that is newer than the container or than the plan.
    func places(from stored: Schema, to target: Schema) throws(MigrationError) -> (start: Int, end: Int) {
        let title = "\(stored.version) → \(target.version)"
        guard let end = fingerprints.firstIndex(of: target.fingerprint) else {
            throw MigrationError(
                .badPlan,
                "The container's schema is none of the versions of \(plan). Add it to the plan's schemas, with a stage that leads to it.",
                stage: title
            ).comparing(
                SchemaMismatch(stored: stored, requested: target, isStoredUnknown: false, among: schemas))
        }
        guard let start = fingerprints.firstIndex(of: stored.fingerprint) else {
            let mismatch = SchemaMismatch(stored: stored, requested: target, isStoredUnknown: true, among: schemas)
            if let newest = schemas.map(\.version).max(), stored.version > newest {
                throw MigrationError(
                    .backward,
                    "The store has version \(stored.version), and \(plan) ends at \(newest): a newer release of the app has migrated it. Use that one.",
                    stage: title
                ).comparing(mismatch)
            }
            throw MigrationError(
                .unknownVersion,
                "The store was written under a schema (version \(stored.version)) that is none of the versions of \(plan). Open it with the app version that wrote it, or add that schema to the plan as it was.",
                stage: title
            ).comparing(mismatch)
        }
        guard start <= end else {
            throw MigrationError(
                .backward,
                "The store has version \(schemas[start].version), the container asks for \(schemas[end].version): a store is not migrated backwards. Use the newer app version.",
                stage: title
            ).comparing(SchemaMismatch(stored: stored, requested: target))
        }
        return (start, end)
    }

    /// The stages: one for each pair of neighbours, in the order of the versions.
    ///
    /// - Throws: `MigrationError`: `unknownStage`, `skippedVersion`, `stagesOutOfOrder`.
    func stages() throws -> [MigrationStage] {
        let stages = plan.stages
        for (place, stage) in stages.enumerated() {
            let title = "\(stage.fromVersion.versionIdentifier) → \(stage.toVersion.versionIdentifier)"
            func refusal(_ code: MigrationError.Code, _ what: String) -> MigrationError {
                MigrationError(code, "Stage \(place + 1) of \(plan), \(title), \(what)", stage: title)
            }
            guard let from = try position(of: stage.fromVersion), let to = try position(of: stage.toVersion) else {
                let isFromKnown = try position(of: stage.fromVersion) != nil
                let unknown = try (isFromKnown ? stage.toVersion : stage.fromVersion).checkedSchema()
                throw refusal(
                    .unknownStage,
                    "leads from \(stage.fromVersion) to \(stage.toVersion), and not both are versions of the plan. List both in its schemas."
                ).comparing(
                    SchemaMismatch(stored: nil, requested: unknown, isStoredUnknown: false, among: schemas))
            }
            guard from < to else {
                throw refusal(.stagesOutOfOrder, "leads back. List stages in the order of schemas, oldest first.")
            }
            guard to == from + 1 else {
                let skipped = schemas[(from + 1)..<to].map { "\($0.version)" }.joined(separator: ", ")
                throw refusal(
                    .skippedVersion,
                    "leaves out \(skipped). Give each version a stage of its own: a store may be of any of them.")
            }
            if from == place { continue }
            if place + 1 < schemas.count, try !stages.contains(where: { try position(of: $0.fromVersion) == place }) {
                throw missingStage(from: place)
            }
            throw refusal(.stagesOutOfOrder, "is not at its place. List stages in the order of schemas, oldest first.")
        }
        if stages.count < schemas.count - 1 { throw missingStage(from: stages.count) }
        return stages
    }

    private func missingStage(from place: Int) -> MigrationError {
        let title = "\(schemas[place].version) → \(schemas[place + 1].version)"
        return MigrationError(
            .skippedVersion, "\(plan) has no stage \(title): one is needed for each pair of neighbours.", stage: title)
    }

    /// The index of a version: of that type, or of another with an equal schema.
    private func position(of version: any VersionedSchema.Type) throws -> Int? {
        if let place = types.firstIndex(where: { $0 == version }) { return place }
        return fingerprints.firstIndex(of: try version.checkedSchema().fingerprint)
    }
}
