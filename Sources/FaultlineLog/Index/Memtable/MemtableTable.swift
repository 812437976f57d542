import FaultlineDisk
import Synchronization

/// The hash table of a memtable: one slot for each search prefix, which refers to the newest entry of its chain.
///
/// A slot is one word: a 32-bit tag from the hash and the entry's reference. The tag's highest bits give the index of a
/// slot, then linear probing. So a larger table is filled from the smaller one in one sequential sweep that reads no
/// key.
///
/// Concurrency: one writer. Readers load the table's address, then slots, both acquiring. A reader may hold a table
/// that has been replaced in the meantime. It then misses only entries appended after it began, which lie above its
/// sequence limit, because a sequence number is published after its entries. So replaced tables stay as long as the
/// memtable (together they are smaller than the last one).
struct MemtableTable: ~Copyable {
    /// A slot whose entries were all reverted keeps its tag and has no reference, so that searches continue behind it.
    typealias Slot = Atomic<UInt64>

    private static let headerByteCount = 64
    private static let firstCapacityBits = 6

    private let current: Atomic<UnsafeMutableRawPointer>
    /// Slots that are not empty.
    ///
    /// Only the writer uses it.
    private let usedCount = Atomic<Int>(0)
    /// Bytes of all tables, with the replaced ones.
    private let allocatedByteCount: Atomic<Int>

    init() {
        current = Atomic(Self.makeTable(bits: Self.firstCapacityBits, replacing: nil))
        allocatedByteCount = Atomic(Self.byteCount(bits: Self.firstCapacityBits))
    }

    deinit {
        var table: UnsafeMutableRawPointer? = current.load(ordering: .acquiring)
        while let next = table {
            table = next.load(as: UnsafeMutableRawPointer?.self)
            let bits = next.load(fromByteOffset: 8, as: Int.self)
            BufferMemory.deallocate(next, byteCount: Self.byteCount(bits: bits))
        }
    }

    /// Bytes of all tables.
    var byteCount: Int { allocatedByteCount.load(ordering: .relaxed) }

    /// The table as one operation sees it.
    struct View {
        let slots: UnsafeMutablePointer<Slot>
        let shift: UInt32
        let mask: Int

        @inline(__always)
        init(_ table: UnsafeMutableRawPointer) {
            let bits = table.load(fromByteOffset: 8, as: Int.self)
            shift = UInt32(truncatingIfNeeded: 32 &- bits)
            mask = (1 &<< bits) &- 1
            slots = (table + MemtableTable.headerByteCount).assumingMemoryBound(to: Slot.self)
        }

        @inline(__always)
        func firstIndex(of tag: UInt32) -> Int { Int(tag &>> shift) }
    }

    @inline(__always)
    func view() -> View { View(current.load(ordering: .acquiring)) }

    /// The tag of a hash.
    ///
    /// Never zero, so that a slot with a tag is never an empty one.
    @inline(__always)
    static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash &>> 32) | 1 }

    @inline(__always)
    static func slot(tag: UInt32, reference: MemtableArena.Reference) -> UInt64 {
        UInt64(tag) &<< 32 | UInt64(reference)
    }

    /// Counts an empty slot that was taken, and doubles the table when three quarters are in use.
    ///
    /// Only the writer calls it.
    @inline(__always)
    func noteUse() {
        let count = usedCount.load(ordering: .relaxed) &+ 1
        usedCount.store(count, ordering: .relaxed)
        let mask = view().mask
        if count > (mask &>> 2) &* 3 { grow() }
    }

    @inline(never)
    private func grow() {
        let old = current.load(ordering: .relaxed)
        let bits = old.load(fromByteOffset: 8, as: Int.self) + 1
        // The tag can address at most 2^31 slots; such a memtable would have 64 GiB.
        precondition(bits < 32, "A memtable holds 2^30 search prefixes at most; flush it earlier.")
        let new = Self.makeTable(bits: bits, replacing: old)
        let source = View(old), target = View(new)
        var count = 0
        for index in 0...source.mask {
            let slot = source.slots[index].load(ordering: .relaxed)
            // Empty, or all its entries were reverted.
            if MemtableArena.Reference(truncatingIfNeeded: slot) == MemtableArena.none { continue }
            count &+= 1
            var place = target.firstIndex(of: UInt32(truncatingIfNeeded: slot &>> 32))
            while target.slots[place].load(ordering: .relaxed) != 0 { place = (place &+ 1) & target.mask }
            target.slots[place].store(slot, ordering: .relaxed)
        }
        usedCount.store(count, ordering: .relaxed)
        allocatedByteCount.store(byteCount + Self.byteCount(bits: bits), ordering: .relaxed)
        current.store(new, ordering: .releasing)
    }

    private static func byteCount(bits: Int) -> Int { headerByteCount + 8 << bits }

    private static func makeTable(bits: Int, replacing old: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer {
        let byteCount = byteCount(bits: bits)
        let table = BufferMemory.allocate(byteCount: byteCount, alignment: 64)
        // Safe because an atomic word has the representation of the word, and zero is a valid one.
        table.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        table.storeBytes(of: old, as: UnsafeMutableRawPointer?.self)
        table.storeBytes(of: bits, toByteOffset: 8, as: Int.self)
        return table
    }
}
