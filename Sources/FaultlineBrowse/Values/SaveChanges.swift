import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// The changes of one save: how many by entity, and the first objects.
struct SaveChanges {
    /// The objects that a page lists.
    static let objectCountMax = 500

    /// A changed object.
    struct Object {
        let entity: String
        let id: RecordID
        let operation: String
        /// The properties that an update has set.
        let properties: [String]
    }

    /// The objects of an entity that had one kind of change.
    private struct Count {
        let entity: String
        let operation: String
        var count: Int
    }

    private var counts: [Count] = []
    private(set) var objects: [Object] = []
    /// Objects in all; one that was changed twice counts twice.
    private(set) var count = 0
    /// Why the changes could not be read.
    private(set) var fault: String?

    init(_ save: StoredTransaction, in view: StoreView) {
        let entities = Dictionary(view.rows.storage.entities.map { ($0.table, $0) }) { first, _ in first }
        do {
            try save.forEachChange { change in
                let entity = entities[change.table]
                let name = entity?.name ?? "an entity that the schema no longer has"
                let (operation, properties) = Self.described(change, entity, view)
                add(change.numbers.count, name, operation)
                guard entity != nil else { return }
                for id in change.numbers.prefix(Self.objectCountMax - objects.count) {
                    objects.append(Object(entity: name, id: id, operation: operation, properties: properties))
                }
            }
        } catch { fault = CommandFailure.sentence(for: error) }
    }

    /// The numbers of changes, as `12 Photo inserted, 1 Album updated`.
    var summary: String {
        if let fault { return fault }
        return counts.map { "\(Quantity.count($0.count)) \($0.entity) \($0.operation)" }.joined(separator: ", ")
    }

    private mutating func add(_ number: Int, _ entity: String, _ operation: String) {
        count += number
        if let place = counts.firstIndex(where: { $0.entity == entity && $0.operation == operation }) {
            counts[place].count += number
        } else {
            counts.append(Count(entity: entity, operation: operation, count: number))
        }
    }

    private static func described(
        _ change: HistoryPart.Change, _ entity: EntityStorage?, _ view: StoreView
    ) -> (operation: String, properties: [String]) {
        switch change.operation {
        case .insert: return ("inserted", [])
        case .delete: return ("deleted", [])
        case .update(let mask):
            guard let entity,
                let layout = change.layout == entity.layout.number
                    ? entity.layout : view.rows.storage.layouts[change.layout],
                let properties = view.schema.entitiesByName[entity.name]?.properties
            else { return ("updated", []) }
            let names = layout.columns.indices.filter { mask & SlotMask.bit($0) != 0 }.compactMap { slot -> String? in
                let own = entity.layout.slot(ofColumn: layout.columns[slot].number)
                return own.flatMap { $0 < properties.count ? properties[$0].name : nil }
            }
            return ("updated", names)
        }
    }
}
