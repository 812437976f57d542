import FaultlineDisk

/// Visits a run's entries in their order.
///
/// It reads the first few blocks through the cache, because short walks are repeated, and then pieces of up to 64 KiB
/// bypassing the cache, because long walks would empty it. Not for two threads at once.
package final class RunCursor {
    /// Blocks read through the cache before the cursor bypasses it.
    private static let cachedBlockCountMax = 8
    private static let firstReadByteCount = 16 << 10

    private let run: Run
    private var stream: BlockStream?
    /// The stream's buffer, in the budget of the cache.
    private var reservation: MemoryReservation?
    /// The current block, if it came through the cache.
    private var handle: BlockHandle?
    private var cachedBlockCount = 0
    private var nextOffset: UInt64
    private var nextByteCount: Int?
    /// The rest of the block: entries from `ordinal` on, and their further key bytes.
    private var block: BlockEntries?
    private var ordinal = 0
    private var further: UnsafeRawPointer?

    /// The current entry's key.
    let key = KeyCopy()
    package private(set) var id: RecordID = 0
    package private(set) var sequence: UInt64 = 0
    package private(set) var isDelete = false
    /// A copy of the current entry's key.
    package var keyArray: [UInt8] { [UInt8](key.bytes) }
    /// Whether no entry comes before.
    private var isFirst = true
    /// Whether a seek found the current entry, which is the next to be returned.
    private var isAhead = false

    init(_ run: Run, at offset: UInt64, byteCount: Int?) {
        self.run = run
        nextOffset = offset
        nextByteCount = byteCount
    }

    init(streaming run: Run) {
        self.run = run
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
            if let block, let start = further, ordinal < block.count {
                let lengths = block.lengths(ordinal)
                key.replace(after: lengths.shared, with: start, lengths.further)
                take(ordinal, of: block, behind: start + lengths.further)
                return true
            }
            guard try loadBlock() else { return false }
        }
    }

    /// Skips entries below `target`, without assembling their keys.
    func advance(toNotBelow target: UnsafeRawBufferPointer) throws(LogError) {
        while try loadBlock(), let block {
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
            case .end:
                // No entry of the block was taken, so no order with the next one is checked.
                isFirst = true
            }
        }
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
        let start: UnsafeRawPointer
        let offset = stream?.offset ?? nextOffset
        if stream == nil, cachedBlockCount < Self.cachedBlockCountMax {
            guard nextOffset < run.footer.indexOffset else { return false }
            let loaded = try run.block(at: nextOffset, byteCount: nextByteCount, isIndex: false)
            start = loaded.start
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
            guard let bytes = try stream?.next(), let address = bytes.baseAddress else { return false }
            start = address
        }
        let block = BlockEntries(start)
        self.block = block
        ordinal = 0
        further = block.keys
        if !isFirst, !isBehind(block) {
            throw LogError.damagedRun(run.file.path, at: offset, "a block does not stand behind the one before")
        }
        isFirst = false
        return true
    }

    /// Whether the first entry of a block comes after the current one.
    ///
    /// The order inside a block was checked with the block.
    private func isBehind(_ block: BlockEntries) -> Bool {
        let first = block.firstKey
        let order = KeyBytes.order(UnsafeRawPointer(key.start), key.byteCount, block.keys, first.count)
        if order != 0 { return order < 0 }
        return block.id(0) > id || (block.id(0) == id && block.sequence(0) < sequence)
    }
}
