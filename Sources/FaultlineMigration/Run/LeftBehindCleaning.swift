internal import FaultlineLog
internal import FaultlineStore

/// Deletes the remains of migrations, in transactions of bounded size, so that it can stop anywhere and continue at the
/// next opening.
///
/// Every step checks whether its blobs still exist, so repeating one changes nothing.
struct LeftBehindCleaning {
    let log: Log
    /// Every layout that a row of a dropped table may have.
    let layouts: [UInt16: RowLayout]
    /// The progress to report to; nil outside of a migration's passes.
    var course: MigrationCourse?

    /// Blobs deleted by one transaction: bounds its memory.
    private static let blobsMax = 16_384
    private static let readAheadByteCount = 128 << 10

    func run() throws {
        let snapshot = log.snapshot()
        let first = StoredCatalog.RecordNumber.leftBehind
        guard snapshot.nextID(of: .catalog) > first else { return }
        for id in first..<snapshot.nextID(of: .catalog) {
            switch try StoredCatalog.entry(LeftBehind.self, id, in: snapshot) {
            case nil: continue
            case .blobs(let blobs)?:
                try delete(blobs, finishing: id)
            case .blobRange(let first, let end)?:
                try deleteBlobs(from: first, to: end, finishing: id)
            case .table(let table)?:
                try deleteBlobs(of: TableID(rawValue: table), in: snapshot)
                _ = try log.write(author: nil) { transaction in
                    try transaction.dropTable(TableID(rawValue: table))
                    try transaction.delete(id, in: .catalog)
                    try SwitchRecord.countOwn(in: &transaction)
                }
            }
        }
    }

    /// Deletes the existing blobs of a range, and the catalog record that lists them.
    func deleteBlobs(from first: UInt64, to end: UInt64, finishing id: RecordID? = nil) throws {
        // There are no blobs above the counter, even if a record says so.
        let end = min(end, log.snapshot().nextID(of: .blobs))
        var next = first
        while next < end, end - next > UInt64(Self.blobsMax) {
            try delete(Array(next..<next + UInt64(Self.blobsMax)))
            next += UInt64(Self.blobsMax)
        }
        try delete(next < end ? Array(next..<end) : [], finishing: id)
    }

    /// Deletes the existing ones of some blobs, and the catalog record that lists them.
    private func delete(_ blobs: [UInt64], finishing id: RecordID? = nil) throws {
        let snapshot = log.snapshot()
        let present = try blobs.filter { try !snapshot.location(of: $0, in: .blobs).isAbsent }
        guard !present.isEmpty || id != nil else { return }
        _ = try log.write(author: nil) { transaction in
            for blob in present { try transaction.deleteBlob(blob) }
            if let id { try transaction.delete(id, in: .catalog) }
            try SwitchRecord.countOwn(in: &transaction)
        }
        try course?.advance(by: present.count)
    }

    private func deleteBlobs(of table: TableID, in snapshot: Snapshot) throws {
        guard snapshot.recordCount(of: .blobs) > 0 else { return }
        var blobs: [UInt64] = []
        try snapshot.scan(
            table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for record in records {
                let layout = layouts[record.layout]
                let row = try record.checkedRow(
                    by: layout?.table, of: "table \(table.rawValue), whose entity is gone,")
                for slot in layout?.variableSlots ?? [] {
                    if let reference = row.blobReference(slot) { blobs.append(reference.identifier) }
                }
            }
            if blobs.count >= Self.blobsMax {
                try delete(blobs)
                blobs.removeAll(keepingCapacity: true)
            } else {
                try course?.advance(by: 0)
            }
            return true
        }
        try delete(blobs)
    }
}
