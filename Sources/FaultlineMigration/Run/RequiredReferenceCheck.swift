internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Checks that every object has a target if a step makes a to-one relationship required: one bounded pass a
/// relationship, before the switch.
///
/// The migration is recorded before, so that no other save can add a row that the pass would miss.
struct RequiredReferenceCheck {
    let log: Log
    /// The target state of the step.
    let catalog: StoredCatalog
    let course: MigrationCourse
    /// The state that the step reads, for quarantining failed objects.
    var source: StoredCatalog?

    private static let readAheadByteCount = 128 << 10

    /// Reads the rows.
    ///
    /// - Parameters:
    ///   - references: The relationships.
    ///   - step: The step that makes them required.
    ///   - endsAtFirst: Whether a dry run ends at the first object too, because code uses the objects next.
    /// - Throws: `MigrationError.missingReference` with entity, relationship and object, unless a dry run records it;
    ///   the log's error if it cannot be read.
    /// - Complexity: O(n) for n rows; memory for one read.
    func run(
        _ references: [EntityMapPlan.RequiredReference], of step: MigrationSteps.Step, endsAtFirst: Bool = false
    ) throws {
        guard !references.isEmpty else { return }
        let store = try RowStore(log: log, catalog: catalog)
        let snapshot = log.snapshot()
        for reference in references {
            guard let entity = store.storage.entity(named: reference.entity),
                let destination = store.storage.entity(named: reference.destination),
                let slot = catalog.schema.entitiesByName[reference.entity]?.properties
                    .firstIndex(where: { $0.name == reference.relationship })
            else { continue }
            try course.begin(.validation, of: reference.entity, total: snapshot.recordCount(of: entity.table))
            var done = 0
            try snapshot.scan(
                entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records where !course.quarantine.contains(record.id, in: entity.table.rawValue) {
                    let target = try store.view(record, of: entity).toOne(slot)
                    // A reference to a missing object reads as nil.
                    guard try target == 0 || snapshot.location(of: target, in: destination.table).isAbsent else {
                        continue
                    }
                    if course.quarantine.isOn, let source, let old = source.entityName(ofTable: entity.table.rawValue) {
                        try course.quarantine.take(
                            record.id, of: old,
                            .init(
                                .required, "it refers to nothing, or to a deleted object",
                                property: reference.relationship)
                        )
                        continue
                    }
                    let error = MigrationError(
                        .missingReference,
                        "Object \(record.id) of \(reference.entity) refers to nothing by \(reference.relationship), which is required in version \(step.to.version). Set it in the willMigrate of a custom stage, or in a streamed stage. The store is in its old state.",
                        stage: step.title, entity: reference.entity, property: reference.relationship)
                    guard let findings = course.findings, !endsAtFirst else { throw error }
                    try findings.note(record.id, error, stage: course.stageName)
                }
                done += records.count
                try course.reach(done)
                return true
            }
        }
    }
}
