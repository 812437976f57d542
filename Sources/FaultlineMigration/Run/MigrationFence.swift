internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Keeps containers of the old schema from saving while a migration looks at what they have saved.
///
/// It is the record of a migration that writes nothing and that nobody goes on with, so whoever opens the store after a
/// kill takes it away. The record of the first step takes its place.
struct MigrationFence {
    let log: Log

    /// Writes the fence down; saves fail from then on.
    func raise(_ stored: StoredCatalog) throws {
        _ = try log.write(author: nil) { try put(stored.schema, stored.map, in: &$0) }
    }

    /// Writes it in a transaction.
    func put(_ schema: Schema, _ map: EntityMap, in transaction: inout Transaction) throws {
        var record = MigrationRecord(
            planDigest: MigrationRecord.previewMark + "fence", stage: 0, sourceSchema: schema, sourceMap: map,
            targetSchema: schema, targetMap: map)
        record.firstBlob = transaction.nextID(in: .blobs)
        try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
    }

    /// Takes it away, if it still stands.
    func lower() throws {
        guard let now = try StoredCatalog.read(log.snapshot()), now.migration?.isPreview == true else { return }
        try MigrationAbandonment(log: log).run(now)
    }
}
