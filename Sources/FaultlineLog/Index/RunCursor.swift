import FaultlineDisk

/// Walks over a run's entries in their order.
///
/// It takes the first few blocks through the cache, because short walks are repeated, and reads on in pieces of up to
/// 64 KiB past the cache, because long ones would empty it. Not for two threads at once.
package final class RunCursor {
    /// Blocks taken through the cache before reading past it.
    private static let cachedBlockCountMax = 8
    private static let firstReadByteCount = 16 << 10

    private let run: Run
    private var stream: BlockStream?
    /// The stream's buffer, in the budget of the cache.
    private var reservation: MemoryReservation?
    /// The block being walked over, if it came through the cache.
    private var handle: BlockHandle?
    private var cachedBlockCount = 0
    private var nextOffset: UInt64
    private var nextByteCount: Int?
    private var next: UnsafeRawPointer?
    private var remaining = 0

    /// The current entry's key.
    let key = KeyCopy()
    package private(set) var id: RecordID = 0
    package private(set) var sequence: UInt64 = 0
    package private(set) var isDelete = false
    /// A copy of the current entry's key.
    package var keyArray: [UInt8] { [UInt8](key.bytes) }
    /// There is no entry before.
    private var isFirst = true
    /// The current entry was found by a seek and is the next to be returned.
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

    /// Goes to the next entry; false at the end.
    @inline(__always)
    package func advance() throws(LogError) -> Bool {
        if isAhead {
            isAhead = false
            return true
        }
        if remaining == 0, try !loadBlock() { return false }
        guard let start = next else { return false }
        remaining &-= 1
        let entry = IndexBlock.EntryHeader(start)
        let further = start + IndexBlock.entryHeaderByteCount
        key.replace(after: entry.sharedByteCount, with: further, entry.furtherByteCount)
        id = entry.id
        sequence = entry.sequence
        isDelete = entry.isDelete
        next = further + entry.furtherByteCount
        return true
    }

    /// Passes over entries below `target`.
    func advance(toNotBelow target: UnsafeRawBufferPointer) throws(LogError) {
        while try advance() {
            let order =
                target.baseAddress.map { KeyBytes.order(UnsafeRawPointer(key.start), key.byteCount, $0, target.count) }
                ?? 1
            if order >= 0 {
                isAhead = true
                return
            }
        }
    }

    @inline(never)
    private func loadBlock() throws(LogError) -> Bool {
        let block: UnsafeRawPointer
        let offset = stream?.offset ?? nextOffset
        if stream == nil, cachedBlockCount < Self.cachedBlockCountMax {
            guard nextOffset < run.footer.indexOffset else { return false }
            let loaded = try run.block(at: nextOffset, byteCount: nextByteCount, isIndex: false)
            block = loaded.start
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
            guard let bytes = try stream?.next(), let start = bytes.baseAddress else { return false }
            block = start
        }
        next = block + IndexBlock.headerByteCount
        remaining = IndexBlock.entryCount(block)
        if !isFirst, !isBehind(block + IndexBlock.headerByteCount) {
            throw LogError.damagedRun(run.file.path, at: offset, "a block does not stand behind the one before")
        }
        isFirst = false
        return true
    }

    /// Whether the entry with which a block begins stands behind the current one.
    ///
    /// Inside of a block the order was checked with the block.
    private func isBehind(_ start: UnsafeRawPointer) -> Bool {
        let entry = IndexBlock.EntryHeader(start)
        let order = KeyBytes.order(
            UnsafeRawPointer(key.start), key.byteCount, start + IndexBlock.entryHeaderByteCount, entry.furtherByteCount)
        return order < 0 || (order == 0 && (entry.id > id || (entry.id == id && entry.sequence < sequence)))
    }
}
