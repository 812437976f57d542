package import FaultlineLog
package import FaultlineStore

/// The space that the objects of one entity take, without their older versions.
package struct EntitySpace: Sendable {
    package let name: String
    package let objectCount: Int
    /// Bytes of the objects' records.
    package private(set) var rowByteCount = 0
    package private(set) var blobCount = 0
    /// Bytes of large values, as the objects see them; blobs that compress take less.
    package private(set) var blobByteCount = 0
    /// Objects that cannot be read: their large values are not counted.
    package private(set) var unreadableCount = 0

    package init(name: String, objectCount: Int) {
        self.name = name
        self.objectCount = objectCount
    }

    /// Counts an entity's objects; reads only the rows of entities that may have large values.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - rows: The store's rows.
    ///   - snapshot: The state.
    ///   - progress: Called with the number of objects that were counted.
    /// - Throws: If the disk does not answer; `.damaged` if a page of a table does not verify and the table's rows are
    ///   not read.
    package init(
        _ entity: EntityStorage, of rows: RowStore, in snapshot: Snapshot, progress: (Int) -> Void
    ) throws {
        self.init(name: entity.name, objectCount: snapshot.recordCount(of: entity.table))
        guard !entity.variableSlots.isEmpty else {
            rowByteCount = try snapshot.recordByteCount(of: entity.table)
            progress(objectCount)
            return
        }
        var seenCount = 0
        var counted = (rows: 0, blobs: 0, blobBytes: 0, unreadable: 0)
        try snapshot.scanPastDamage(entity.table, readAhead: 256 << 10) { records in
            counted.unreadable += records.ids.count
        } _: { records in
            for record in records {
                counted.rows += record.location.byteCount ?? 0
                guard let row = try? rows.view(record, of: entity) else {
                    counted.unreadable += 1
                    continue
                }
                for slot in entity.variableSlots where !row.isNil(slot) {
                    guard let blob = row.blobReference(slot) else { continue }
                    counted.blobs += 1
                    counted.blobBytes += Int(clamping: blob.byteCount)
                }
            }
            seenCount += records.count
            progress(seenCount)
            return true
        }
        (rowByteCount, blobCount, blobByteCount, unreadableCount) = counted
    }
}
