import FaultlineLog
import FaultlineStore

extension RowStore {
    /// The numbers of objects that refer to a deleted object, once for each such reference.
    func danglingReferences(of entity: EntityStorage) throws -> [RecordID] {
        let snapshot = log.snapshot()
        var found: [RecordID] = []
        try snapshot.scan(entity.table, from: 1, through: 1 << 40, readAhead: 1 << 16) { records in
            for record in records {
                let view = try view(record, of: entity)
                for slot in entity.toOneSlots where view.toOne(slot) != 0 {
                    guard case .toOne(let relationship) = entity.slots[slot] else { continue }
                    let table = storage.entities[relationship.destination].table
                    if try snapshot.location(of: view.toOne(slot), in: table).isAbsent { found.append(record.id) }
                }
            }
            return true
        }
        return found
    }
}
