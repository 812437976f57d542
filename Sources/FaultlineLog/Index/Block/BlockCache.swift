import FaultlineDisk
import Synchronization

/// Verified blocks of index runs: entry blocks, index blocks, pages of Bloom filters, keyed by file number and offset.
///
/// It has no size limit: every block, with its bookkeeping, is reserved in the memory budget, and is evicted by second
/// chance when the budget asks.
///
/// Concurrency: sixteen shards, each with a lock that is held for one look-up, insertion or eviction.
// Safe because shards are reached only under their locks, and the rest is immutable or atomic.
package final class BlockCache: @unchecked Sendable {
    private static let shardBits = 4
    private static let shardCount = 1 << shardBits

    /// A lock on a cache line of its own.
    private struct ShardLock: ~Copyable {
        let lock = EngineLock()
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    }

    private let shards: UnsafeMutablePointer<BlockCacheShard>
    /// Not in the shards: a thread that waits for a lock reads it while another one has exclusive access to the shard.
    private let locks: UnsafeMutablePointer<ShardLock>
    let budget: MemoryBudget
    private let nextShard = Atomic<Int>(0)
    private let registration = RegistrationBox()

    package init(budget: MemoryBudget) {
        self.budget = budget
        shards = .allocate(capacity: Self.shardCount)
        locks = .allocate(capacity: Self.shardCount)
        for number in 0..<Self.shardCount {
            (shards + number).initialize(to: BlockCacheShard())
            (locks + number).initialize(to: ShardLock())
        }
        registration.value = budget.register(.blocks) { [weak self] byteCount in self?.reclaim(byteCount) ?? 0 }
    }

    deinit {
        var byteCount = 0
        for number in 0..<Self.shardCount {
            byteCount += shards[number].removeAll()
            (shards + number).deinitialize(count: 1)
            (locks + number).deinitialize(count: 1)
        }
        shards.deallocate()
        locks.deallocate()
        budget.release(byteCount, for: .blocks)
    }

    /// Keeps the registration alive; set once, before the cache is shared.
    // Safe because it is written in the initializer only.
    private final class RegistrationBox: @unchecked Sendable {
        var value: MemoryBudget.Registration?
    }

    /// The bytes that a block of `byteCount` bytes reserves: its memory, the allocator's share, its node and its entry
    /// in the hash table.
    package static func charge(byteCount: Int) -> Int {
        (byteCount + BlockMemory.headerByteCount + 8 + 15) & ~15 + BlockCacheShard.nodeByteCount
    }

    /// Bytes of the blocks in the cache.
    package var byteCount: Int {
        var byteCount = 0
        for number in 0..<Self.shardCount { byteCount += withShard(number) { $0.byteCount } }
        return byteCount
    }

    /// A block, if it is in the cache.
    @inline(__always)
    func block(file: UInt64, offset: UInt64) -> BlockHandle? {
        let hash = Self.hash(file: file, offset: offset)
        let number = Self.shardNumber(hash)
        locks[number].lock.lock()
        let memory = shards[number].find(hash: hash, file: file, offset: offset)
        let handle = memory?.retained()
        locks[number].lock.unlock()
        return handle
    }

    /// Calls `body` with a block's bytes under the shard's lock, if the block is in the cache.
    ///
    /// For a few loads this is cheaper than holding the block.
    @inline(__always)
    func withBlock<R>(file: UInt64, offset: UInt64, _ body: (UnsafeRawPointer) -> R) -> R? {
        let hash = Self.hash(file: file, offset: offset)
        let number = Self.shardNumber(hash)
        locks[number].lock.lock()
        defer { locks[number].lock.unlock() }
        guard let memory = shards[number].find(hash: hash, file: file, offset: offset) else { return nil }
        return body(memory.content)
    }

    /// Adds a verified block; if another thread was faster, that thread's copy is used.
    func insert(file: UInt64, offset: UInt64, _ memory: BlockMemory) -> BlockHandle {
        let charge = Self.charge(byteCount: memory.byteCount)
        // Before the shard's lock: the budget may ask this cache to make room.
        budget.reserve(charge, for: .blocks)
        let hash = Self.hash(file: file, offset: offset)
        let number = Self.shardNumber(hash)
        locks[number].lock.lock()
        if let present = shards[number].find(hash: hash, file: file, offset: offset) {
            let handle = present.retained()
            locks[number].lock.unlock()
            memory.release()
            budget.release(charge, for: .blocks)
            return handle
        }
        let handle = memory.retained()
        shards[number].insert(hash: hash, file: file, offset: offset, memory)
        locks[number].lock.unlock()
        return handle
    }

    /// Removes the blocks of a file that is not read any more.
    package func remove(file: UInt64) {
        var byteCount = 0
        for number in 0..<Self.shardCount { byteCount += withShard(number) { $0.remove(file: file) } }
        budget.release(byteCount, for: .blocks)
    }

    /// Evicts blocks; those in use stay.
    ///
    /// - Returns: The bytes released in the budget, which may be fewer than `byteCount`.
    package func reclaim(_ byteCount: Int) -> Int {
        var freed = 0
        for _ in 0..<Self.shardCount where freed < byteCount {
            let number = nextShard.wrappingAdd(1, ordering: .relaxed).oldValue & (Self.shardCount - 1)
            // A sixteenth from each in turn, so that no shard is emptied while others are full.
            let share = max((byteCount + Self.shardCount - 1) / Self.shardCount, min(byteCount - freed, 16 << 10))
            freed += withShard(number) { $0.evict(atLeast: share) }
        }
        budget.release(freed, for: .blocks)
        return freed
    }

    private func withShard<R>(_ number: Int, _ body: (inout BlockCacheShard) -> R) -> R {
        locks[number].lock.lock()
        defer { locks[number].lock.unlock() }
        return body(&shards[number])
    }

    @inline(__always)
    static func hash(file: UInt64, offset: UInt64) -> UInt64 {
        let value = (offset ^ (file &* 0x9E37_79B9_7F4A_7C15)) &* 0xBF58_476D_1CE4_E5B9
        return value ^ (value &>> 32)
    }

    @inline(__always)
    private static func shardNumber(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash &>> UInt64(64 - shardBits))
    }
}
