internal import FaultlineLog
internal import FaultlineStore

/// Gives a migration up that nobody will resume: drops the tables that it has written, and notes its blobs for the next
/// cleaning.
struct MigrationAbandonment {
    let log: Log

    /// Gives up the migration that a catalog says is under way; does nothing where there is none.
    ///
    /// - Parameters:
    ///   - stored: The catalog as it is now.
    ///   - fence: Takes the place of the migration's record, so that nobody saves under the old schema; nil for none.
    /// - Returns: The catalog afterwards, as one without a migration.
    /// - Throws: What the log says where it cannot be written.
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
            // Nobody else writes during a migration, so what came since it began is its own.
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
    /// The map with numbers of tables and layouts to be given again: there are few enough to be used up.
    ///
    /// Columns and indexes keep theirs. A replay may find entries of an index that is gone, and so must not take them
    /// for another's.
    fileprivate func returningNumbers(to counters: NumberCounters?) -> EntityMap {
        guard let counters else { return self }
        var map = self
        map.counters.table = min(counters.table, map.counters.table)
        map.counters.layout = min(counters.layout, map.counters.layout)
        return map
    }
}
