#if Import
internal import FaultlineLog
internal import FaultlineStore

/// Reads both sides of an import again.
struct StoreComparison {
    let store: RowStore
    private static let readAheadByteCount = 256 << 10

    /// The values of the source, and its findings, if the import was interrupted.
    ///
    /// - Throws: `ImportError` if the source cannot be read.
    func source(
        _ database: SQLiteDatabase, _ mapping: StoreMapping, externalFolder: String, findings: FindingLog,
        advance: (_ table: String, _ count: Int) -> Void
    ) throws -> SourceTallies {
        var tallies = SourceTallies(mapping)
        for table in mapping.tables {
            let reader = try RowReader(
                database, table, externalFolder: externalFolder, after: Int64.min, findings: findings)
            while let row = try reader.next() {
                defer { row.draft.destroy() }
                let ordinal = row.entity.ordinal
                _ = tallies.entities[ordinal].add(row.draft, row.number, row.entity.storage, skipping: row.large)
                for value in row.large {
                    try value.read(database, row: Int64(row.number)) { next in
                        try tallies.entities[ordinal].addLarge(value.slot, row.number, next)
                    }
                }
                advance(table.name, 1)
            }
        }
        for links in mapping.links {
            let reader = try LinkReader(database, links, after: Int64.min, findings: findings)
            while let link = try reader.next() {
                tallies.links[links.position, default: ColumnTally()].add(link)
                advance(links.table, 1)
            }
        }
        return tallies
    }

    /// The values of the new store.
    ///
    /// - Throws: The errors of the store.
    func destination(_ mapping: StoreMapping, advance: (_ table: String, _ count: Int) -> Void) throws -> SourceTallies
    {
        var tallies = SourceTallies(mapping)
        let snapshot = store.log.snapshot()
        let entities = Dictionary(grouping: mapping.entities, by: \.storage.table)
        for entity in store.storage.entities {
            // The positions in the model of the classes of the table.
            var ordinals = [Int](repeating: 0, count: entity.hierarchy?.classes.count ?? 1)
            for own in entities[entity.table] ?? [] { ordinals[own.place] = own.ordinal }
            try snapshot.scan(
                entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records {
                    let view = try store.view(record, of: entity)
                    let ordinal = ordinals[entity.hierarchy?.place(of: view) ?? 0]
                    let large = tallies.entities[ordinal].add(view, record.id, entity)
                    for (slot, reference) in large {
                        var done: UInt64 = 0
                        try tallies.entities[ordinal].addLarge(slot, record.id) { target in
                            let end = min(done + UInt64(target.count), reference.byteCount)
                            guard end > done else { return 0 }
                            let count = Int(end - done)
                            try snapshot.readBlob(
                                reference.identifier, range: done..<end,
                                into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]))
                            done = end
                            return count
                        }
                    }
                }
                advance(entity.name, records.count)
                return true
            }
        }
        for (table, links) in Dictionary(grouping: mapping.links, by: \.side.table) {
            try snapshot.scan(
                table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records {
                    // Those of one relationship come behind those of another.
                    guard let row = LinkRow.read(record.row),
                        let own = links.last(where: { $0.offset < Int64(record.id) })
                    else { continue }
                    tallies.links[own.position, default: ColumnTally()].add(
                        SourceLink(
                            number: record.id, left: row.left, right: row.right, leftOrder: row.leftOrder,
                            rightOrder: row.rightOrder))
                }
                advance(links[0].table, records.count)
                return true
            }
        }
        return tallies
    }
}
#endif
