extension Sequencer {
    /// Adds an index entry to the transaction under way.
    func stageEntry(
        _ index: IndexDefinition, key: UnsafeRawBufferPointer, id: RecordID, isDelete: Bool
    ) throws(LogError) {
        guard key.count <= IndexDefinition.keyByteCountMax else {
            throw .tooLarge(
                "An index key has at most \(IndexDefinition.keyByteCountMax) bytes; this one has \(key.count).")
        }
        stage.append(index, key: key, hash: hash(index, key), id: id, isDelete: isDelete)
    }

    /// The object that has a key of a unique index, as the transaction under way sees it.
    func firstID(in index: IndexDefinition, key: UnsafeRawBufferPointer) throws(LogError) -> RecordID? {
        let hash = hash(index, key)
        let freed: [RecordID]
        switch stage.find(index, key: key, hash: hash) {
        case .taken(let id): return id
        case .freed(let ids): freed = ids
        }
        // Spilled entries have the number that the transaction will get.
        guard let id = try indexes[index.id]?.firstID(key: key, hash: hash, at: sequence + 1) else { return nil }
        return freed.contains(id) ? nil : id
    }

    /// Asks for the memory that looking these keys up will touch.
    func prefetch(_ index: IndexDefinition, _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        guard let state = indexes[index.id] else { return }
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: keys.count) { hashes in
            guard let start = hashes.baseAddress else { return }
            IndexHash.hash(keys, prefixByteCountMax: index.searchPrefix.byteCountMax, into: start)
            state.active.prefetch(hashes: UnsafeBufferPointer(hashes))
            for memtable in state.frozen { memtable.prefetch(hashes: UnsafeBufferPointer(hashes)) }
        }
    }

    /// The hash of a key's search prefix.
    @inline(__always)
    private func hash(_ index: IndexDefinition, _ key: UnsafeRawBufferPointer) -> UInt64 {
        IndexHash.hash(key, prefixByteCountMax: index.searchPrefix.byteCountMax)
    }
}
