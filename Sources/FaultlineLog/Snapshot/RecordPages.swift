import FaultlineDisk
import Glibc
import Synchronization

/// Pages of segments from which single records were read more than once: records in them are read again without a call
/// of the system.
///
/// Each page of a file has one slot, which it shares with others of a large store. It gets a free slot when two records
/// of it were read, and none of another page of that slot in between; a slot that is in use when it was wanted alone
/// several times, so that reads all over a large store load no pages that they will not use. Pages take at most half of
/// the memory budget, and only memory that nothing else uses: none is loaded into the last eighth of the budget, and
/// they are evicted by second chance, before all others, when it asks.
///
/// The bytes are a hint. A reader verifies each record that it copies from here, and reads it from its file if it does
/// not verify: the page may have been loaded before the record was written. A record's checksum holds at one place of one
/// file only, where no other record is ever written.
///
/// Concurrency: readers take no lock. They read a slot's version, copy bytes, and compare the version: it is odd while
/// the slot changes, and another one after each change. (A sequence lock; the memory that it guards stays mapped.)
// Safe because slots are changed by the thread that made their version odd, the table of slots by the one that holds
// the lock, and the rest is immutable or atomic.
package final class RecordPages: @unchecked Sendable {
    private struct Slot: ~Copyable {
        let version = Atomic<UInt64>(0)
        /// The page in the slot's memory; 0 for none, and no memory.
        let key = Atomic<UInt64>(0)
        /// The page that was last wanted and is not in the slot; above `keyBitCount`, how often it was, one after the
        /// other.
        let wanted = Atomic<UInt64>(0)
        /// Set by readers, cleared by the clock hand.
        let isTouched = Atomic<Bool>(false)
    }

    /// The slots, and the memory of their pages.
    private struct Table {
        let slots: UnsafeMutablePointer<Slot>
        let memory: UnsafeMutableRawPointer
    }

    /// Larger records are read from their file.
    static let recordByteCountMax = pageByteCount
    private static let pageByteCount = 4_096
    private static let pageCountMax = 1 << 18
    private static let keyBitCount: UInt64 = 55
    /// How often a page must have been wanted before, to get a free slot and one that is in use.
    private static let wantedCounts: (free: UInt64, used: UInt64) = (1, 3)
    /// Reads before slots are made: a store that is opened for a few records needs none.
    private static let readCountMin = 64

    private let budget: MemoryBudget
    /// A power of two, or 0 for a budget that is too small.
    private let count: Int
    private let slots = Atomic<UnsafeMutablePointer<Slot>?>(nil)
    /// Written before `slots`.
    @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer?
    private let readCount = Atomic<Int>(0)
    private let filledCount = Atomic<Int>(0)
    private let lock = EngineLock()
    /// Next slot to evict; used under the lock.
    @exclusivity(unchecked) private var hand = 0
    @exclusivity(unchecked) private var registration: MemoryBudget.Registration?

    package init(budget: MemoryBudget) {
        self.budget = budget
        let most = min(budget.byteCount / 2 / Self.pageByteCount, Self.pageCountMax)
        count = most < 1 ? 0 : 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
        registration = budget.register(.records) { [weak self] wanted in self?.evict(wanted) ?? 0 }
    }

    deinit {
        guard let table else { return }
        table.slots.deinitialize(count: count)
        BufferMemory.deallocate(UnsafeMutableRawPointer(table.slots), byteCount: slotByteCount)
        munmap(table.memory, count * Self.pageByteCount)
        budget.release(filledCount.load(ordering: .relaxed) * Self.pageByteCount + slotByteCount, for: .records)
    }

    @inline(__always) private var table: Table? {
        guard let slots = slots.load(ordering: .acquiring), let memory else { return nil }
        return Table(slots: slots, memory: memory)
    }

    private var slotByteCount: Int { count * MemoryLayout<Slot>.stride }

    /// Pages in memory.
    package var pageCount: Int { filledCount.load(ordering: .relaxed) }

    // MARK: Reading

    /// Copies the bytes of a record, not verified.
    ///
    /// - Parameters:
    ///   - location: The record.
    ///   - byteCount: Its size, at most `recordByteCountMax`.
    ///   - file: The file that the location names.
    ///   - target: Gets the bytes; its content is undefined if there are none.
    /// - Returns: False if a part of it is in no page here: read it from the file.
    @inline(__always)
    func copy(
        _ location: Location, _ byteCount: Int, of file: Unmanaged<ManagedFile>, to target: UnsafeMutableRawPointer
    ) -> Bool {
        #if FAULTLINE_TSAN
        // The thread sanitizer does not understand sequence locks.
        return false
        #else
        guard let table else { return begin() }
        let page = location.byteOffset / UInt64(Self.pageByteCount)
        let start = Int(truncatingIfNeeded: location.byteOffset) & (Self.pageByteCount - 1)
        let first = min(byteCount, Self.pageByteCount - start)
        guard copy(page, location.segment, start, first, of: file, table, to: target) else { return false }
        if first == byteCount { return true }
        return copy(page + 1, location.segment, 0, byteCount - first, of: file, table, to: target + first)
        #endif
    }

    @inline(__always)
    private func copy(
        _ page: UInt64, _ segment: UInt32, _ start: Int, _ byteCount: Int, of file: Unmanaged<ManagedFile>,
        _ table: Table, to target: UnsafeMutableRawPointer
    ) -> Bool {
        let slots = table.slots
        let key = Self.key(page, segment)
        let place = slotNumber(page, segment)
        while true {
            let version = slots[place].version.load(ordering: .acquiring)
            guard version & 1 == 0, slots[place].key.load(ordering: .relaxed) == key else {
                guard load(page, key, place, of: file, table) else { return false }
                continue
            }
            if !slots[place].isTouched.load(ordering: .relaxed) {
                slots[place].isTouched.store(true, ordering: .relaxed)
            }
            target.copyMemory(from: table.memory + (place * Self.pageByteCount + start), byteCount: byteCount)
            atomicMemoryFence(ordering: .acquiring)
            return slots[place].version.load(ordering: .relaxed) == version
        }
    }

    /// Segments have fewer than 2²³ pages.
    @inline(__always)
    private static func key(_ page: UInt64, _ segment: UInt32) -> UInt64 { UInt64(segment) << 23 | page }

    /// Pages that follow each other have slots that do.
    @inline(__always)
    private func slotNumber(_ page: UInt64, _ segment: UInt32) -> Int {
        Int(truncatingIfNeeded: page &+ UInt64(segment) &* 0x9E37_79B9) & (count &- 1)
    }

    // MARK: Loading

    /// Makes the slots once enough records were read.
    @inline(never)
    private func begin() -> Bool {
        guard count > 0, readCount.wrappingAdd(1, ordering: .relaxed).oldValue == Self.readCountMin else {
            return false
        }
        let byteCount = count * Self.pageByteCount
        let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let pages, pages != MAP_FAILED else { return false }
        // A huge page would take and free 2 MiB where the budget counts 4 KiB.
        madvise(pages, byteCount, MADV_NOHUGEPAGE)
        budget.reserve(slotByteCount, for: .records)
        let made = BufferMemory.allocate(byteCount: slotByteCount).bindMemory(to: Slot.self, capacity: count)
        for place in 0..<count { (made + place).initialize(to: Slot()) }
        memory = pages
        slots.store(made, ordering: .releasing)
        return false
    }

    /// Whether a page is to be loaded now; if not, records that it was wanted.
    @inline(__always)
    private func isDue(_ key: UInt64, _ slot: UnsafeMutablePointer<Slot>) -> Bool {
        // A page that is loaded into the last free memory goes with the next block or row.
        if budget.used > budget.byteCount / 8 * 7 { return false }
        let isFree = slot.pointee.key.load(ordering: .relaxed) == 0
        if !isFree, slot.pointee.isTouched.load(ordering: .relaxed) {
            slot.pointee.isTouched.store(false, ordering: .relaxed)
            return false
        }
        let wanted = slot.pointee.wanted.load(ordering: .relaxed)
        let count = (wanted ^ key) & (1 << Self.keyBitCount - 1) == 0 ? wanted >> Self.keyBitCount : 0
        if count >= (isFree ? Self.wantedCounts.free : Self.wantedCounts.used) { return true }
        slot.pointee.wanted.store(key | (count + 1) << Self.keyBitCount, ordering: .relaxed)
        return false
    }

    /// Loads a page into its slot, if it is due.
    ///
    /// - Returns: Whether the page was loaded.
    @inline(never)
    private func load(
        _ page: UInt64, _ key: UInt64, _ place: Int, of file: Unmanaged<ManagedFile>, _ table: Table
    ) -> Bool {
        let slots = table.slots
        guard isDue(key, slots + place) else { return false }
        // Before the slot is taken: the budget may ask for memory of this slot too.
        budget.reserve(Self.pageByteCount, for: .records)
        guard let version = take(slots + place) else {
            budget.release(Self.pageByteCount, for: .records)
            return false
        }
        let wasEmpty = slots[place].key.exchange(0, ordering: .relaxed) == 0
        let buffer = UnsafeMutableRawBufferPointer(
            start: table.memory + place * Self.pageByteCount, count: Self.pageByteCount)
        let read = try? file._withUnsafeGuaranteedRef { managed in
            try managed.file.read(into: buffer, at: page * UInt64(Self.pageByteCount))
        }
        let isLoaded = read ?? 0 > 0
        if let read, isLoaded {
            // Behind the end of the file there may be bytes of the page before.
            UnsafeMutableRawBufferPointer(rebasing: buffer[read...]).initializeMemory(as: UInt8.self, repeating: 0)
            slots[place].key.store(key, ordering: .relaxed)
            slots[place].isTouched.store(true, ordering: .relaxed)
        } else {
            madvise(buffer.baseAddress, buffer.count, MADV_DONTNEED)
        }
        slots[place].wanted.store(0, ordering: .relaxed)
        slots[place].version.store(version &+ 2, ordering: .releasing)
        let change = (isLoaded ? 1 : 0) - (wasEmpty ? 0 : 1)
        if change != 0 { filledCount.wrappingAdd(change, ordering: .relaxed) }
        if change != 1 { budget.release((1 - change) * Self.pageByteCount, for: .records) }
        return isLoaded
    }

    /// Begins to change a slot.
    ///
    /// - Returns: Its version of before; the change ends with that version plus 2. Nil if another thread changes it.
    private func take(_ slot: UnsafeMutablePointer<Slot>) -> UInt64? {
        let version = slot.pointee.version.load(ordering: .relaxed)
        guard version & 1 == 0,
            slot.pointee.version.compareExchange(
                expected: version, desired: version &+ 1, ordering: .acquiring
            ).exchanged
        else { return nil }
        atomicMemoryFence(ordering: .acquiringAndReleasing)
        return version
    }

    /// Forgets the pages of a record that does not verify.
    @inline(never)
    func forget(_ location: Location, _ byteCount: Int) {
        guard let table else { return }
        let size = UInt64(Self.pageByteCount)
        var freed = 0
        for page in location.byteOffset / size...(location.byteOffset + UInt64(byteCount) - 1) / size {
            let slot = slotNumber(page, location.segment)
            if table.slots[slot].key.load(ordering: .relaxed) == Self.key(page, location.segment) {
                freed += empty(slot, table)
            }
        }
        budget.release(freed, for: .records)
    }

    // MARK: Evicting

    private func empty(_ place: Int, _ table: Table) -> Int {
        let slots = table.slots
        guard let version = take(slots + place) else { return 0 }
        let wasFilled = slots[place].key.exchange(0, ordering: .relaxed) != 0
        if wasFilled {
            madvise(table.memory + place * Self.pageByteCount, Self.pageByteCount, MADV_DONTNEED)
            filledCount.wrappingSubtract(1, ordering: .relaxed)
        }
        slots[place].version.store(version &+ 2, ordering: .releasing)
        return wasFilled ? Self.pageByteCount : 0
    }

    /// Evicts pages not used since the hand last passed them.
    ///
    /// - Returns: Bytes freed.
    private func evict(_ wanted: Int) -> Int {
        guard pageCount > 0, let table else { return 0 }
        lock.lock()
        var freed = 0
        var steps = 2 * count
        while freed < wanted, steps > 0, pageCount > 0 {
            steps -= 1
            let place = hand
            hand = (hand + 1) & (count - 1)
            if table.slots[place].key.load(ordering: .relaxed) == 0 { continue }
            if table.slots[place].isTouched.exchange(false, ordering: .relaxed) { continue }
            freed += empty(place, table)
        }
        lock.unlock()
        if freed > 0 { budget.release(freed, for: .records) }
        return freed
    }
}
