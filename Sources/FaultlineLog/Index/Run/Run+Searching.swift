import FaultlineDisk

extension Run {
    /// The run's newest entry for exactly this key, by the rule of `KeyResolver`.
    ///
    /// Does not use the Bloom filter.
    ///
    /// - Parameters:
    ///   - key: The whole key, not a search prefix.
    ///   - limit: Entries above this sequence number do not count.
    /// - Returns: Nil if the run has no such entry.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    package func newest(key: UnsafeRawBufferPointer, at limit: UInt64) throws(LogError) -> IndexFinding? {
        var resolver = KeyResolver()
        try resolve(key: key, at: limit, into: &resolver)
        return resolver.finding
    }

    /// The position of a block, from the block index or the footer.
    struct Place {
        let offset: UInt64
        let byteCount: Int
    }

    /// The root of the block index; nil in an empty run.
    var root: Place? {
        footer.height == 0 ? nil : Place(offset: footer.rootOffset, byteCount: Int(footer.rootByteCount))
    }

    /// Passes the entries of a key to `resolver`.
    ///
    /// Complexity: the index blocks from the root down and a block of entries, a read for each that is not in the
    /// cache.
    func resolve(key: UnsafeRawBufferPointer, at limit: UInt64, into resolver: inout KeyResolver) throws(LogError) {
        guard let place = try findBlock(key) else { return }
        try resolve(key: key, from: place, at: limit, into: &resolver)
    }

    /// Passes the entries of a key to `resolver`, from the first block that can hold one.
    @inline(__always)
    func resolve(key: UnsafeRawBufferPointer, from place: Place, at limit: UInt64, into resolver: inout KeyResolver)
        throws(LogError)
    {
        var offset = place.offset
        var byteCount: Int? = place.byteCount
        while true {
            let block = try block(at: offset, byteCount: byteCount, isIndex: false)
            if PostingBlock.isForm(block.start) {
                return try resolve(key: key, fromPostingsAt: offset, at: limit, into: &resolver)
            }
            var search = BlockSearch(block.start, key: key)
            var isLast = false
            scan: while true {
                switch search.nextNotBelow() {
                case .equal(let entry):
                    let sequence = search.block.sequence(entry)
                    if sequence <= limit {
                        resolver.visit(
                            id: search.block.id(entry), sequence: sequence, isDelete: search.block.isDelete(entry))
                    }
                case .above:
                    isLast = true
                    break scan
                case .end:
                    break scan
                }
            }
            offset += UInt64(block.byteCount)
            // All entries up to the end of the block may have the key; then the next block may have more of them.
            if isLast || offset >= footer.indexOffset { return }
            byteCount = nil
        }
    }

    /// Passes the entries of a key to `resolver`, from a block of postings on.
    @inline(never)
    private func resolve(
        key: UnsafeRawBufferPointer, fromPostingsAt offset: UInt64, at limit: UInt64, into resolver: inout KeyResolver
    ) throws(LogError) {
        let cursor = RunCursor(self, at: offset, byteCount: nil)
        try cursor.advance(toNotBelow: key)
        while try cursor.advance(), KeyBytes.order(cursor.key.bytes, key) == 0 {
            guard cursor.sequence <= limit else { continue }
            resolver.visit(id: cursor.id, sequence: cursor.sequence, isDelete: cursor.isDelete)
        }
    }

    /// The first block of entries that can hold `key` or a key above it; nil if all entries are below.
    @inline(__always)
    func findBlock(_ key: UnsafeRawBufferPointer) throws(LogError) -> Place? {
        guard var place = root else { return nil }
        for depth in 0..<footer.height {
            guard let child = try child(of: place, depth: depth, key: key) else { return nil }
            place = child
        }
        return place
    }

    /// The first block below an index block that can hold `key` or a key above it.
    ///
    /// - Parameters:
    ///   - parent: The index block.
    ///   - depth: Its depth below the root; 0 for the root.
    ///   - key: The key to look for.
    /// - Returns: A block of the level below; nil if all entries under `parent` are below `key`.
    /// - Throws: `.damaged` if the index block does not verify, or names a block out of its region; errors of reading
    ///   it.
    @inline(__always)
    func child(of parent: Place, depth: UInt16, key: UnsafeRawBufferPointer) throws(LogError) -> Place? {
        let node = try block(at: parent.offset, byteCount: parent.byteCount, isIndex: true)
        var search = BlockSearch(node.start, key: key)
        let entry: Int
        switch search.nextNotBelow() {
        case .equal(let found), .above(let found): entry = found
        case .end: return nil
        }
        let childOffset = search.block.sequence(entry), childByteCount = search.block.id(entry)
        // A child lies before its parent, so that no chain of blocks is a cycle.
        let isLeaf = depth &+ 1 == footer.height
        let start = isLeaf ? blocks.lowerBound : footer.indexOffset
        let end = isLeaf ? footer.indexOffset : parent.offset
        guard childOffset >= start, childOffset <= end, childByteCount <= end - childOffset,
            childByteCount >= UInt64(IndexBlock.headerByteCount)
        else {
            throw LogError.damagedRun(
                file.path, at: parent.offset, "an index block names a block outside of its region")
        }
        return Place(offset: childOffset, byteCount: Int(childByteCount))
    }

    /// A cursor before the first entry whose key is not below `key`; it may be at the end if all are below.
    package func cursor(from key: UnsafeRawBufferPointer) throws(LogError) -> RunCursor {
        try cursor(from: key, cachedBlockCount: RunCursor.usualCachedBlockCount)
    }

    /// The same, for a cursor that reads so many blocks through the cache before it bypasses it.
    func cursor(from key: UnsafeRawBufferPointer, cachedBlockCount: Int) throws(LogError) -> RunCursor {
        let leaf = try findBlock(key)
        let cursor = RunCursor(
            self, at: leaf?.offset ?? footer.indexOffset, byteCount: leaf?.byteCount,
            cachedBlockCount: cachedBlockCount)
        if leaf == nil { return cursor }
        try cursor.advance(toNotBelow: key)
        return cursor
    }

    /// A cursor before the first entry; it reads in large pieces, bypassing the cache, for a merge.
    package func streamingCursor() -> RunCursor { RunCursor(streaming: self) }
}
