import FaultlineLog

// Applies every change to the model and to the log. Canaries change the calls of the log.

extension ModelLife {
    /// Writes a new or changed row with its index entries.
    func put(_ row: ModelRow, _ id: RecordID, in table: UInt16, _ transaction: inout Transaction) throws {
        let old = draft[table][id]
        let keepsKey = old.map { $0.key == row.key } ?? false
        if let old, !keepsKey { try unindex(old, id, table, &transaction) }
        if canary == .readsStaleRows, let old { staleRows[table, default: [:]][id] = old.bytes }
        try transaction.put(
            id, in: TableID(rawValue: table), layout: 1, changed: old == nil ? nil : 1,
            flags: keepsKey ? .noIndexChange : [], byteCount: row.bytes.count
        ) { $0.copyBytes(from: row.bytes) }
        if !keepsKey { try index(row, id, table, &transaction) }
        draft[table][id] = row
    }

    /// Writes the row of a new object.
    func insert(_ row: ModelRow, in table: UInt16, _ transaction: inout Transaction) throws {
        let expected = draft[table].nextID
        let id = try transaction.allocateIDs(1, in: TableID(rawValue: table))
        guard id == expected else {
            throw ModelViolation("table \(table) gives identifier \(id), expected \(expected)")
        }
        note(id)
        try put(row, id, in: table, &transaction)
    }

    func delete(_ id: RecordID, in table: UInt16, _ transaction: inout Transaction) throws {
        guard let old = draft[table][id] else { return }
        try unindex(old, id, table, &transaction)
        if canary != .forgetsDeletes { try transaction.delete(id, in: TableID(rawValue: table)) }
        draft[table][id] = nil
    }

    private func index(_ row: ModelRow, _ id: RecordID, _ table: UInt16, _ transaction: inout Transaction) throws {
        for index in ModelTableKind.indexes(of: table) {
            let keys = row.keys(in: index, of: id)
            // One of several.
            for key in canary == .losesPostings && keys.count > 2 ? keys.dropLast() : keys[...] {
                try key.withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: id) }
            }
        }
    }

    func unindex(_ row: ModelRow, _ id: RecordID, _ table: UInt16, _ transaction: inout Transaction) throws {
        if canary == .keepsKeys { return }
        for index in ModelTableKind.indexes(of: table) {
            for key in row.keys(in: index, of: id) {
                try key.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: id) }
            }
        }
    }

    // MARK: Blobs

    static let blobOwner = BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1)

    /// Adds a blob that the transaction has written to the model.
    func place(_ bytes: [UInt8], _ id: RecordID) throws {
        guard id == draft.blobs.nextID else {
            throw ModelViolation("a blob gets identifier \(id), expected \(draft.blobs.nextID)")
        }
        note(id)
        draft.blobs[id] = bytes
    }

    func putBlob(_ bytes: [UInt8], _ transaction: inout Transaction) throws {
        try place(bytes, try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: Self.blobOwner) })
    }

    func deleteBlob(_ id: RecordID, _ transaction: inout Transaction) throws {
        try transaction.deleteBlob(id)
        draft.blobs[id] = nil
    }

    // MARK: Reading

    /// Returns a row in a snapshot.
    func row(_ id: RecordID, in table: UInt16, of snapshot: Snapshot) throws -> [UInt8]? {
        if let stale = staleRows[table]?[id] { return stale }
        var buffer = RecordBuffer(byteCapacity: 256)
        guard let view = try snapshot.read(id, in: TableID(rawValue: table), into: &buffer) else { return nil }
        return Array(view.row)
    }

    /// Returns the object with a key in a snapshot.
    func holder(of key: [UInt8], in table: UInt16, of snapshot: Snapshot) throws -> RecordID? {
        try key.withUnsafeBytes { try snapshot.firstID(in: ModelTableKind.unique(of: table), key: $0) }
    }

    /// Returns a range of a blob in a snapshot.
    func bytes(_ range: Range<Int>, ofBlob id: RecordID, in snapshot: Snapshot) throws -> [UInt8] {
        var found = [UInt8](repeating: 0, count: range.count)
        let shift: UInt64 = canary == .shiftsRanges && range.lowerBound > 0 ? 1 : 0
        let start = UInt64(range.lowerBound) - shift
        try found.withUnsafeMutableBytes {
            try snapshot.readBlob(id, range: start..<start + UInt64(range.count), into: $0)
        }
        return found
    }
}
