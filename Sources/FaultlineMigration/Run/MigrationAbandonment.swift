internal import FaultlineLog
internal import FaultlineStore

/// Drops a migration that will not be resumed: drops the tables that it has written, and records its blobs for the next
/// cleaning.
struct MigrationAbandonment {
    let log: Log

    /// Drops the unfinished migration in a catalog; does nothing if there is none.
    ///
    /// - Parameters:
    ///   - stored: The current catalog.
    ///   - fence: Replaces the migration's record, so that saves under the old schema stay forbidden; nil for none.
    /// - Returns: The catalog afterwards, without a migration.
    /// - Throws: The log's error if it cannot be written.
    @discardableResult
    func run(_ stored: StoredCatalog, leaving fence: MigrationFence? = nil) throws -> StoredCatalog {
        guard let migration = stored.migration else { return stored.under(stored.schema, stored.map) }
        let kept = Set(stored.map.tables)
        let written = Set(
            migration.targetMap.tables + migration.sourceMap.tables + migration.intermediateTables
                + (migration.restart?.tables ?? []))
        let map = stored.map.returningNumbers(to: migration.unusedNumbers)
        let ownLayouts = map.counters.layout..<stored.map.counters.layout
        _ = try log.write(author: nil) { transaction in
            for table in written.subtracting(kept).sorted() {
                try transaction.dropTable(TableID(rawValue: table))
            }
            for place in 0..<migration.leftBehindCount {
                try transaction.delete(
                    StoredCatalog.RecordNumber.leftBehind + RecordID(place), in: .catalog)
            }
            // Only the migration writes while it runs, so newer blobs are its own.
            let end = transaction.nextID(in: .blobs)
            if end > migration.firstBlob {
                try StoredCatalog.put(
                    LeftBehind.blobRange(first: migration.firstBlob, end: end),
                    StoredCatalog.RecordNumber.leftBehind + RecordID(migration.leftBehindCount),
                    in: &transaction)
            }
            if map != stored.map { try StoredCatalog.put(map, StoredCatalog.RecordNumber.entityMap, in: &transaction) }
            for layout in ownLayouts where stored.layouts[layout] != nil {
                try transaction.delete(StoredCatalog.RecordNumber.layouts + RecordID(layout), in: .catalog)
            }
            if let first = migration.firstQuarantine { try QuarantineKeeper.delete(from: first, in: &transaction) }
            if let fence {
                try fence.put(stored.schema, map, in: &transaction)
            } else {
                try transaction.delete(StoredCatalog.RecordNumber.migration, in: .catalog)
            }
        }
        return StoredCatalog(
            schema: stored.schema, map: map, layouts: stored.layouts.filter { !ownLayouts.contains($0.key) })
    }
}

extension EntityMap {
    /// The map with numbers of tables and layouts free for reuse: there are few enough to be used up.
    ///
    /// Columns and indexes keep theirs. A replay may find entries of a dropped index, and must not take them for
    /// another one's.
    fileprivate func returningNumbers(to counters: NumberCounters?) -> EntityMap {
        guard let counters else { return self }
        var map = self
        map.counters.table = min(counters.table, map.counters.table)
        map.counters.layout = min(counters.layout, map.counters.layout)
        return map
    }
}
