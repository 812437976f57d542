internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

extension StageContext {
    /// Calls `body` with the large values of the rows of an entity, a batch of rows at a time; rows that `isLeftOut`
    /// names are skipped.
    func forEachBlobs(
        entityNamed name: String, except isLeftOut: (RecordID) -> Bool,
        _ body: (_ blobs: [UInt64], _ rowCount: Int) throws -> Void
    ) throws {
        guard let entity = core.store.storage.entity(named: name),
            !entity.variableSlots.isEmpty || core.store.mayHaveRemovedBlobs(entity)
        else { return }
        try core.beginReading()
        defer { core.endReading() }
        try core.snapshot.scan(
            entity.table, from: 1, through: Limits.recordIDMax, readAhead: 128 << 10
        ) { records in
            var blobs: [UInt64] = []
            for record in records where !isLeftOut(record.id) {
                blobs += core.store.blobs(of: try core.store.view(record, of: entity), entity)
            }
            try body(blobs, records.count)
            return true
        }
    }
}
