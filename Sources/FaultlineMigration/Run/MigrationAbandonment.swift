internal import FaultlineLog
internal import FaultlineStore

/// Drops a migration that will not be resumed: drops the tables that it has written, frees their numbers, and records
/// its blobs for the next cleaning.
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
        let written =
            migration.targetMap.tables + migration.sourceMap.tables + migration.intermediateTables
            + (migration.restart?.tables ?? [])
        let freed = FreedNumbers(in: stored.map, to: migration.unusedNumbers)
        _ = try log.write(author: nil) { transaction in
            try freed.dropTables(and: written, in: &transaction)
            try freed.deleteLayouts(in: &transaction)
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
            if let first = migration.firstQuarantine { try QuarantineKeeper.delete(from: first, in: &transaction) }
            if let fence {
                try fence.put(stored.schema, freed.map, in: &transaction)
            } else {
                try transaction.delete(StoredCatalog.RecordNumber.migration, in: .catalog)
            }
        }
        return stored.inForce
    }
}
