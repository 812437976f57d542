import FaultlineDisk

/// Visits a run's entries in their order.
///
/// It reads the first few blocks through the cache, because short walks are repeated, and then pieces of up to 64 KiB
/// bypassing the cache, because long walks would empty it. Not for two threads at once.
package final class RunCursor {
    /// Blocks read through the cache before a cursor bypasses it, unless its user names another number.
    static let usualCachedBlockCount = 8
    private static let firstReadByteCount = 16 << 10

    let run: Run
    private var stream: BlockStream?
    /// The stream's buffer, in the budget of the cache.
    private var reservation: MemoryReservation?
    /// The current block, if it came through the cache.
    private var handle: BlockHandle?
    private var cachedBlockCount = 0
    private let cachedBlockCountMax: Int
    private var nextOffset: UInt64
    private var nextByteCount: Int?
    /// The rest of the block: entries from `ordinal` on, and their further key bytes.
    private var block: BlockEntries?
    // Safe because no access to these five calls anything.
    @exclusivity(unchecked) private(set) var ordinal = 0
    private var further: UnsafeRawPointer?
    /// The groups of the block, while it is one of postings.
    @exclusivity(unchecked) private(set) var postings: PostingList?
    /// The list of groups, kept for the next block of postings.
    private var list: PostingList?

    /// The current entry's key.
    let key = KeyCopy()
    @exclusivity(unchecked) package private(set) var id: RecordID = 0
    @exclusivity(unchecked) package private(set) var sequence: UInt64 = 0
    @exclusivity(unchecked) package private(set) var isDelete = false
    /// A copy of the current entry's key.
    package var keyArray: [UInt8] { [UInt8](key.bytes) }
    /// Whether no entry comes before.
    private var isFirst = true
    /// Whether a seek found the current entry, which is the next to be returned.
    private var isAhead = false
    /// Whether `key` is that of the current entry, which was not made for a posting.
    private var hasKey = true

    init(
        _ run: Run, at offset: UInt64, byteCount: Int?, cachedBlockCount: Int = RunCursor.usualCachedBlockCount
    ) {
        self.run = run
        cachedBlockCountMax = cachedBlockCount
        nextOffset = offset
        nextByteCount = byteCount
    }

    init(streaming run: Run) {
        self.run = run
        cachedBlockCountMax = 0
        nextOffset = run.footer.indexOffset
        reservation = MemoryReservation(BlockStream.byteCountMax, for: .buffers, in: run.cache.budget)
        stream = BlockStream(run.file, run.header, in: run.blocks)
    }

    /// Moves to the next entry; false at the end.
    @inline(__always)
    package func advance() throws(LogError) -> Bool {
        if isAhead {
            isAhead = false
            return true
        }
        while true {
            if let postings {
                if nextPosting(of: postings) { return true }
            } else if let block, let start = further, ordinal < block.count {
                let lengths = block.lengths(ordinal)
                key.replace(after: lengths.shared, with: start, lengths.further)
                take(ordinal, of: block, behind: start + lengths.further)
                return true
            }
            guard try loadBlock() else { return false }
        }
    }

    /// Skips entries below `target`, without assembling their keys.
    ///
    /// - Parameters:
    ///   - target: A key.
    ///   - makesKey: Whether the key of a posting is wanted.
    /// - Throws: `.damaged` if a block does not verify; errors of reading it.
    func advance(toNotBelow target: UnsafeRawBufferPointer, makesKey: Bool = true) throws(LogError) {
        while try loadBlock() {
            if let postings {
                if let found = postings.next(notBelow: target) {
                    if makesKey { take(found, of: postings) } else { takeWithoutKey(found, of: postings) }
                    isAhead = true
                    return
                }
            } else if let block {
                var search = BlockSearch(block.start, key: target)
                switch search.nextNotBelow() {
                case .equal(let found), .above(let found):
                    let lengths = block.lengths(found)
                    // The bytes that the entry shares with the previous one are also the beginning of the target.
                    if let start = target.baseAddress { key.set(start, lengths.shared) }
                    key.replace(after: lengths.shared, with: search.further, lengths.further)
                    take(found, of: block, behind: search.further + lengths.further)
                    isAhead = true
                    return
                case .end: break
                }
            }
            // No entry of the block was taken, so no order with the next one is checked.
            isFirst = true
        }
    }

    /// Moves to the first entry not below `target`, forwards or backwards; it is the next to be returned, without a key
    /// if it is a posting.
    ///
    /// - Returns: False at the end.
    func move(to target: UnsafeRawBufferPointer) throws(LogError) -> Bool {
        handle = nil
        stream = nil
        reservation = nil
        cachedBlockCount = 0
        block = nil
        postings = nil
        hasKey = true
        isFirst = true
        isAhead = false
        guard let place = try run.findBlock(target) else {
            nextOffset = run.footer.indexOffset
            return false
        }
        nextOffset = place.offset
        nextByteCount = place.byteCount
        try advance(toNotBelow: target, makesKey: false)
        return isAhead
    }

    /// The next group of postings, from the one of the entry that a seek has found; nil at the end of the run, or at a
    /// block of other entries.
    ///
    /// A cursor whose groups were visited visits no entries.
    func nextGroup() throws(LogError) -> PostingList? {
        guard postings != nil else { return nil }
        let isFound = isAhead
        isAhead = false
        while let postings {
            // A block whose first entry was compared with the last one of the block before is at its first group.
            if isFound || ordinal < postings.count || postings.next() {
                ordinal = postings.count
                return postings
            }
            takeWithoutKey(postings.count &- 1, of: postings)
            guard try loadBlock() else { return nil }
        }
        return nil
    }

    @inline(__always)
    private func nextPosting(of list: PostingList) -> Bool {
        if ordinal >= list.count {
            guard list.next() else { return false }
            ordinal = 0
        }
        take(ordinal, of: list)
        return true
    }

    /// Moves to an entry of the current group, and makes its key.
    @inline(__always)
    private func take(_ entry: Int, of list: PostingList) {
        list.write(entry, to: key)
        takeNumbers(entry, of: list)
        hasKey = true
    }

    /// Moves to an entry of the current group without making its key.
    @inline(__always)
    func takeWithoutKey(_ entry: Int, of list: PostingList) {
        takeNumbers(entry, of: list)
        hasKey = false
    }

    @inline(__always)
    private func takeNumbers(_ entry: Int, of list: PostingList) {
        id = list.id(entry)
        sequence = list.sequence(entry)
        isDelete = list.isDelete(entry)
        ordinal = entry &+ 1
    }

    @inline(__always)
    private func take(_ entry: Int, of block: BlockEntries, behind end: UnsafeRawPointer) {
        id = block.id(entry)
        sequence = block.sequence(entry)
        isDelete = block.isDelete(entry)
        ordinal = entry &+ 1
        further = end
    }

    @inline(never)
    private func loadBlock() throws(LogError) -> Bool {
        // The key of a posting is made while its block is there.
        if !hasKey, let postings { take(ordinal &- 1, of: postings) }
        let bytes: UnsafeRawBufferPointer
        let offset = stream?.offset ?? nextOffset
        if stream == nil, cachedBlockCount < cachedBlockCountMax {
            guard nextOffset < run.footer.indexOffset else { return false }
            let loaded = try run.block(at: nextOffset, byteCount: nextByteCount, isIndex: false)
            bytes = UnsafeRawBufferPointer(start: loaded.start, count: loaded.byteCount)
            nextOffset += UInt64(loaded.byteCount)
            nextByteCount = nil
            cachedBlockCount += 1
            handle = consume loaded
        } else {
            if stream == nil {
                handle = nil
                reservation = MemoryReservation(BlockStream.byteCountMax, for: .buffers, in: run.cache.budget)
                stream = BlockStream(
                    run.file, run.header, in: nextOffset..<run.footer.indexOffset,
                    readByteCount: Self.firstReadByteCount)
            }
            guard let next = try stream?.next() else { return false }
            bytes = next
        }
        guard let start = bytes.baseAddress else { return false }
        ordinal = 0
        let isBehind = PostingBlock.isForm(start) ? begin(postings: bytes) : begin(entries: start)
        if !isFirst, !isBehind {
            throw LogError.damagedRun(run.file.path, at: offset, "a block does not stand behind the one before")
        }
        isFirst = false
        return true
    }

    /// Begins a block of postings; returns whether it stands behind the current entry.
    private func begin(postings bytes: UnsafeRawBufferPointer) -> Bool {
        let list = self.list ?? PostingList()
        self.list = list
        list.begin(bytes)
        postings = list
        block = nil
        guard !isFirst, list.next() else { return true }
        let first = KeyCopy()
        list.write(0, to: first)
        return isBehind(first.bytes, list.id(0), list.sequence(0))
    }

    /// Begins a block of other entries; returns whether it stands behind the current entry.
    private func begin(entries start: UnsafeRawPointer) -> Bool {
        let block = BlockEntries(start)
        self.block = block
        postings = nil
        further = block.keys
        return isFirst || isBehind(block.firstKey, block.id(0), block.sequence(0))
    }

    /// Whether the first entry of a block comes after the current one.
    ///
    /// The order inside a block was checked with the block.
    private func isBehind(_ first: UnsafeRawBufferPointer, _ firstID: RecordID, _ firstSequence: UInt64) -> Bool {
        let order = KeyBytes.order(key.bytes, first)
        if order != 0 { return order < 0 }
        return firstID > id || (firstID == id && firstSequence < sequence)
    }
}
