import FaultlineDisk
import Synchronization

/// The entries of one index since the last flush.
///
/// Entries are appended to an arena and linked, newest first, into the chain of their search prefix, which a hash table
/// finds. They do not move or change afterwards, so readers at a sequence limit need neither copy nor lock.
///
/// Invariants:
/// - sequence numbers never fall along the arena, nor rise along a chain;
/// - a chain holds exactly the entries of one search prefix.
///
/// Concurrency: one writer (`append`, `revert`, `freeze`); any number of readers. A reader may use limits up to a
/// sequence number that was published to it after the entries were appended. `MemtableTable` and `MemtableArena` say
/// why that is enough.
// Safe because the data that readers use is atomic or immutable once published, and the rest belongs to the single
// writer.
package final class Memtable: @unchecked Sendable {
    package let definition: IndexDefinition

    let prefixByteCountMax: Int
    let arena = MemtableArena()
    let table = MemtableTable()
    let order = MemtableOrder()
    let budget: MemoryBudget?
    private let chargedByteCount = Atomic<Int>(0)
    private let counted = Atomic<Int>(0)
    private let oldestSequence = Atomic<UInt64>(.max)
    private let newestSequence = Atomic<UInt64>(0)
    private let frozen = Atomic<Bool>(false)

    /// An empty memtable; its allocations are reserved in `budget` while it exists.
    package init(definition: IndexDefinition, budget: MemoryBudget? = nil) {
        self.definition = definition
        prefixByteCountMax = definition.searchPrefix.byteCountMax
        self.budget = budget
        charge()
    }

    deinit {
        budget?.release(chargedByteCount.load(ordering: .relaxed), for: .memtables)
    }

    /// Bytes in use: entries, hash tables, sorted tiers.
    package var byteCount: Int { arena.usedByteCount + table.byteCount + order.byteCount }
    /// Entries, with those that were reverted.
    package var entryCount: Int { counted.load(ordering: .relaxed) }
    /// The smallest sequence number of an entry; `UInt64.max` if there is none.
    package var firstSequence: UInt64 { oldestSequence.load(ordering: .relaxed) }
    /// The largest sequence number of an entry; 0 if there is none.
    package var lastSequence: UInt64 { newestSequence.load(ordering: .relaxed) }
    package var isFrozen: Bool { frozen.load(ordering: .acquiring) }

    /// Ends appending: another memtable takes over, and this one waits to be flushed.
    package func freeze() {
        frozen.store(true, ordering: .releasing)
    }

    /// The hash of a key's search prefix, for the calls that take one.
    @inline(__always)
    package func hash(of key: UnsafeRawBufferPointer) -> UInt64 {
        IndexHash.hash(key, prefixByteCountMax: prefixByteCountMax)
    }

    /// Adds an entry, whose sequence number is not below that of any entry before.
    package func append(key: UnsafeRawBufferPointer, id: RecordID, isDelete: Bool, sequence: UInt64) {
        append(key: key, hash: hash(of: key), id: id, isDelete: isDelete, sequence: sequence)
    }

    /// Adds an entry whose hash is known.
    @inline(__always)
    package func append(key: UnsafeRawBufferPointer, hash: UInt64, id: RecordID, isDelete: Bool, sequence: UInt64) {
        precondition(key.count <= IndexDefinition.keyByteCountMax, "An index key has at most 32,000 bytes.")
        precondition(sequence >= newestSequence.load(ordering: .relaxed), "A memtable's sequence numbers do not fall.")
        precondition(!frozen.load(ordering: .relaxed), "A frozen memtable takes no entries.")
        let place = find(key: key, hash: hash)
        let (address, reference) = arena.allocate(MemtableEntry.byteCount(keyByteCount: key.count))
        MemtableEntry.write(at: address, key: key, next: place.head, id: id, isDelete: isDelete, sequence: sequence)
        place.slots[place.index].store(
            MemtableTable.slot(tag: MemtableTable.tag(hash), reference: reference), ordering: .releasing)
        if place.isEmpty { table.noteUse() }
        arena.publish()
        let count = counted.load(ordering: .relaxed) &+ 1
        counted.store(count, ordering: .relaxed)
        if count == 1 { oldestSequence.store(sequence, ordering: .relaxed) }
        newestSequence.store(sequence, ordering: .relaxed)
        if count & 255 == 0 { charge() }
    }

    /// Prefetches the cache lines that look-ups by these hashes read first.
    ///
    /// Best with sixteen to sixty-four hashes at a time.
    @inline(__always)
    package func prefetch(hashes: UnsafeBufferPointer<UInt64>) {
        let view = table.view()
        for hash in hashes {
            FaultlineLog.prefetch(UnsafeRawPointer(view.slots + view.firstIndex(of: MemtableTable.tag(hash))))
        }
    }

    /// The memtable's newest entry for exactly this key, by the rule of `KeyResolver`.
    ///
    /// Entries above the sequence number `limit` do not count.
    ///
    /// - Returns: Nil if the memtable has no such entry.
    package func newest(key: UnsafeRawBufferPointer, at limit: UInt64) -> (id: RecordID, isDelete: Bool)? {
        var resolver = KeyResolver()
        resolve(key: key, hash: hash(of: key), at: limit, into: &resolver)
        return resolver.finding.map { ($0.id, $0.isDelete) }
    }

    /// Passes the entries of a key to `resolver`, newest first.
    @inline(__always)
    func resolve(key: UnsafeRawBufferPointer, hash: UInt64, at limit: UInt64, into resolver: inout KeyResolver) {
        var reference = find(key: key, hash: hash).head
        while reference != MemtableArena.none {
            let entry = MemtableEntry(arena.address(reference))
            let sequence = entry.sequence
            if sequence <= limit, !entry.isVoid, isKey(key, of: entry) {
                if !resolver.wants(sequence) { return }
                resolver.visit(id: entry.id, sequence: sequence, isDelete: entry.isDelete)
            }
            reference = entry.next
        }
    }

    /// Allows sequence numbers to continue after `sequence`.
    package func rewindSequence(to sequence: UInt64) {
        newestSequence.store(sequence, ordering: .relaxed)
    }

    /// Reserves the memory allocated since the last call.
    func charge() {
        guard let budget else { return }
        let byteCount = self.byteCount
        let charged = chargedByteCount.exchange(byteCount, ordering: .relaxed)
        if byteCount > charged {
            budget.reserve(byteCount - charged, for: .memtables)
        } else if byteCount < charged {
            budget.release(charged - byteCount, for: .memtables)
        }
    }

    /// The slot of the chain of a key's search prefix, or the slot for it if there is none.
    struct Place {
        let slots: UnsafeMutablePointer<MemtableTable.Slot>
        let index: Int
        /// The newest entry, `MemtableArena.none` if there is no chain.
        let head: MemtableArena.Reference
        /// Whether the slot was never used.
        let isEmpty: Bool
    }

    @inline(__always)
    func find(key: UnsafeRawBufferPointer, hash: UInt64) -> Place {
        let view = table.view()
        let tag = MemtableTable.tag(hash)
        var index = view.firstIndex(of: tag)
        while true {
            let slot = view.slots[index].load(ordering: .acquiring)
            if slot == 0 { return Place(slots: view.slots, index: index, head: MemtableArena.none, isEmpty: true) }
            let reference = MemtableArena.Reference(truncatingIfNeeded: slot)
            if UInt32(truncatingIfNeeded: slot &>> 32) == tag, reference != MemtableArena.none,
                isPrefix(of: key, sharedBy: MemtableEntry(arena.address(reference)))
            {
                return Place(slots: view.slots, index: index, head: reference, isEmpty: false)
            }
            index = (index &+ 1) & view.mask
        }
    }

    @inline(__always)
    private func isPrefix(of key: UnsafeRawBufferPointer, sharedBy entry: MemtableEntry) -> Bool {
        let byteCount = min(prefixByteCountMax, key.count)
        guard byteCount == min(prefixByteCountMax, entry.keyByteCount) else { return false }
        guard let start = key.baseAddress else { return true }
        return KeyBytes.areEqual(entry.key, start, byteCount)
    }

    @inline(__always)
    private func isKey(_ key: UnsafeRawBufferPointer, of entry: MemtableEntry) -> Bool {
        guard key.count == entry.keyByteCount else { return false }
        // The chain has already compared the search prefix.
        guard key.count > prefixByteCountMax, let start = key.baseAddress else { return true }
        return KeyBytes.areEqual(entry.key, start, key.count)
    }
}
