internal import FaultlineLog
internal import FaultlineStore

/// Gives a migration up that nobody will resume: drops the tables that it has written, and notes its blobs for the next
/// cleaning.
struct MigrationAbandonment {
    let log: Log

    /// Gives up the migration that a catalog says is under way; does nothing where there is none.
    func run(_ stored: StoredCatalog) throws {
        guard let migration = stored.migration else { return }
        let kept = Set(stored.map.tables)
        let written = Set(
            migration.targetMap.tables + migration.sourceMap.tables + migration.intermediateTables
                + (migration.restart?.tables ?? []))
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
            try transaction.delete(StoredCatalog.RecordNumber.migration, in: .catalog)
        }
    }
}
