internal import FaultlineDisk
package import FaultlineLog
package import FaultlineStore

/// The location of a row in a context's arena: block, generation of the block, offset.
///
/// Zero is no row.
///
/// The generation is 34 bits wide, so that a reference kept over any number of evictions cannot become valid again by
/// chance.
package struct RowReference: Equatable {
    /// Bits 0 to 13 offset in units of 8, bits 14 to 29 block, bits 30 to 63 generation, from 1.
    var bits: UInt64

    package static let none = RowReference(bits: 0)

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    @inline(__always)
    package init(block: Int, generation: UInt64, offset: Int) {
        bits = UInt64(truncatingIfNeeded: offset) >> 3 | UInt64(truncatingIfNeeded: block) << 14 | generation << 30
    }

    @inline(__always) var offset: Int { Int(truncatingIfNeeded: bits & 0x3FFF) << 3 }
    @inline(__always) var block: Int { Int(truncatingIfNeeded: bits >> 14 & 0xFFFF) }
    @inline(__always) var generation: UInt64 { bits >> 30 }
    /// Block and generation together; 0 for no row.
    @inline(__always) var blockKey: UInt64 { bits >> 14 }
}

/// The rows that a context has loaded: blocks of memory taken from the engine's budget, evicted oldest first.
///
/// A row in the arena is preceded by a `RowPrefix`. Rows are verified, each in the layout it was written in, and stay
/// in place until their block is evicted; then the block's generation is incremented, which invalidates every reference
/// into it without visiting the objects that hold one.
///
/// Concurrency: the context's thread reads without a lock from the *current* block only, and writes without one to the
/// block being filled; no other thread may evict these two. Everything else happens under the context's lock, so that
/// another context short of memory can take blocks from here.
package struct RowArena: ~Copyable {
    /// Bytes of a block: the largest that a reference can address, and a good size for read-ahead.
    package static let blockByteCount = 128 << 10
    static let blockCountMax = 1 << 16
    /// From so many bytes of blocks on, the pages of a new one are mapped at once.
    private static let populatedByteCountMin = 2 * blockByteCount

    /// The header before each row.
    struct RowPrefix {
        /// The table for reading the row by the current slots.
        var table: UnsafePointer<LayoutTable>
        var location: Location
        /// Bytes of the row; bit 31: it ends with an extension.
        var size: UInt32
    }

    struct Block {
        var base: UnsafeMutableRawPointer?
        var generation: UInt64
        var capacity: Int
        var used: Int
    }

    /// The budget's right to take memory back.
    var reclaiming: MemoryBudget.Registration?
    private var blocks: UnsafeMutablePointer<Block>
    private var capacity = 8
    private(set) var blockCount = 0
    /// The block that the owner reads from without a lock; −1 for none.
    private(set) var current = -1
    /// `RowReference.blockKey` of the rows in the current block, and the block's memory; 0 for none.
    private var currentKey: UInt64 = 0
    private var currentBase = UnsafeRawPointer(bitPattern: 0)
    /// The block that rows are appended to; −1 for none.
    private var fill = -1
    /// Next block to evict: first in, first out.
    private var hand = 0
    /// Bytes held by all blocks.
    package private(set) var byteCount = 0

    package init() {
        blocks = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<blockCount {
            if let base = blocks[index].base { BufferMemory.deallocate(base, byteCount: blocks[index].capacity) }
        }
        blocks.deallocate()
    }

    /// The row's address if it is in the current block.
    @inline(__always)
    package func rowInCurrentBlock(_ reference: RowReference) -> UnsafeRawPointer? {
        guard reference.blockKey == currentKey, let currentBase else { return nil }
        return currentBase + reference.offset
    }

    private mutating func makeCurrent(_ block: Int) {
        current = block
        currentBase = blocks[block].base.map { UnsafeRawPointer($0) }
        currentKey = RowReference(block: block, generation: blocks[block].generation, offset: 0).blockKey
    }

    /// The row's address if it is still in the arena; its block becomes the current one.
    ///
    /// Called under the context's lock.
    @inline(__always)
    package mutating func row(_ reference: RowReference) -> UnsafeRawPointer? {
        let block = reference.block
        guard reference.bits != 0, block < blockCount else { return nil }
        let state = blocks[block]
        guard state.generation == reference.generation, let base = state.base else { return nil }
        makeCurrent(block)
        return UnsafeRawPointer(base + reference.offset)
    }

    /// Whether a reference still leads to its row.
    ///
    /// Called under the context's lock.
    package func isValid(_ reference: RowReference) -> Bool {
        guard reference.bits != 0, reference.block < blockCount else { return false }
        let state = blocks[reference.block]
        return state.generation == reference.generation && state.base != nil
    }

    /// Whether a row of `byteCount` bytes fits into the rest of the block being filled.
    package func hasRoom(for byteCount: Int) -> Bool {
        guard fill >= 0, blocks[fill].base != nil else { return false }
        return blocks[fill].capacity - blocks[fill].used >= Self.footprint(byteCount)
    }

    /// Bytes that a row takes, including prefix and alignment.
    @inline(__always)
    package static func footprint(_ byteCount: Int) -> Int {
        (MemoryLayout<RowPrefix>.stride + byteCount + 7) & ~7
    }

    /// Copies a row into the block being filled, which has room.
    ///
    /// Called on the context's thread.
    @inline(__always)
    package mutating func append(
        _ view: RowView, location: Location
    ) -> RowReference {
        let byteCount = Int(view.byteCount)
        let prefixStride = MemoryLayout<RowPrefix>.stride
        let index = fill
        let start = blocks[index].used
        guard let base = blocks[index].base else { return .none }
        let prefix = RowPrefix(
            table: view.table, location: location, size: view.byteCount | (view.hasExtension ? 1 << 31 : 0))
        (base + start).storeBytes(of: prefix, as: RowPrefix.self)
        let row = start + prefixStride
        (base + row).copyMemory(from: view.base, byteCount: byteCount)
        blocks[index].used = start + Self.footprint(byteCount)
        return RowReference(block: index, generation: blocks[index].generation, offset: row)
    }

    /// Memory in the block being filled for a whole record of `byteCount` bytes; nil if there is no room.
    ///
    /// Called on the context's thread.
    @inline(__always)
    func room(forRecord byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        guard fill >= 0, blocks[fill].capacity - blocks[fill].used >= byteCount, let base = blocks[fill].base else {
            return nil
        }
        return UnsafeMutableRawBufferPointer(start: base + blocks[fill].used, count: byteCount)
    }

    /// Keeps a row that was read into the memory of `room(forRecord:)`, after its record's header, which the prefix
    /// replaces.
    ///
    /// Nil if the row does not lie there. Called on the context's thread.
    @inline(__always)
    mutating func adopt(_ view: RowView, location: Location, of record: UnsafeMutableRawBufferPointer) -> RowReference?
    {
        let prefixStride = MemoryLayout<RowPrefix>.stride
        guard let start = record.baseAddress, let base = blocks[fill].base else { return nil }
        let distance = view.base - UnsafeRawPointer(start)
        guard distance >= prefixStride, distance & 7 == 0, distance + Int(view.byteCount) <= record.count else {
            return nil
        }
        let prefix = RowPrefix(
            table: view.table, location: location, size: view.byteCount | (view.hasExtension ? 1 << 31 : 0))
        (start + distance - prefixStride).storeBytes(of: prefix, as: RowPrefix.self)
        let end = start + record.count - base
        blocks[fill].used = (end + 7) & ~7
        return RowReference(block: fill, generation: blocks[fill].generation, offset: start + distance - base)
    }

    /// Adds an empty block of at least `minimum` bytes, and makes it the one to fill.
    ///
    /// Its memory is already reserved. Called under the context's lock.
    package mutating func addBlock(minimum: Int) {
        let byteCount = max(minimum, Self.blockByteCount)
        let memory = BufferMemory.allocate(byteCount: byteCount)
        // A context with a few blocks will fill this one too.
        if self.byteCount >= Self.populatedByteCountMin { BufferMemory.populate(memory, byteCount: byteCount) }
        self.byteCount += byteCount
        // A free entry is reused first: evicted blocks leave their generation there.
        var index = blockCount
        for candidate in 0..<blockCount where blocks[candidate].base == nil {
            index = candidate
            break
        }
        if index == blockCount {
            if blockCount == capacity {
                let grown = UnsafeMutablePointer<Block>.allocate(capacity: capacity * 2)
                grown.moveInitialize(from: blocks, count: blockCount)
                blocks.deallocate()
                blocks = grown
                capacity *= 2
            }
            blocks[index] = Block(base: nil, generation: 1, capacity: 0, used: 0)
            blockCount += 1
        }
        blocks[index].base = memory
        blocks[index].capacity = byteCount
        blocks[index].used = 0
        fill = index
    }

    /// Evicts blocks, oldest first, until `wanted` bytes are free or none is left.
    ///
    /// Never the current one nor the one being filled. Called under the context's lock.
    ///
    /// - Returns: The bytes freed.
    package mutating func evict(_ wanted: Int) -> Int {
        var freed = 0
        var steps = 0
        while freed < wanted, steps < blockCount {
            if hand >= blockCount { hand = 0 }
            if hand != current, hand != fill, let base = blocks[hand].base {
                BufferMemory.deallocate(base, byteCount: blocks[hand].capacity)
                freed += blocks[hand].capacity
                byteCount -= blocks[hand].capacity
                blocks[hand].base = nil
                blocks[hand].capacity = 0
                blocks[hand].used = 0
                blocks[hand].generation += 1
            }
            hand += 1
            steps += 1
        }
        return freed
    }

    /// Evicts everything, including the current block: only when no read is under way.
    ///
    /// - Returns: The bytes freed.
    package mutating func evictAll() -> Int {
        current = -1
        currentKey = 0
        currentBase = nil
        fill = -1
        return evict(Int.max)
    }

    /// Forgets all rows, and keeps the memory of one block for `refill`: only when no read is under way.
    ///
    /// - Returns: The bytes freed.
    mutating func empty() -> Int {
        let kept = (0..<blockCount).first { blocks[$0].base != nil && blocks[$0].capacity == Self.blockByteCount }
        guard let kept, let base = blocks[kept].base else { return evictAll() }
        let generation = blocks[kept].generation
        blocks[kept].base = nil
        let freed = evictAll()
        blocks[kept] = Block(base: base, generation: generation + 1, capacity: Self.blockByteCount, used: 0)
        return freed
    }

    /// Makes a block that `empty` has kept the one to fill, if it has room for `minimum` bytes.
    ///
    /// Called under the context's lock.
    mutating func refill(minimum: Int) -> Bool {
        guard fill < 0, minimum <= Self.blockByteCount else { return false }
        for index in 0..<blockCount where blocks[index].base != nil && blocks[index].used == 0 {
            fill = index
            return true
        }
        return false
    }

    /// The view of a row in the arena.
    @inline(__always)
    package static func view(_ row: UnsafeRawPointer) -> RowView {
        let prefix = (row - MemoryLayout<RowPrefix>.stride).load(as: RowPrefix.self)
        return RowView(
            trusted: row, byteCount: Int(prefix.size & 0x7FFF_FFFF), table: prefix.table,
            hasExtension: prefix.size >> 31 != 0)
    }

    /// The location in the store of a row in the arena.
    @inline(__always)
    static func location(_ row: UnsafeRawPointer) -> Location {
        (row - MemoryLayout<RowPrefix>.stride).load(as: RowPrefix.self).location
    }
}
