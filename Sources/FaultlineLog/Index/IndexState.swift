/// The state of one index in a snapshot: memtables and runs, each list newest first.
///
/// Every entry of a source has a sequence number not below those of the older sources. A transaction spans two sources
/// only if its entries went into two memtables, or were replayed.
package struct IndexState: Sendable {
    package let definition: IndexDefinition
    /// Gets new entries; a snapshot sees it up to its sequence number.
    package var active: Memtable
    /// Memtables that wait to be flushed.
    package var frozen: [Memtable]
    package var runs: [Run]

    package init(definition: IndexDefinition, active: Memtable, frozen: [Memtable] = [], runs: [Run] = []) {
        self.definition = definition
        self.active = active
        self.frozen = frozen
        self.runs = runs
    }

    /// The hash for the calls with a `hash` parameter.
    @inline(__always)
    package func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
        IndexHash.hash(key, prefixByteCountMax: definition.searchPrefix.byteCountMax)
    }

    /// Calls `body` with each live entry whose key begins with `prefix`, ascending by key, then identifier; it returns
    /// false to stop.
    ///
    /// The key's bytes are valid during the call.
    ///
    /// - Complexity: Entries of the memtables with the prefix are sorted; a search in each run that may have the
    ///   prefix, then the blocks that hold it.
    package func forEachEntry(
        prefix: UnsafeRawBufferPointer, at sequence: UInt64,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        var merge = try entries(prefix: prefix, from: prefix, at: sequence)
        try merge.forEachNewest(prefix: prefix) { entry in
            if entry.pointee.isDelete { return true }
            return try body(
                UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount), entry.pointee.id)
        }
    }

    fileprivate func resolveBehindActive(
        key: UnsafeRawBufferPointer, hash: UInt64, at sequence: UInt64, into resolver: inout KeyResolver
    ) throws(LogError) {
        for memtable in frozen where resolver.wants(memtable.lastSequence) {
            memtable.resolve(key: key, hash: hash, at: sequence, into: &resolver)
            if resolver.isLive { return }
        }
        for run in runs where run.footer.firstSequence <= sequence && resolver.wants(run.footer.lastSequence) {
            guard try run.mayContain(prefixHash: hash) else { continue }
            try run.resolve(key: key, at: sequence, into: &resolver)
            if resolver.isLive { return }
        }
    }

    /// All sources of entries whose keys begin with `prefix`; those of runs begin with the first entry not below
    /// `first`.
    func entries(
        prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer, at sequence: UInt64
    ) throws(LogError) -> EntryMerge {
        var merge = EntryMerge(limit: sequence)
        active.addEntries(prefix: prefix, to: &merge, at: sequence)
        for memtable in frozen { memtable.addEntries(prefix: prefix, to: &merge, at: sequence) }
        let prefixByteCount = definition.searchPrefix.byteCountMax
        let isSearchable = prefix.count >= prefixByteCount
        let hash = isSearchable ? IndexHash.hash(prefix, prefixByteCountMax: prefixByteCount) : 0
        for run in runs where run.footer.firstSequence <= sequence {
            if isSearchable, try !run.mayContain(prefixHash: hash) { continue }
            try merge.add(try run.cursor(from: first))
        }
        return merge
    }
}

// Look-ups by a pointer, which copy nothing of the state.
extension UnsafePointer<IndexState> {
    /// The object that has exactly this key.
    @inline(__always)
    func firstID(key: UnsafeRawBufferPointer, at sequence: UInt64) throws(LogError) -> RecordID? {
        try firstID(key: key, hash: pointee.hash(of: key), at: sequence)
    }

    /// The object that has exactly this key, whose hash is known.
    ///
    /// - Complexity: One search in each memtable and one Bloom filter a run; a few blocks of the run that has the key.
    func firstID(key: UnsafeRawBufferPointer, hash: UInt64, at sequence: UInt64) throws(LogError) -> RecordID? {
        var resolver = KeyResolver()
        pointee.active.resolve(key: key, hash: hash, at: sequence, into: &resolver)
        if !resolver.isLive, !pointee.frozen.isEmpty || !pointee.runs.isEmpty {
            try pointee.resolveBehindActive(key: key, hash: hash, at: sequence, into: &resolver)
        }
        guard let finding = resolver.finding, !finding.isDelete else { return nil }
        return finding.id
    }
}
