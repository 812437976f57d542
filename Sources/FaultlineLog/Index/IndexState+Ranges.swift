extension IndexState {
    /// Calls `body` with each live entry whose key is not below `first` and is below `end`, ascending by key, then
    /// identifier; it returns false to stop.
    ///
    /// The key's bytes are valid during the call.
    ///
    /// - Complexity: Entries of the memtables are sorted once; a search in each run that may have the prefix, then the
    ///   blocks between the two keys.
    package func forEachEntry(
        prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer, below end: UnsafeRawBufferPointer,
        at sequence: UInt64, _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        var merge = EntryMerge(limit: sequence)
        try addEntries(prefix: prefix, from: first, to: &merge, at: sequence)
        guard let limit = end.baseAddress else { return }
        try merge.forEachNewest(prefix: prefix) { entry in
            if KeyBytes.order(entry.pointee.key, entry.pointee.keyByteCount, limit, end.count) >= 0 { return false }
            if entry.pointee.isDelete { return true }
            return try body(
                UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount), entry.pointee.id)
        }
    }

    /// Adds all sources of entries whose keys begin with `prefix`, from the first entry not below `first` on.
    func addEntries(
        prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer, to merge: inout EntryMerge,
        at sequence: UInt64
    ) throws(LogError) {
        active.addEntries(prefix: prefix, from: first, to: &merge, at: sequence)
        for memtable in frozen { memtable.addEntries(prefix: prefix, from: first, to: &merge, at: sequence) }
        let prefixByteCount = definition.searchPrefix.byteCountMax
        let isSearchable = prefix.count >= prefixByteCount
        let hash = isSearchable ? IndexHash.hash(prefix, prefixByteCountMax: prefixByteCount) : 0
        for run in runs where run.footer.firstSequence <= sequence {
            if isSearchable, try !run.mayContain(prefixHash: hash) { continue }
            try merge.add(try run.cursor(from: first))
        }
    }

    /// A key below `end`, with few entries between the two, for backward walks piece by piece.
    ///
    /// - Parameters:
    ///   - end: A key.
    ///   - span: The number of a run's blocks that the walk may take, roughly.
    /// - Returns: The key, which is below `end`; empty where all entries below `end` are few.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    /// - Complexity: A few blocks of each run.
    package func walkStart(below end: UnsafeRawBufferPointer, span: Int) throws(LogError) -> [UInt8] {
        var start: [UInt8] = []
        func take(_ key: [UInt8]) { if start.lexicographicallyPrecedes(key) { start = key } }
        for memtable in [active] + frozen { take(memtable.walkStart(below: end, entryCount: span * 64)) }
        for run in runs { take(try run.walkStart(below: end, span: span)) }
        return start
    }
}

extension Run {
    /// As `IndexState.walkStart(below:span:)`, for one run.
    func walkStart(below end: UnsafeRawBufferPointer, span: Int) throws(LogError) -> [UInt8] {
        guard var place = root, let limit = end.baseAddress else { return [] }
        var start: [UInt8] = []
        let key = KeyCopy()
        for depth in 0..<footer.height {
            let node = try block(at: place.offset, byteCount: place.byteCount, isIndex: true)
            let entries = BlockEntries(node.start)
            var further = entries.keys
            // Separators below `end`, which bound the blocks before it; those of deeper levels are above those of
            // higher levels.
            var separators: [[UInt8]] = []
            for ordinal in 0..<entries.count {
                let lengths = entries.lengths(ordinal)
                key.replace(after: lengths.shared, with: further, lengths.further)
                further += lengths.further
                if KeyBytes.order(UnsafeRawPointer(key.start), key.byteCount, limit, end.count) >= 0 { break }
                separators.append(Array(key.bytes))
            }
            let isAboveEntries = depth + 1 == footer.height
            if !separators.isEmpty { start = separators[max(0, separators.count - (isAboveEntries ? span : 1))] }
            guard separators.count < entries.count, let child = try child(of: place, depth: depth, key: end) else {
                break
            }
            place = child
        }
        return start
    }
}

extension Memtable {
    /// As `IndexState.walkStart(below:span:)`, for one memtable: the key of the entry `entryCount` before `end`.
    func walkStart(below end: UnsafeRawBufferPointer, entryCount: Int) -> [UInt8] {
        var start: [UInt8] = []
        for tier in sortedTiers() {
            let place = tier.lowerBound(end) - entryCount
            guard place > 0 else { continue }
            let entry = tier.items[place].entry
            let key = Array(UnsafeRawBufferPointer(start: entry.key, count: entry.keyByteCount))
            if start.lexicographicallyPrecedes(key) { start = key }
        }
        return start
    }
}

extension Snapshot {
    /// Calls `body` with each entry whose key is not below `first` and is below `end`, ascending by key, then
    /// identifier; it returns false to stop.
    ///
    /// - Parameters:
    ///   - index: Any index.
    ///   - prefix: The common beginning of all those keys; may be empty.
    ///   - first: The first key wanted.
    ///   - end: The first key behind the range.
    ///   - body: Gets a key, valid during the call, and its object.
    /// - Throws: `LogError` if a run cannot be read or does not verify; the error of `body`.
    package func forEachEntry(
        in index: IndexDefinition, prefix: [UInt8], from first: [UInt8], below end: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        guard let state = indexes[index.id] else { return }
        do {
            try prefix.withUnsafeBytes { prefix in
                try first.withUnsafeBytes { first in
                    try end.withUnsafeBytes { end in
                        try state.forEachEntry(prefix: prefix, from: first, below: end, at: sequence, body)
                    }
                }
            }
        } catch let error as LogError {
            throw state.noting(error)
        }
    }

    /// As `IndexState.walkStart(below:span:)`.
    package func walkStart(in index: IndexDefinition, below end: [UInt8], span: Int) throws(LogError) -> [UInt8] {
        guard let state = indexes[index.id] else { return [] }
        let result = end.withUnsafeBytes { end in
            Result { () throws(LogError) in try state.walkStart(below: end, span: span) }
        }
        do throws(LogError) { return try result.get() } catch { throw state.noting(error) }
    }
}
