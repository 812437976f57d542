internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Prevents containers of the old schema from saving while a migration checks their saved data.
///
/// It is the record of a migration that writes nothing and cannot be resumed, so the next opening after a kill removes
/// it. The record of the first step replaces it.
struct MigrationFence {
    let log: Log

    /// Writes the fence; saves fail from then on.
    func raise(_ stored: StoredCatalog) throws {
        _ = try log.write(author: nil) { try put(stored.schema, stored.map, in: &$0) }
    }

    /// Writes it in a transaction.
    func put(_ schema: Schema, _ map: EntityMap, in transaction: inout Transaction) throws {
        var record = MigrationRecord(
            planDigest: MigrationRecord.abandonedMark + "fence", stage: 0, sourceSchema: schema, sourceMap: map,
            targetSchema: schema, targetMap: map)
        record.firstBlob = transaction.nextID(in: .blobs)
        try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
    }

    /// Removes the fence, if it still exists.
    func lower() throws {
        guard let now = try StoredCatalog.read(log.snapshot()), now.migration?.isNeverResumed == true else { return }
        try MigrationAbandonment(log: log).run(now)
    }
}
