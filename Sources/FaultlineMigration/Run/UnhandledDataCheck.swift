internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Looks for stored values that a migration would drop without any code of a stage having seen them.
///
/// Follows every entity, attribute and relationship of the store through the steps, up to the first one whose code gets
/// the objects: a streamed or mapped stage that names the entity, a custom one with a `willMigrate`. What such code
/// makes of them is its own affair, in later steps too. Of a relationship nothing is lost while its inverse stays.
struct UnhandledDataCheck {
    let log: Log
    /// The state in force.
    let stored: StoredCatalog
    let steps: [MigrationSteps.Step]

    /// Values that are dropped, and by which step.
    private struct Loss {
        let entityName: String
        /// Nil for whole objects; the members of a composite value stand behind a dot.
        let propertyName: String?
        let stage: String
        let objectCount: Int

        var text: String {
            let place = propertyName.map { "\(entityName).\($0)" } ?? entityName
            return "\(place) of \(objectCount) \(objectCount == 1 ? "object" : "objects") (\(stage))"
        }
    }

    /// Refuses a migration that drops values.
    ///
    /// Nobody may save meanwhile.
    ///
    /// - Throws: `MigrationError.unhandledData` naming entities and properties as the store has them, with the number
    ///   of objects; what the store says where it cannot be read.
    /// - Complexity: O(n) for the n rows of entities of which something is dropped; memory for one read.
    func run() throws {
        let losses = try losses()
        guard let first = losses.first else { return }
        throw MigrationError(
            .unhandledData,
            "The migration would drop what no stage has seen: \(losses.map(\.text).joined(separator: ", ")). Take it over in a stage, or allow it with unhandledData: .drop. The store is in its old state.",
            stage: first.stage, entity: first.entityName, property: first.propertyName)
    }

    private func losses() throws -> [Loss] {
        let differences = steps.map { $0.to.difference(from: $0.from) }
        let store = try RowStore(log: log, catalog: stored.under(stored.schema, stored.map))
        let count = StoredValueCount(store: store, snapshot: log.snapshot())
        var losses: [Loss] = []
        for entity in stored.schema.entities {
            guard let storage = store.storage.entity(named: entity.name) else { continue }
            let objectCount = count.objects(of: storage)
            guard objectCount > 0 else { continue }
            var values = FollowedValues(entity, in: stored.schema)
            for (step, difference) in zip(steps, differences) {
                let dropped = values.follow(step, difference)
                if values.areGone {
                    losses.append(
                        Loss(entityName: entity.name, propertyName: nil, stage: step.title, objectCount: objectCount))
                }
                if !dropped.isEmpty {
                    let counts = try count.objects(with: dropped, of: storage, entity)
                    losses += zip(dropped, counts).filter { $0.1 > 0 }.map {
                        Loss(
                            entityName: entity.name, propertyName: $0.0.description, stage: step.title,
                            objectCount: $0.1)
                    }
                }
                if values.isDone { break }
            }
        }
        return losses
    }
}
