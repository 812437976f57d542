package import FaultlineLog
internal import FaultlineModel

/// Copies the rows of one entity map into the tables of another, byte for byte: same identifiers, same layouts.
///
/// Values outside of a row are not copied: both rows refer to them. Index entries are derived from the rows, by the
/// target's schema. Transactions are of bounded size; each reads and writes in one pass, so no row is held.
package struct RowCopying {
    private let log: Log
    private let source: StoredCatalog
    private let target: RowStore
    /// Bytes of rows in one transaction.
    private let batchByteCount: Int
    private static let readAheadByteCount = 128 << 10
    /// The number of rows in one transaction: bounds its index entries.
    private static let rowsMax = 32_768

    /// A table whose rows are to be copied into another.
    package struct Pair: Sendable, Equatable {
        package let source: TableID
        package let target: TableID
        /// The entity's name in the target's schema; nil for links.
        package let entityName: String?
        /// Its name in the source's; nil for links.
        package let oldEntityName: String?
    }

    /// The tables of the source with a counterpart in the target: entities under their new names, and links with the
    /// same sides.
    package let pairs: [Pair]

    /// Pairs the tables of two maps.
    ///
    /// - Parameters:
    ///   - source: Schema and tables of the rows.
    ///   - target: Schema and tables of the copies.
    ///   - batchByteCount: Bytes of rows in one transaction.
    package init(from source: StoredCatalog, to target: RowStore, batchByteCount: Int) {
        log = target.log
        self.source = source
        self.target = target
        self.batchByteCount = batchByteCount
        pairs = Self.pairs(from: source, to: target.storage)
    }

    private static func pairs(from source: StoredCatalog, to target: SchemaStorage) -> [Pair] {
        let oldNames = SchemaDifference(from: source.schema, to: target.schema).oldEntityNames
        var pairs: [Pair] = target.map.entities.compactMap { entity in
            guard let old = oldNames[entity.name].flatMap({ source.map.entity(named: $0) }), old.table != entity.table
            else { return nil }
            return Pair(
                source: TableID(rawValue: old.table), target: TableID(rawValue: entity.table), entityName: entity.name,
                oldEntityName: old.name)
        }
        for link in target.map.links {
            // A column belongs to one link only, and a side keeps its position.
            let old = source.map.links.first {
                $0.table != link.table
                    && ($0.leftColumn == link.leftColumn && link.leftColumn != 0
                        || $0.rightColumn == link.rightColumn && link.rightColumn != 0)
            }
            guard let old else { continue }
            pairs.append(
                Pair(
                    source: TableID(rawValue: old.table), target: TableID(rawValue: link.table), entityName: nil,
                    oldEntityName: nil))
        }
        return pairs
    }

    /// Copies all pairs into empty tables.
    ///
    /// - Parameters:
    ///   - isLeftOut: Whether a row is not copied.
    ///   - endsEarly: Whether to end a transaction before it is full; called during one.
    ///   - progress: Called after each transaction of an entity, with its name in the source, the number of its rows
    ///     done, and their total.
    /// - Throws: `.duplicate` if the target requires unique values that two rows share; `.tooLarge` if values are too
    ///   long for an index key; `.malformed` for a row that does not fit its layout.
    /// - Complexity: O(n) for n rows; memory for one transaction.
    package func run(
        except isLeftOut: (RecordID, _ table: TableID) -> Bool = { _, _ in false },
        endsEarly: () -> Bool,
        progress: (_ entityName: String, _ done: Int, _ total: Int) throws -> Void
    ) throws {
        for pair in pairs {
            let rows = Rows(pair, source, target)
            let snapshot = log.snapshot()
            let total = snapshot.recordCount(of: pair.source)
            var next: RecordID = 1
            var done = 0
            while done < total {
                let before = done
                _ = try log.write(author: nil) { transaction in
                    var byteCount = 0
                    try snapshot.scan(
                        pair.source, from: next, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
                    ) { records in
                        for record in records {
                            if !isLeftOut(record.id, pair.source) { try rows.copy(record, in: &transaction) }
                            byteCount += record.row.count
                            next = record.id + 1
                        }
                        done += records.count
                        return byteCount < batchByteCount && done - before < Self.rowsMax && !endsEarly()
                    }
                }
                // If the table's count of rows were too large, the loop would not end.
                guard done > before else { break }
                if let name = pair.oldEntityName { try progress(name, done, total) }
            }
        }
    }
}

/// The rows of one pair of tables.
private struct Rows {
    let table: TableID
    let store: RowStore
    /// Nil for links.
    let entity: EntityStorage?
    let link: (left: IndexDefinition, right: IndexDefinition)?
    /// Unique indexes that the source did not have: rows may violate them.
    let newUnique: Set<IndexID>

    init(_ pair: RowCopying.Pair, _ source: StoredCatalog, _ target: RowStore) {
        table = pair.target
        store = target
        entity = pair.entityName.flatMap { target.storage.entity(named: $0) }
        link = target.storage.map.links.first { $0.table == pair.target.rawValue }.map {
            (SchemaStorage.memberDefinition($0.leftIndex), SchemaStorage.memberDefinition($0.rightIndex))
        }
        let known = source.map.entities.first { $0.table == pair.source.rawValue }?.uniqueIndexes.map(\.columns) ?? []
        let stored = pair.entityName.flatMap { target.storage.map.entity(named: $0) }?.uniqueIndexes ?? []
        newUnique = Set(stored.filter { !known.contains($0.columns) }.map { IndexID(rawValue: $0.index) })
    }

    func copy(_ record: RecordView, in transaction: inout Transaction) throws {
        try transaction.put(
            record.id, in: table, layout: record.layout, changed: nil,
            flags: record.flags.intersection(.hasExtension), byteCount: record.row.count
        ) { $0.copyMemory(from: record.row) }
        if let entity {
            try enter(store.view(record, of: entity), record.id, entity, in: &transaction)
        } else if let link {
            guard let row = LinkRow.read(record.row) else {
                throw StoreError(
                    .malformed, "Link \(record.id) has a row of \(record.row.count) bytes. Run `faultline verify`.")
            }
            try MemberKey.with(owner: row.left, order: row.leftOrder, member: row.right) {
                try transaction.insertEntry(link.left, key: $0, id: record.id)
            }
            try MemberKey.with(owner: row.right, order: row.rightOrder, member: row.left) {
                try transaction.insertEntry(link.right, key: $0, id: record.id)
            }
        }
    }

    private func enter(
        _ row: RowView, _ id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws {
        for index in entity.uniqueIndexes {
            guard let key = try RowKeys.key(of: row, id, entity, index) else { continue }
            try key.withUnsafeBytes { key in
                if newUnique.contains(index.definition.id),
                    let other = try transaction.firstID(in: index.definition, key: key)
                {
                    throw store.duplicate(other, id, entity, index.definition)
                }
                try transaction.insertEntry(index.definition, key: key, id: id)
            }
        }
        for (index, key) in zip(entity.secondaryIndexes, store.secondaryKeys(of: row, entity)) {
            try key.withUnsafeBytes { try transaction.insertEntry(index.definition, key: $0, id: id) }
        }
        for index in entity.textIndexes {
            try store.textKeys(of: row, id, entity, index).forEach { (key) throws(LogError) in
                try transaction.insertEntry(index.definition, key: key, id: id)
            }
        }
        for index in entity.memberIndexes {
            let owner = row.toOne(index.slot)
            guard owner != 0 else { continue }
            try MemberKey.with(
                owner: owner, order: row.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id)
            ) { try transaction.insertEntry(index.definition, key: $0, id: id) }
        }
    }
}

extension RowStore {
    /// The error for two stored objects that share values which a new schema requires to be unique.
    package func duplicate(
        _ first: RecordID, _ second: RecordID, _ entity: EntityStorage, _ index: IndexDefinition
    ) -> StoreError {
        let properties = storage.schema.entities[entity.ordinal].properties
        let slots = entity.uniqueIndexes.first { $0.definition.id == index.id }?.slots ?? []
        let names = slots.map { properties[$0].name }
        return StoreError(
            .duplicate,
            "Objects \(first) and \(second) of \(entity.name) have the same values of \(names.joined(separator: " and ")) where the new version asks for unique ones. Remove duplicates in the willMigrate of a custom stage, or in a streamed stage with output.upsert.",
            about: .init(entityName: entity.name, object: second, propertyName: names.first))
    }
}
