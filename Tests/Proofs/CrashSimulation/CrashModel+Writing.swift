package import FaultlineLog

// Changes a store and its expected content together.

extension CrashModel {
    /// Writes a row, new or replacing another, with its index entries.
    package mutating func put(
        _ id: RecordID, _ row: [UInt8], in table: TableID, _ transaction: inout Transaction
    ) throws {
        let old = rows[table]?[id]
        // Only the entries that change.
        let before = old.map { CrashDeriver.entries(of: table, id: id, row: $0) } ?? []
        let after = CrashDeriver.entries(of: table, id: id, row: row)
        for (index, key) in before where !after.contains(where: { $0.key == key }) {
            try key.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: id) }
        }
        try transaction.put(id, row, in: table, changed: old == nil ? nil : 1)
        for (index, key) in after where !before.contains(where: { $0.key == key }) {
            try key.withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: id) }
        }
        rows[table, default: [:]][id] = row
    }

    /// Deletes an object, and its index entries.
    package mutating func delete(
        _ id: RecordID, in table: TableID, _ transaction: inout Transaction
    ) throws {
        if let old = rows[table]?[id] { try Self.unindex(old, id, table, &transaction) }
        try transaction.delete(id, in: table)
        rows[table]?[id] = nil
    }

    /// Writes a blob.
    package mutating func putBlob(_ bytes: [UInt8], _ transaction: inout Transaction) throws {
        let owner = BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1)
        let id = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        blobs[id] = bytes
    }

    private static func unindex(
        _ row: [UInt8], _ id: RecordID, _ table: TableID, _ transaction: inout Transaction
    ) throws {
        for (index, key) in CrashDeriver.entries(of: table, id: id, row: row) {
            try key.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: id) }
        }
    }
}
