extension IndexState {
    /// Calls `body` with each live entry whose key begins with `prefix` and is not below `first`; it returns false to
    /// stop.
    ///
    /// As `forEachEntry(prefix:at:_:)`, for walks that resume. Entries of memtables below `first` are skipped one by
    /// one; those of runs are not read.
    package func forEachEntry(
        prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer, at sequence: UInt64,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        // An empty key is below all others.
        guard let start = first.baseAddress, !first.isEmpty else {
            return try forEachEntry(prefix: prefix, at: sequence, body)
        }
        var merge = try entries(prefix: prefix, from: first, at: sequence)
        try merge.forEachNewest(prefix: prefix) { entry in
            if entry.pointee.isDelete { return true }
            if KeyBytes.order(entry.pointee.key, entry.pointee.keyByteCount, start, first.count) < 0 { return true }
            return try body(
                UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount), entry.pointee.id)
        }
    }
}

extension Snapshot {
    /// Calls `body` with each entry whose key begins with `prefix` and is not below `first`, in ascending order; it
    /// returns false to stop.
    ///
    /// - Parameters:
    ///   - index: Any index.
    ///   - prefix: The first bytes of the keys wanted.
    ///   - first: A key that begins with the prefix.
    ///   - body: Gets a key, valid during the call, and its object.
    /// - Throws: `LogError` if a run cannot be read or does not verify; the error of `body`.
    package func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        try indexes.forEachEntry(in: index, prefix: prefix, from: first, at: sequence, body)
    }
}
