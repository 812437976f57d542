import FaultlineDisk
import Glibc

/// Index entries of the current transaction, until it ends.
///
/// They go to the memtables only at the transaction's end, so that a transaction that is rolled back leaves nothing
/// there. A small hash over the entries of unique indexes finds the transaction's own changes.
///
/// Concurrency: guarded by the writer lock.
struct EntryStage: ~Copyable {
    struct Entry {
        var index: Int32
        var isDelete: Bool
        var keyOffset: Int
        var keyByteCount: Int
        var id: RecordID
        var hash: UInt64
        /// The previous entry with the same hash bucket; -1 at the end.
        var next: Int32
    }

    private(set) var definitions: [IndexDefinition] = []
    private var keys = ByteWriter(byteCapacity: 16_384)
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity: Int
    private(set) var count = 0
    private var buckets: UnsafeMutablePointer<Int32>
    private var bucketCount: Int
    private var uniqueCount = 0
    private var reservation: MemoryReservation?
    private var reservedByteCount = 0

    private static let firstCapacity = 256
    private static let firstBucketCount = 512
    /// The number of entries whose memory is kept from one transaction to the next.
    private static let keptCapacity = 32_768

    init() {
        capacity = Self.firstCapacity
        entries = BufferMemory.allocate(Entry.self, capacity: capacity)
        bucketCount = Self.firstBucketCount
        buckets = BufferMemory.allocate(Int32.self, capacity: bucketCount)
        buckets.initialize(repeating: -1, count: bucketCount)
    }

    deinit {
        BufferMemory.deallocate(entries, capacity: capacity)
        BufferMemory.deallocate(buckets, capacity: bucketCount)
    }

    /// Bytes of memory in use.
    var byteCount: Int { keys.byteCount + count * MemoryLayout<Entry>.stride }

    /// Charges the memory allocated since the last call to the budget.
    @inline(__always)
    mutating func reserve(in budget: MemoryBudget) {
        let byteCount = keys.byteCount + capacity * MemoryLayout<Entry>.stride + bucketCount * 4
        if byteCount > reservedByteCount + 32_768 { reserve(byteCount, in: budget) }
    }

    @inline(never)
    private mutating func reserve(_ byteCount: Int, in budget: MemoryBudget) {
        reservation = nil
        reservation = MemoryReservation(byteCount, for: .buffers, in: budget)
        reservedByteCount = byteCount
    }

    /// Adds an entry; `hash` is that of the key's search prefix.
    mutating func append(
        _ definition: IndexDefinition, key: UnsafeRawBufferPointer, hash: UInt64, id: RecordID, isDelete: Bool
    ) {
        if count == capacity { grow() }
        let index = number(of: definition)
        let offset = keys.byteCount
        keys.append(key)
        var entry = Entry(
            index: index, isDelete: isDelete, keyOffset: offset, keyByteCount: key.count, id: id, hash: hash, next: -1)
        if definition.isUnique {
            if uniqueCount * 2 >= bucketCount { growBuckets() }
            uniqueCount += 1
            let bucket = Int(truncatingIfNeeded: entry.hash) & (bucketCount - 1)
            entry.next = buckets[bucket]
            buckets[bucket] = Int32(truncatingIfNeeded: count)
        }
        (entries + count).initialize(to: entry)
        count += 1
    }

    /// The stage's knowledge of a key of a unique index.
    enum Finding {
        /// The newest entry gives the key to an object.
        case taken(RecordID)
        /// These objects lost the key, and by the stage no object has it.
        case freed([RecordID])
    }

    /// Looks up a key of a unique index, the newest entry first.
    func find(_ definition: IndexDefinition, key: UnsafeRawBufferPointer, hash: UInt64) -> Finding {
        guard count > 0, let index = definitions.firstIndex(where: { $0.id == definition.id }) else {
            return .freed([])
        }
        var place = buckets[Int(truncatingIfNeeded: hash) & (bucketCount - 1)]
        var freed: [RecordID] = []
        while place >= 0 {
            let entry = entries + Int(place)
            if entry.pointee.hash == hash, entry.pointee.index == Int32(index), isKey(entry, equalTo: key),
                !freed.contains(entry.pointee.id)
            {
                if !entry.pointee.isDelete { return .taken(entry.pointee.id) }
                freed.append(entry.pointee.id)
            }
            place = entry.pointee.next
        }
        return .freed(freed)
    }

    private func isKey(_ entry: UnsafeMutablePointer<Entry>, equalTo key: UnsafeRawBufferPointer) -> Bool {
        guard entry.pointee.keyByteCount == key.count else { return false }
        guard key.count > 0, let other = key.baseAddress, let start = keys.bytes.baseAddress else { return true }
        return memcmp(start + entry.pointee.keyOffset, other, key.count) == 0
    }

    /// Appends the entries of one index to a memtable, in the order they were added.
    func append(_ index: Int, to memtable: Memtable, sequence: UInt64) {
        let index = Int32(index)
        var first = 0
        while first < count {
            let last = min(first &+ Self.prefetchedCount, count)
            // Not worth it for the few entries of a small transaction.
            if count > Self.prefetchedCount { prefetch(first..<last, index, in: memtable) }
            append(first..<last, index, to: memtable, sequence)
            first = last
        }
    }

    /// Entries whose slots in the memtable are prefetched together, because these are scattered in memory.
    private static let prefetchedCount = 16

    private func prefetch(_ range: Range<Int>, _ index: Int32, in memtable: Memtable) {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: range.count) { hashes in
            var hashCount = 0
            for place in range where entries[place].index == index {
                hashes[hashCount] = entries[place].hash
                hashCount += 1
            }
            memtable.prefetch(hashes: UnsafeBufferPointer(rebasing: hashes[0..<hashCount]))
        }
    }

    private func append(_ range: Range<Int>, _ index: Int32, to memtable: Memtable, _ sequence: UInt64) {
        guard let start = keys.bytes.baseAddress else { return }
        for place in range where entries[place].index == index {
            let entry = entries + place
            memtable.append(
                key: UnsafeRawBufferPointer(
                    start: start + entry.pointee.keyOffset, count: entry.pointee.keyByteCount),
                hash: entry.pointee.hash, id: entry.pointee.id, isDelete: entry.pointee.isDelete,
                sequence: sequence)
        }
    }

    /// Removes all entries and keeps the memory of a usual transaction.
    mutating func removeAll() {
        guard count > 0 else { return }
        count = 0
        uniqueCount = 0
        definitions.removeAll(keepingCapacity: true)
        if capacity > Self.keptCapacity { return shrink() }
        keys.removeAll()
        buckets.update(repeating: -1, count: bucketCount)
    }

    /// Frees the memory of a large transaction.
    ///
    /// Otherwise small ones would have to clear its buckets too.
    private mutating func shrink() {
        keys = ByteWriter(byteCapacity: 16_384)
        BufferMemory.deallocate(entries, capacity: capacity)
        capacity = Self.firstCapacity
        entries = BufferMemory.allocate(Entry.self, capacity: capacity)
        BufferMemory.deallocate(buckets, capacity: bucketCount)
        bucketCount = Self.firstBucketCount
        buckets = BufferMemory.allocate(Int32.self, capacity: bucketCount)
        buckets.initialize(repeating: -1, count: bucketCount)
        reservation = nil
        reservedByteCount = 0
    }

    private mutating func number(of definition: IndexDefinition) -> Int32 {
        for (number, known) in definitions.enumerated() where known.id == definition.id { return Int32(number) }
        definitions.append(definition)
        return Int32(definitions.count - 1)
    }

    private mutating func grow() {
        let larger = BufferMemory.allocate(Entry.self, capacity: capacity * 2)
        larger.moveInitialize(from: entries, count: count)
        BufferMemory.deallocate(entries, capacity: capacity)
        entries = larger
        capacity *= 2
    }

    private mutating func growBuckets() {
        BufferMemory.deallocate(buckets, capacity: bucketCount)
        bucketCount *= 2
        buckets = BufferMemory.allocate(Int32.self, capacity: bucketCount)
        buckets.initialize(repeating: -1, count: bucketCount)
        for place in 0..<count where definitions[Int(entries[place].index)].isUnique {
            let bucket = Int(truncatingIfNeeded: entries[place].hash) & (bucketCount - 1)
            entries[place].next = buckets[bucket]
            buckets[bucket] = Int32(truncatingIfNeeded: place)
        }
    }
}
