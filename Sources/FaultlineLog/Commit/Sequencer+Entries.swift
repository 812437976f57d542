extension Sequencer {
    /// Adds an index entry to the current transaction.
    func stageEntry(
        _ index: IndexDefinition, key: UnsafeRawBufferPointer, id: RecordID, isDelete: Bool
    ) throws(LogError) {
        try index.checkSize(of: key)
        stage.append(index, key: key, hash: hash(index, key), id: id, isDelete: isDelete)
        stage.reserve(in: budget)
    }

    /// The object that has a key of a unique index, as the current transaction sees it.
    func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        let hash = hash(index, key)
        let freed: [RecordID]
        switch stage.find(index, key: key, hash: hash) {
        case .taken(let id): return id
        case .freed(let ids): freed = ids
        }
        // Spilled entries have the number that the transaction will get.
        guard let state = indexes.find(index.id) else { return nil }
        do throws(LogError) {
            guard let id = try state.firstID(key: key, hash: hash, at: sequence + 1) else { return nil }
            return freed.contains(id) ? nil : id
        } catch {
            throw state.pointee.noting(error)
        }
    }

    /// Visits the entries that earlier transactions left, from a key on if there is one.
    func forEachEntry(
        in index: IndexDefinition, prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        // Spilled entries have the next number, so they are not seen.
        try indexes.forEachEntry(in: index, prefix: prefix, from: first, at: sequence, body)
    }

    /// The hash of a key's search prefix.
    @inline(__always)
    private func hash(_ index: IndexDefinition, _ key: UnsafeRawBufferPointer) -> UInt64 {
        IndexHash.hash(key, prefixByteCountMax: index.searchPrefix.byteCountMax)
    }
}
