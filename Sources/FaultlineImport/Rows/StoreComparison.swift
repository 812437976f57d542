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
        var tallies = SourceTallies(store)
        for table in mapping.tables {
            let reader = try RowReader(
                database, table, schema: store.storage.schema, externalFolder: externalFolder, after: Int64.min,
                findings: findings)
            while let row = try reader.next() {
                defer { row.draft.destroy() }
                let entity = row.entity.storage
                _ = tallies.entities[entity.ordinal].add(row.draft, row.number, entity, skipping: row.large)
                for value in row.large {
                    try value.read(database, row: Int64(row.number)) { next in
                        try tallies.entities[entity.ordinal].addLarge(value.slot, row.number, next)
                    }
                }
                advance(table.name, 1)
            }
        }
        for links in mapping.links {
            let reader = try LinkReader(database, links, after: Int64.min, findings: findings)
            while let link = try reader.next() {
                tallies.links[links.side.table.rawValue, default: ColumnTally()].add(link)
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
        var tallies = SourceTallies(store)
        let snapshot = store.log.snapshot()
        for entity in store.storage.entities {
            try snapshot.scan(
                entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records {
                    let view = try store.view(record, of: entity)
                    let large = tallies.entities[entity.ordinal].add(view, record.id, entity)
                    for (slot, reference) in large {
                        var done: UInt64 = 0
                        try tallies.entities[entity.ordinal].addLarge(slot, record.id) { target in
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
        for links in mapping.links {
            let table = links.side.table
            try snapshot.scan(
                table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records {
                    guard let row = LinkRow.read(record.row) else { continue }
                    tallies.links[table.rawValue, default: ColumnTally()].add(
                        SourceLink(
                            number: record.id, left: row.left, right: row.right, leftOrder: row.leftOrder,
                            rightOrder: row.rightOrder))
                }
                advance(links.table, records.count)
                return true
            }
        }
        return tallies
    }
}
#endif
