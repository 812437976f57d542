internal import FaultlineLog
internal import FaultlineStore

/// Deletes all objects of a store in one transaction: without delete rules, which have nothing to protect then.
package struct StoreEraser {
    private let context: ContextCore

    /// - Parameter context: A context without unsaved changes, whose store is erased.
    package init(_ context: ContextCore) { self.context = context }

    /// Deletes all objects and their links; the history names each.
    ///
    /// The objects are found in the writer's turn, so none of another save is left.
    ///
    /// - Throws: The store's errors; nothing was deleted then.
    package func eraseAll() throws {
        let store = context.store
        try BatchRunner(context).checkMayBatch()
        try context.history.prepare(store)
        _ = try store.log.write(author: nil) { transaction in
            try store.checkInForce(in: transaction)
            let history = context.history.begin(store, in: transaction)
            var writer = RowWriter(store)
            for side in linkSides {
                try forEachRow(of: side.table, in: &transaction) { number, transaction in
                    try writer.unlink(number, side, in: &transaction)
                }
            }
            for entity in store.storage.entities {
                try forEachRow(of: entity.table, in: &transaction) { number, transaction in
                    try history?.noteDelete(number, entity, writer, in: &transaction)
                    try writer.delete(id: number, entity, in: &transaction)
                }
            }
            try history?.end(in: &transaction)
        }
    }

    /// One side of each link table.
    private var linkSides: [LinkSide] {
        var sides: [TableID: LinkSide] = [:]
        for entity in context.store.storage.entities {
            for case .toMany(let relationship) in entity.slots {
                if case .link(let side, _) = relationship.members { sides[side.table] = side }
            }
        }
        return sides.values.sorted { $0.table.rawValue < $1.table.rawValue }
    }

    private func forEachRow(
        of table: TableID, in transaction: inout Transaction, _ body: (RecordID, inout Transaction) throws -> Void
    ) throws {
        var number: RecordID = 1
        let end = transaction.nextID(in: table)
        while number < end {
            if try !transaction.location(of: number, in: table).isAbsent { try body(number, &transaction) }
            number += 1
        }
    }
}
