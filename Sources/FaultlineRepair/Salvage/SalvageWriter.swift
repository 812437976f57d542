import FaultlineDisk
import FaultlineLog

/// Writes salvaged objects into a new store, in transactions of bounded size.
struct SalvageWriter {
    /// The number of objects of one transaction.
    private static let objectCountMax = 4_096
    /// Bytes of records that end a transaction.
    private static let byteCountMax = 8 << 20

    private let files: FileTable
    private let log: Log
    /// The newest incomplete transaction: objects that no later one wrote may be old.
    private let lastLost: UInt64
    /// For each table, an identifier above all used ones.
    private let nextIDs: [TableID: RecordID]
    private let finding: (SalvageFinding) -> Void
    private(set) var report: SalvageReport
    private var isEmpty = true

    init(
        _ files: FileTable, to log: Log, nextIDs: [TableID: RecordID], report: SalvageReport,
        finding: @escaping (SalvageFinding) -> Void
    ) {
        self.files = files
        self.log = log
        self.nextIDs = nextIDs
        self.report = report
        self.finding = finding
        lastLost = report.lostTransactions.last?.upperBound ?? 0
    }

    /// Writes the objects of all tables, the catalog's first.
    ///
    /// - Parameters:
    ///   - versions: The objects' versions.
    ///   - progress: Called with the number of objects done.
    /// - Throws: Disk errors of the new store.
    mutating func write(_ versions: inout VersionTables, progress: (Int) -> Void) throws(LogError) {
        var done = 0
        for number in versions.tables {
            let table = TableID(rawValue: number)
            var batch: [VersionTables.Object] = []
            var byteCount = 0
            try versions.forEachObject(of: number) { object throws(LogError) in
                guard let location = object.location else {
                    report.lostObjectCounts[table, default: 0] += 1
                    return finding(.lostObject(table: table, id: object.id))
                }
                batch.append(object)
                byteCount += location.byteCount ?? Self.byteCountMax
                guard batch.count >= Self.objectCountMax || byteCount >= Self.byteCountMax else { return }
                try write(batch, of: table)
                done += batch.count
                progress(done)
                batch.removeAll(keepingCapacity: true)
                byteCount = 0
            }
            try write(batch, of: table)
            done += batch.count
            progress(done)
        }
    }

    /// Writes objects of one table in one transaction.
    private mutating func write(_ batch: [VersionTables.Object], of table: TableID) throws(LogError) {
        guard !batch.isEmpty else { return }
        var buffer = RecordBuffer()
        var written: [VersionTables.Object] = []
        do {
            _ = try log.write(author: "salvage") { transaction in
                if isEmpty {
                    for (table, next) in nextIDs { try transaction.raiseNextID(in: table, to: next) }
                }
                for object in batch where try copy(object, of: table, &buffer, to: &transaction) {
                    written.append(object)
                }
            }
        } catch let error as LogError {
            throw error
        } catch {
            throw LogError(.failedDisk, "\(error)")
        }
        if !written.isEmpty { isEmpty = false }
        for object in written { count(object, of: table) }
    }

    private mutating func count(_ object: VersionTables.Object, of table: TableID) {
        report.recordCounts[table, default: 0] += 1
        guard object.isNewerLost || object.sequence <= lastLost else { return }
        report.possiblyOldCounts[table, default: 0] += 1
        if object.isNewerLost { finding(.olderVersion(table: table, id: object.id)) }
    }

    /// Copies one object.
    ///
    /// - Returns: False if it cannot be read.
    private mutating func copy(
        _ object: VersionTables.Object, of table: TableID, _ buffer: inout RecordBuffer,
        to transaction: inout Transaction
    ) throws(LogError) -> Bool {
        guard let location = object.location, let file = files.find(location.segment)?.takeUnretainedValue() else {
            return false
        }
        do throws(LogError) {
            while true {
                switch try RecordFile.read(object.id, in: table, at: location, of: file, into: buffer.bytes) {
                case .needsCapacity(let byteCount): buffer.grow(to: byteCount)
                case .record(let view, _):
                    if table == .blobs { return try copyBlob(view, file, to: &transaction) }
                    try transaction.adopt(view, in: table)
                    return true
                }
            }
        } catch {
            // Errors of the new store do not name this file.
            guard error.path == file.path else { throw error }
            report.lostObjectCounts[table, default: 0] += 1
            finding(.lostObject(table: table, id: object.id))
            return false
        }
    }

    // MARK: Blobs

    private mutating func copyBlob(
        _ view: RecordView, _ file: ManagedFile, to transaction: inout Transaction
    ) throws(LogError) -> Bool {
        let id = view.id
        guard let placement = BlobPlacement(reading: view.row), placement.offset <= Limits.countMax else {
            return lose(id, nil, nil, LogError(.damaged, "The placement is not understood.", path: file.path))
        }
        guard let source = files.find(UInt32(truncatingIfNeeded: placement.segment))?.takeUnretainedValue(),
            source.kind == .blobSegment
        else {
            return lose(id, placement, nil, LogError(.damaged, "Segment \(placement.segment), where it lies, is lost."))
        }
        let owner = Self.owner(of: id, placement, source)
        var fault: LogError?
        do throws(LogError) {
            var reader = try BlobReader(id, placement, source)
            fault = try transaction.adoptBlob(id, &reader, owner: owner ?? .unknown)
        } catch {
            guard error.path == source.path else { throw error }
            fault = error
        }
        if let fault { return lose(id, placement, owner, fault) }
        report.blobByteCount += placement.rawByteCount
        return true
    }

    private mutating func lose(
        _ id: RecordID, _ placement: BlobPlacement?, _ owner: BlobOwner?, _ error: LogError
    ) -> Bool {
        report.lostBlobCount += 1
        finding(
            .lostBlob(
                LostBlob(
                    id: id, owner: owner, byteCount: placement?.rawByteCount ?? 0, path: error.path,
                    offset: error.offset, reason: error.fault)))
        return false
    }

    /// The object that a blob was written for, if the blob's header still verifies.
    private static func owner(of id: RecordID, _ placement: BlobPlacement, _ source: ManagedFile) -> BlobOwner? {
        let byteCount = RecordHeader.byteCount + BlobHeader.byteCount
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
            guard let count = try? source.file.read(into: bytes, at: placement.offset), count == byteCount,
                let start = UnsafeRawPointer(bytes.baseAddress),
                let header = BlobHeader(
                    verifying: start, id: id, binding: source.recordBinding(at: placement.offset))
            else { return nil }
            return header.owner
        }
    }
}

extension BlobOwner {
    /// The owner of a blob whose owner is unknown.
    fileprivate static let unknown = BlobOwner(table: TableID(rawValue: 0), slot: 0, id: 0)
}
