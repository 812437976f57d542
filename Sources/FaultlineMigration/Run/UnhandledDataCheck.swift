internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Looks for stored values that a migration would drop without any code of a stage having seen them.
///
/// Follows every entity and attribute of the store through the steps, up to the first one whose code gets the objects:
/// a streamed or mapped stage that names the entity, a custom one with a `willMigrate`. What such code makes of them is
/// its own affair, in later steps too.
struct UnhandledDataCheck {
    let log: Log
    /// The state in force.
    let stored: StoredCatalog
    let steps: [MigrationSteps.Step]

    private static let readAheadByteCount = 128 << 10

    /// Values that are dropped, and by which step.
    private struct Loss {
        let entityName: String
        /// Nil for whole objects.
        let attributeName: String?
        let stage: String
        let objectCount: Int

        var text: String {
            let place = attributeName.map { "\(entityName).\($0)" } ?? entityName
            return "\(place) of \(objectCount) \(objectCount == 1 ? "object" : "objects") (\(stage))"
        }
    }

    /// Refuses a migration that drops values.
    ///
    /// - Throws: `MigrationError.unhandledData` naming entities and attributes as the store has them, with the number
    ///   of objects; what the store says where it cannot be read.
    /// - Complexity: O(n) for the n rows of entities of which attributes are dropped; memory for one read.
    func run() throws {
        let losses = try losses()
        guard let first = losses.first else { return }
        throw MigrationError(
            .unhandledData,
            "The migration would drop what no stage has seen: \(losses.map(\.text).joined(separator: ", ")). Take it over in a stage, or allow it with unhandledData: .drop. The store is in its old state.",
            stage: first.stage, entity: first.entityName, property: first.attributeName)
    }

    private func losses() throws -> [Loss] {
        let differences = steps.map { $0.to.difference(from: $0.from) }
        let store = try RowStore(
            log: log, catalog: stored.under(stored.schema, stored.map),
            setDefault: { DefaultValues.set($0, slot: $1, draft: &$2) })
        let snapshot = log.snapshot()
        var losses: [Loss] = []
        for entity in stored.schema.entities {
            guard let storage = store.storage.entity(named: entity.name) else { continue }
            let objectCount = snapshot.recordCount(of: storage.table)
            guard objectCount > 0 else { continue }
            var name = entity.name
            // Attributes that are still there, by the names that the store has.
            var names = Dictionary(
                entity.properties.compactMap { $0 as? Schema.Attribute }.filter { !$0.isTransient }
                    .map { ($0.name, $0.name) }
            ) { first, _ in first }
            for (step, difference) in zip(steps, differences) {
                if step.handles(name) { break }
                guard let next = difference.newEntityName(of: name), let newEntity = step.to.entitiesByName[next] else {
                    losses.append(
                        Loss(entityName: entity.name, attributeName: nil, stage: step.title, objectCount: objectCount))
                    break
                }
                var dropped: Set<String> = []
                for (original, before) in names {
                    let after = difference.newPropertyName(of: before, in: next)
                    if let after, newEntity.keeps(after) { names[original] = after } else { dropped.insert(original) }
                }
                if !dropped.isEmpty {
                    let counts = try count(dropped, of: storage, entity, store, snapshot)
                    losses += counts.map {
                        Loss(
                            entityName: entity.name, attributeName: $0.name, stage: step.title, objectCount: $0.count)
                    }
                    for original in dropped { names[original] = nil }
                }
                name = next
            }
        }
        return losses
    }

    /// How many objects have a value of their own of some attributes; those that none has are left out.
    private func count(
        _ names: Set<String>, of storage: EntityStorage, _ entity: Schema.Entity, _ store: RowStore,
        _ snapshot: Snapshot
    ) throws -> [(name: String, count: Int)] {
        let slots = entity.properties.indices.filter { names.contains(entity.properties[$0].name) }
        var counts = slots.map { _ in 0 }
        try snapshot.scan(
            storage.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for record in records {
                let row = try store.view(record, of: storage)
                for (place, slot) in slots.enumerated() where !row.isNil(slot) && !row.isDefault(slot) {
                    counts[place] += 1
                }
            }
            return true
        }
        return zip(slots, counts).filter { $0.1 > 0 }.map { (entity.properties[$0.0].name, $0.1) }
    }
}

extension MigrationSteps.Step {
    /// Whether code of the step gets the objects of an entity of the version before it.
    fileprivate func handles(_ entityName: String) -> Bool {
        closures?.willMigrate != nil || streamedEntities.contains { $0.entityName == entityName }
            || mappingModels.flatMap(\.entityMappings).contains { $0.sourceEntityName == entityName }
    }
}

extension SchemaDifference {
    fileprivate func newEntityName(of name: String) -> String? { oldEntityNames.first { $0.value == name }?.key }

    fileprivate func newPropertyName(of name: String, in entityName: String) -> String? {
        oldPropertyNames[entityName]?.first { $0.value == name }?.key
    }
}

extension Schema.Entity {
    /// Whether an attribute of that name is stored.
    fileprivate func keeps(_ name: String) -> Bool {
        (properties.first { $0.name == name } as? Schema.Attribute)?.isTransient == false
    }
}
