internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import Synchronization

/// Finds the classes of the objects that a history names, in tables with several classes.
///
/// A stored object's row tells its class. A deleted one's class is in the record of its deletion: the history is read
/// once for all of them, from its beginning to its end.
final class HistoryClasses: Sendable {
    private let store: RowStore
    private let state = Guarded(State())

    private struct State {
        /// The last transaction that was read.
        var last: RecordID = 0
        /// The classes of deleted objects.
        var places: [StoredKey: Int] = [:]
    }

    init(_ store: RowStore) { self.store = store }

    /// The position of an object's class; that of the root class if the history does not tell any more.
    func place(of key: StoredKey, _ entity: EntityStorage, _ hierarchy: EntityHierarchy) -> Int {
        let snapshot = store.log.snapshot()
        var buffer = RecordBuffer()
        if let record = try? snapshot.read(key.number, in: entity.table, into: &buffer),
            let view = try? store.view(record, of: entity)
        {
            return hierarchy.place(of: view)
        }
        return state.withLock { state in
            if let known = state.places[key] { return known }
            readOn(&state, in: snapshot)
            return state.places[key] ?? 0
        }
    }

    /// Reads the deletions that were recorded since the last call.
    private func readOn(_ state: inout State, in snapshot: Snapshot) {
        let tables = Dictionary(
            store.storage.entities.compactMap { entity in entity.hierarchy.map { (entity.table, (entity, $0)) } }
        ) { first, _ in first }
        var (last, places) = (state.last, state.places)
        // A record that cannot be read was reported when the transaction was fetched.
        _ = try? snapshot.forEachTransaction(after: last) { transaction in
            last = transaction.number
            try transaction.forEachChange { change in
                guard let (entity, hierarchy) = tables[change.table], case .delete = change.operation,
                    let tombstone = change.tombstone, let table = store.table(forLayout: change.layout, of: entity),
                    let row = RowView(checking: tombstone.row, table: table, hasExtension: false)
                else { return }
                for number in change.numbers {
                    places[StoredKey(ordinal: entity.ordinal, number: number)] = hierarchy.place(of: row)
                }
            }
            return true
        }
        (state.last, state.places) = (last, places)
    }
}
