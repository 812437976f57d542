import CrashSimulation
import FaultlineLog

/// Compares the store of a killed process with the acknowledged transactions.
struct KillCheck {
    let values: KillValues
    let snapshot: Snapshot

    /// Calls `body` with each record of a table.
    static func scan(_ snapshot: Snapshot, _ table: TableID, _ body: (RecordView) throws -> Void) throws {
        try snapshot.scan(table, from: 1, through: .max, readAhead: 1 << 16) { views in
            for view in views { try body(view) }
            return true
        }
    }

    /// Returns the number of transactions of each writer, read from the progress records.
    func numbers() throws -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: KillModel.writerCount)
        try Self.scan(snapshot, KillValues.progressTable) { view in
            guard view.row.count == 9, view.row[0] < KillModel.writerCount else {
                throw CrashViolation("a progress record is not one")
            }
            numbers[Int(view.row[0])] = view.row.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
        }
        return numbers
    }

    /// Checks that the objects, blobs and index entries are exactly those of the model.
    func run(_ model: KillModel) throws {
        var blobs = 0
        for kind in KillChange.Kind.allCases {
            let table = KillValues.table(of: kind)
            var entries: [[UInt8]: RecordID] = [:]
            var seen: Set<Int> = []
            try Self.scan(snapshot, table) { view in
                guard let origin = KillValues.origin(of: view.row), origin.kind == kind else {
                    throw CrashViolation("object \(view.id) of table \(table.rawValue) has no writer")
                }
                let version = model.version(kind, writer: origin.writer, slot: origin.slot)
                guard origin.version == version else {
                    throw CrashViolation(
                        "\(kind) \(origin.slot) of writer \(origin.writer) is of transaction \(origin.version), "
                            + "not \(version)")
                }
                guard seen.insert(origin.writer << 8 | origin.slot).inserted else {
                    throw CrashViolation("\(kind) \(origin.slot) of writer \(origin.writer) is there twice")
                }
                try checkBytes(view, kind, origin.writer, origin.slot, version)
                if kind == .owning { blobs += 1 }
                for (_, key) in CrashDeriver.entries(of: table, id: view.id, row: Array(view.row)) {
                    entries[key] = view.id
                }
            }
            guard seen.count == model.objectCount(of: kind) else {
                throw CrashViolation("\(seen.count) objects are \(kind), not \(model.objectCount(of: kind))")
            }
            try checkEntries(of: table, entries)
        }
        guard snapshot.recordCount(of: .blobs) == blobs else {
            throw CrashViolation("there are \(snapshot.recordCount(of: .blobs)) blobs, not \(blobs)")
        }
    }

    /// Checks that the bytes of each row and blob match the origin in the row's header.
    ///
    /// - Parameter readsBlobs: Whether to check owners and their blobs too.
    /// - Throws: `CrashViolation` for the first mismatch, or errors of the log.
    func runAlone(readsBlobs: Bool) throws {
        let numbers = try numbers()
        for kind in KillChange.Kind.allCases where kind != .owning || readsBlobs {
            try Self.scan(snapshot, KillValues.table(of: kind)) { view in
                guard let origin = KillValues.origin(of: view.row), origin.version <= numbers[origin.writer] else {
                    throw CrashViolation("object \(view.id) is of a transaction that is not there")
                }
                try checkBytes(view, kind, origin.writer, origin.slot, origin.version)
            }
        }
    }

    private func checkBytes(
        _ view: RecordView, _ kind: KillChange.Kind, _ writer: Int, _ slot: Int, _ version: UInt64
    ) throws {
        var row = values.row(kind, writer: writer, slot: slot, version: version)
        if kind == .owning {
            guard view.row.count == KillValues.headByteCount + 8 else {
                throw CrashViolation("owner \(view.id) names no blob")
            }
            let id = view.row.loadUnaligned(fromByteOffset: KillValues.headByteCount, as: UInt64.self)
            withUnsafeBytes(of: id.littleEndian) { row += $0 }
            let bytes = values.blob(writer: writer, slot: slot, version: version)
            guard try snapshot.blobByteCount(id) == UInt64(bytes.count) else {
                throw CrashViolation("blob \(id) has another size")
            }
            var found = [UInt8](repeating: 0, count: bytes.count)
            try found.withUnsafeMutableBytes { try snapshot.readBlob(id, range: 0..<UInt64(bytes.count), into: $0) }
            guard found == bytes else { throw CrashViolation("blob \(id) has other bytes") }
        }
        guard view.row.elementsEqual(row) else {
            throw CrashViolation(
                "\(kind) \(slot) of writer \(writer) has other bytes than transaction \(version) wrote")
        }
    }

    private func checkEntries(of table: TableID, _ expected: [[UInt8]: RecordID]) throws {
        let index: IndexDefinition
        switch table {
        case KillValues.keyedTable: index = CrashDeriver.unique
        case KillValues.groupedTable: index = CrashDeriver.group
        default: return
        }
        var found: [[UInt8]: RecordID] = [:]
        try snapshot.forEachEntry(in: index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) { key, id in
            found[Array(key)] = id
            return true
        }
        guard found == expected else {
            throw CrashViolation("the index of table \(table.rawValue) has \(found.count) entries, not the right ones")
        }
        guard index.isUnique else { return }
        for (key, id) in expected {
            guard try key.withUnsafeBytes({ try snapshot.firstID(in: index, key: $0) }) == id else {
                throw CrashViolation("a key of object \(id) leads elsewhere")
            }
        }
    }
}
