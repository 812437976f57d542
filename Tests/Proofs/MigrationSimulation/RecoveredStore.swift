internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineModel
internal import FaultlineStore

/// A disk after recovery: the stage of its migration, and all readable contents.
struct RecoveredStore {
    enum Stage { case old, resumable, new }

    /// Nil for a store without a catalog.
    let stage: Stage?
    /// Equal for equal rows in the same tables and with the same identifiers, and equal values outside the rows.
    let contents: Int

    /// Opens a store, reads all of it, and leaves it as a kill would.
    ///
    /// - Throws: An error if verification fails; the first broken invariant.
    init(_ directory: String, on disk: Disk, _ options: LogOptions) throws {
        let log = try Log.open(
            directory, on: disk, clock: Clock { 1 }, options: options, deriver: RowIndexDeriver())
        defer { log.abandonForTests() }
        try log.checkInvariants()
        let snapshot = log.snapshot()
        guard let catalog = try StoredCatalog.read(snapshot) else {
            stage = nil
            contents = 0
            return
        }
        try catalog.map.checkInvariants(of: Array(catalog.layouts.values))
        let isNew = catalog.schema.entitiesByName["Town"] != nil
        stage = isNew ? .new : catalog.migration == nil ? .old : .resumable
        var hasher = Hasher()
        for number in 1..<Self.tableEnd where snapshot.recordCount(of: TableID(rawValue: number)) > 0 {
            let table = TableID(rawValue: number)
            hasher.combine(number)
            if table == .blobs { continue }
            try snapshot.scan(table, from: 1, through: Limits.recordIDMax, readAhead: 4_096) { records in
                for record in records {
                    hasher.combine(record.id)
                    hasher.combine(bytes: record.row)
                }
                return true
            }
        }
        try Self.combineBlobs(of: snapshot, into: &hasher)
        contents = hasher.finalize()
    }

    /// More tables than a small store has, including those of its migrations.
    private static let tableEnd: UInt16 = 256

    private static func combineBlobs(of snapshot: Snapshot, into hasher: inout Hasher) throws {
        for id in 1..<max(1, snapshot.nextID(of: .blobs)) where try snapshot.placement(of: id) != nil {
            let byteCount = try snapshot.blobByteCount(id)
            var bytes = [UInt8](repeating: 0, count: Int(byteCount))
            try bytes.withUnsafeMutableBytes { try snapshot.readBlob(id, range: 0..<byteCount, into: $0) }
            hasher.combine(id)
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
