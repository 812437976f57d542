import FaultlineDisk

/// A sorted list of memtable entries, immutable once created.
// Safe because the memory is written before the tier is published, and never again.
final class SortedTier: @unchecked Sendable {
    let items: UnsafeMutablePointer<SortItem>
    let count: Int

    init(count: Int) {
        items = BufferMemory.allocate(SortItem.self, capacity: max(count, 1))
        self.count = count
    }

    deinit {
        BufferMemory.deallocate(items, capacity: max(count, 1))
    }

    var list: UnsafeBufferPointer<SortItem> { UnsafeBufferPointer(start: items, count: count) }

    /// The first item whose key is not below `key`.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> Int {
        guard let start = key.baseAddress else { return 0 }
        let word = KeyBytes.word(start, key.count)
        var low = 0, high = count
        while low < high {
            let middle = (low &+ high) / 2
            let item = items[middle]
            let isBelow =
                item.word != word
                ? item.word < word : KeyBytes.order(item.entry.key, item.entry.keyByteCount, start, key.count) < 0
            if isBelow { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}

/// The sorted view of a memtable, created on demand.
///
/// A reader that needs order sorts the entries appended since the last such read into a new tier, and merges it with
/// the previous tiers while they are less than four times as large. So an entry is moved O(log n) times however reads
/// and writes alternate, and writers never pay for it.
///
/// Concurrency: `lock` protects the list of tiers; tiers never change, so a reader can keep using its tiers.
// Safe because `lock` protects every property.
final class MemtableOrder: @unchecked Sendable {
    private let lock = EngineLock()
    private var tiers: [SortedTier] = []
    private var position = MemtableArena.start

    /// Bytes of the tiers.
    var byteCount: Int {
        lock.withLock {
            var byteCount = 0
            for tier in tiers { byteCount += tier.count * MemoryLayout<SortItem>.stride }
            return byteCount
        }
    }

    /// Entries of the tiers.
    var entryCount: Int {
        lock.withLock {
            var count = 0
            for tier in tiers { count += tier.count }
            return count
        }
    }

    /// Tiers that hold all entries published so far, newest first.
    func tiers(of arena: borrowing MemtableArena) -> [SortedTier] {
        lock.lock()
        defer { lock.unlock() }
        addTail(of: arena, growth: 4)
        return tiers.reversed()
    }

    /// All entries published so far in one tier.
    func wholeTier(of arena: borrowing MemtableArena) -> SortedTier {
        lock.lock()
        defer { lock.unlock() }
        addTail(of: arena, growth: 4)
        while tiers.count > 1 {
            let newer = tiers.removeLast()
            tiers.append(Self.merge(tiers.removeLast(), newer))
        }
        return tiers.first ?? SortedTier(count: 0)
    }

    private func addTail(of arena: borrowing MemtableArena, growth: Int) {
        let end = arena.end
        guard position != end else { return }
        var tier = Self.sortedEntries(of: arena, from: position, to: end)
        position = end
        while let last = tiers.last, last.count < growth * tier.count { tier = Self.merge(tiers.removeLast(), tier) }
        tiers.append(tier)
    }

    private static func sortedEntries(
        of arena: borrowing MemtableArena, from start: MemtableArena.Position, to end: MemtableArena.Position
    ) -> SortedTier {
        var count = 0
        arena.forEachEntry(from: start, to: end) { _ in count &+= 1 }
        let tier = SortedTier(count: count)
        // From the back, so that of otherwise equal entries the newest comes first.
        var place = count
        arena.forEachEntry(from: start, to: end) { entry in
            place &-= 1
            (tier.items + place).initialize(
                to: SortItem(word: KeyBytes.word(entry.key, entry.keyByteCount), entry: entry))
        }
        EntrySort.sort(tier.items, count)
        return tier
    }

    private static func merge(_ older: SortedTier, _ newer: SortedTier) -> SortedTier {
        let tier = SortedTier(count: older.count + newer.count)
        SortOrder().merge(newer.list, older.list, into: tier.items)
        return tier
    }
}
