internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Finds stored values that a migration would drop and that no code of a stage would see.
///
/// It follows every entity, attribute and relationship of the store through the steps, up to the first one whose code
/// gets the objects: a streamed stage that names the entity, a mapping with a policy or a computed value, or a custom
/// stage with a `willMigrate`. That code is then responsible for them, in later steps too. A mapping without code
/// handles the values it reads; an inferred one removes nothing in the user's name. A relationship is not lost while its
/// inverse remains.
struct UnhandledDataCheck {
    private let log: Log
    /// The current state.
    private let stored: StoredCatalog
    private let suspects: [Suspect]

    /// Values of an entity that one step drops, if objects have them.
    private struct Suspect {
        let entity: Schema.Entity
        let stage: String
        /// Empty for whole objects.
        let values: [StoredValueName]

        func loss(of value: StoredValueName?, _ count: Int) -> Loss {
            Loss(entityName: entity.name, propertyName: value?.description, stage: stage, objectCount: count)
        }
    }

    /// Values that are dropped, and the step that drops them.
    struct Loss {
        let entityName: String
        /// Nil for whole objects; the members of a composite value follow a dot.
        let propertyName: String?
        let stage: String
        let objectCount: Int

        var text: String {
            let place = propertyName.map { "\(entityName).\($0)" } ?? entityName
            return "\(place) of \(objectCount) \(objectCount == 1 ? "object" : "objects") (\(stage))"
        }
    }

    /// - Parameters:
    ///   - log: The store.
    ///   - stored: The current state.
    ///   - steps: The migration's steps.
    init(log: Log, stored: StoredCatalog, steps: [MigrationSteps.Step]) {
        self.log = log
        self.stored = stored
        let ways = steps.map { ($0, $0.to.difference(from: $0.from), HandledValues($0)) }
        suspects = stored.schema.entities.flatMap { entity in
            var values = FollowedValues(entity, in: stored.schema)
            var suspects: [Suspect] = []
            for (step, difference, handled) in ways {
                let dropped = values.follow(step, difference, handled)
                if values.areGone || !dropped.isEmpty {
                    suspects.append(Suspect(entity: entity, stage: step.title, values: dropped))
                }
                if values.isDone { break }
            }
            return suspects
        }
    }

    /// Whether the schemas allow a loss at all: if not, no row is read.
    var isNeeded: Bool { !suspects.isEmpty }

    /// The values that would be dropped, if at least one object has them.
    ///
    /// Containers of the old schema must not save before it returns.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    /// - Complexity: O(n) for the n rows of entities with possible losses; memory for one read.
    func losses() throws -> [Loss] {
        guard isNeeded else { return [] }
        let store = try RowStore(log: log, catalog: stored.under(stored.schema, stored.map))
        let count = StoredValueCount(store: store, snapshot: log.snapshot())
        return try suspects.flatMap { suspect -> [Loss] in
            guard let storage = store.storage.entity(named: suspect.entity.name) else { return [] }
            let objectCount = count.objects(of: storage)
            guard objectCount > 0 else { return [] }
            if suspect.values.isEmpty { return [suspect.loss(of: nil, objectCount)] }
            let counts = try count.objects(with: suspect.values, of: storage, suspect.entity)
            return zip(suspect.values, counts).filter { $0.1 > 0 }.map { suspect.loss(of: $0.0, $0.1) }
        }
    }
}

extension [UnhandledDataCheck.Loss] {
    /// All losses, as an error lists them.
    var text: String { map(\.text).joined(separator: ", ") }
}
