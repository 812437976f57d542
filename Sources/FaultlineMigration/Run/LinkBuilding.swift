internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Makes links from the to-one references of rows, if a step replaces these by links: one bounded pass an entity,
/// before the switch.
///
/// A link has the number of the row whose reference it replaces, so a stopped pass is repeated and makes the same
/// links. They are invisible before the switch. References to missing objects, which read as nil, make none.
struct LinkBuilding {
    let log: Log
    /// The target state of the step.
    let catalog: StoredCatalog
    let course: MigrationCourse

    /// Rows of one transaction: bounds its memory.
    private static let rowsMax = 8_192
    private static let readAheadByteCount = 128 << 10

    /// The tables of rows and of links, for `StepBeginning`: links have the numbers of rows.
    static func successors(_ links: [EntityMapPlan.LinkToBuild], in map: EntityMap) -> [StepBeginning.Successor] {
        links.compactMap { link in map.entity(named: link.entity).map { ($0.table, link.table) } }
    }

    /// Makes the links.
    ///
    /// - Throws: `malformed` for a row that does not fit its layout; the log's error if it cannot be read or written.
    /// - Complexity: O(n) for n rows; memory for one transaction.
    func run(_ links: [EntityMapPlan.LinkToBuild], record: MigrationRecord) throws {
        guard !links.isEmpty else { return }
        let store = try RowStore(log: log, catalog: catalog)
        for link in links {
            guard let source = catalog.map.entity(named: link.entity),
                let destination = catalog.map.entity(named: link.destination),
                let stored = catalog.map.links.first(where: { $0.table == link.table })
            else { continue }
            let pass = Pass(
                link: link, side: LinkSide(stored, isLeft: link.isLeft), store: store,
                destination: TableID(rawValue: destination.table))
            let table = TableID(rawValue: source.table)
            try course.begin(.relationships, of: link.entity, total: log.snapshot().recordCount(of: table))
            try run(pass, over: table, record)
        }
    }

    private func run(_ pass: Pass, over table: TableID, _ record: MigrationRecord) throws {
        let snapshot = log.snapshot()
        let total = snapshot.recordCount(of: table)
        var next: RecordID = 1
        var done = 0
        while done < total {
            let before = done
            _ = try log.write(author: nil) { transaction in
                // A transaction needs a record to be one.
                try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
                try snapshot.scan(
                    table, from: next, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
                ) { records in
                    for record in records {
                        try pass.link(record, in: &transaction)
                        next = record.id + 1
                    }
                    done += records.count
                    return done - before < Self.rowsMax
                }
            }
            // A table has as many rows as it says; otherwise this loop would not end.
            guard done > before else { break }
            try course.reach(done)
        }
    }
}

/// The references of one column of one table.
private struct Pass {
    let link: EntityMapPlan.LinkToBuild
    /// The side of the objects with the references.
    let side: LinkSide
    let store: RowStore
    let destination: TableID

    func link(_ record: RecordView, in transaction: inout Transaction) throws {
        let layout = store.storage.layouts[record.layout]
        let row = try record.checkedRow(by: layout?.table, of: link.entity)
        // Rows that are older than the reference lack its column.
        guard let layout, let slot = layout.slot(ofColumn: link.column), layout.columns[slot].kind == .toOne else {
            return
        }
        let target = row.toOne(slot)
        guard target != 0, try !transaction.location(of: target, in: destination).isAbsent else { return }
        // The reference's position in its inverse collection, if there is one.
        let place = row.orderKey(slot) ?? MemberKey.defaultOrder(of: record.id)
        let only = MemberKey.defaultOrder(of: record.id)
        var writer = RowWriter(store)
        if link.isLeft {
            try writer.link(
                record.id, left: record.id, right: target, leftOrder: only, rightOrder: place, side, in: &transaction)
        } else {
            try writer.link(
                record.id, left: target, right: record.id, leftOrder: place, rightOrder: only, side, in: &transaction)
        }
    }
}
