import FaultlineDisk

/// An entry with eight bytes of its key: sorting and searching read the entry itself only where the words are equal.
struct SortItem {
    /// `KeyBytes.word` of the key; during a sort, of the bytes behind the prefix that its group shares.
    var word: UInt64
    let entry: MemtableEntry
}

/// Sorts memtable entries by key, identifier, sequence number descending; equal ones keep their order of insertion.
///
/// A group of entries that agree in their first `depth` bytes is sorted by the next eight bytes as one number, then
/// each run of equal numbers is a group eight bytes deeper. Bytes that a whole group shares are skipped. Large groups
/// are sorted by radix, from the highest byte that differs.
///
/// Complexity: O(n) sweeps for each eight bytes that groups differ in; groups where keys end, or are equal, O(n log n)
/// comparisons. There is no quadratic case. Memory: 16 bytes an entry beside the items.
///
/// Source of sorting strings by cached words: Bentley, Sedgewick, "Fast Algorithms for Sorting and Searching Strings"
/// (1997); Ng, Kakehi, "Cache Efficient Radix Sort for String Sorting" (2007).
struct EntrySort: ~Copyable {
    private static let insertionCountMax = 24

    private let items: UnsafeMutablePointer<SortItem>
    private let scratch: UnsafeMutablePointer<SortItem>
    private let histograms: UnsafeMutablePointer<UInt32>
    private let count: Int
    private var groups: [Group] = []
    private var isDeep = false

    private struct Group {
        let start: Int
        let count: Int
        let depth: Int
    }

    /// Sorts `count` items, whose words are those of the whole keys, before and after.
    static func sort(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) {
        var sort = EntrySort(items, count)
        sort.run()
    }

    private init(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) {
        self.items = items
        self.count = count
        scratch = BufferMemory.allocate(SortItem.self, capacity: max(count, 1))
        histograms = .allocate(capacity: 5 * 256)
    }

    deinit {
        BufferMemory.deallocate(scratch, capacity: max(count, 1))
        histograms.deallocate()
    }

    private mutating func run() {
        if count > 1 { sortGroup(Group(start: 0, count: count, depth: 0)) }
        while let group = groups.popLast() {
            loadWords(group)
            sortGroup(group)
        }
        if isDeep { loadWords(Group(start: 0, count: count, depth: 0)) }
    }

    private mutating func sortGroup(_ group: Group) {
        var group = group
        if group.count <= Self.insertionCountMax, group.depth > 0 {
            return SortOrder(depth: group.depth).insertionSort(items + group.start, group.count)
        }
        var difference = difference(group)
        if difference == 0 { return descend(group.start, group.count, group.depth) }
        let commonByteCount = difference.leadingZeroBitCount / 8
        if commonByteCount > 2, group.count > Self.insertionCountMax,
            areKeysLonger(group, than: group.depth &+ commonByteCount)
        {
            group = Group(start: group.start, count: group.count, depth: group.depth &+ commonByteCount)
            isDeep = true
            loadWords(group)
            difference = self.difference(group)
        }
        sortByWord(group.start, group.count, difference)
        // Runs of equal words differ further behind, or not at all.
        let end = group.start &+ group.count
        var start = group.start
        while start < end {
            let word = items[start].word
            var next = start &+ 1
            while next < end, items[next].word == word { next &+= 1 }
            if next &- start > 1 { descend(start, next &- start, group.depth) }
            start = next
        }
    }

    /// Sorts entries that agree in `depth` bytes and in the word behind them.
    private mutating func descend(_ start: Int, _ count: Int, _ depth: Int) {
        let group = Group(start: start, count: count, depth: depth &+ 8)
        if count <= Self.insertionCountMax {
            SortOrder(depth: depth).insertionSort(items + start, count)
        } else if areKeysLonger(group, than: group.depth) {
            isDeep = true
            groups.append(group)
        } else {
            // Some keys end here, so the word does not order them.
            SortOrder(depth: depth).mergeSort(items + start, count, scratch: scratch)
        }
    }

    private func areKeysLonger(_ group: Group, than byteCount: Int) -> Bool {
        for index in group.start..<(group.start &+ group.count) where items[index].entry.keyByteCount <= byteCount {
            return false
        }
        return true
    }

    private func loadWords(_ group: Group) {
        for index in group.start..<(group.start &+ group.count) {
            let entry = items[index].entry
            items[index].word = KeyBytes.word(entry.key + group.depth, entry.keyByteCount &- group.depth)
        }
    }

    /// The bits in which the words of a group differ.
    private func difference(_ group: Group) -> UInt64 {
        let first = items[group.start].word
        var difference: UInt64 = 0
        for index in group.start..<(group.start &+ group.count) { difference |= items[index].word ^ first }
        return difference
    }

    /// Sorts by word alone.
    ///
    /// At most five radix passes; groups of numbers that are still equal are sorted by the rest of the word.
    private func sortByWord(_ start: Int, _ count: Int, _ difference: UInt64) {
        if count <= Self.insertionCountMax {
            for index in 1..<count {
                let item = items[start &+ index]
                var place = start &+ index
                while place > start, items[place &- 1].word > item.word {
                    items[place] = items[place &- 1]
                    place &-= 1
                }
                items[place] = item
            }
            return
        }
        let highest = 7 &- difference.leadingZeroBitCount / 8
        let passes = min(highest &+ 1, count > 1 << 16 ? 5 : count > 1 << 10 ? 4 : 3)
        let lowest = highest &+ 1 &- passes
        radixSort(start, count, lowest: lowest, highest: highest, difference)
        guard lowest > 0 else { return }
        let shift = UInt64(8 &* lowest)
        let end = start &+ count
        var runStart = start
        while runStart < end {
            let first = items[runStart].word
            var next = runStart &+ 1
            var rest: UInt64 = 0
            while next < end, items[next].word &>> shift == first &>> shift {
                rest |= items[next].word ^ first
                next &+= 1
            }
            if rest != 0 { sortByWord(runStart, next &- runStart, rest) }
            runStart = next
        }
    }

    private func radixSort(_ start: Int, _ count: Int, lowest: Int, highest: Int, _ difference: UInt64) {
        histograms.initialize(repeating: 0, count: (highest &- lowest &+ 1) &* 256)
        for index in start..<(start &+ count) {
            var digits = items[index].word &>> UInt64(8 &* lowest)
            var histogram = histograms
            for _ in lowest...highest {
                histogram[Int(digits & 0xFF)] &+= 1
                digits &>>= 8
                histogram += 256
            }
        }
        var source = items + start, target = scratch
        for byte in lowest...highest {
            let shift = UInt64(8 &* byte)
            if (difference &>> shift) & 0xFF == 0 { continue }
            let places = histograms + (byte &- lowest) &* 256
            var sum: UInt32 = 0
            for digit in 0..<256 {
                let size = places[digit]
                places[digit] = sum
                sum &+= size
            }
            for index in 0..<count {
                let item = source[index]
                let digit = Int((item.word &>> shift) & 0xFF)
                target[Int(places[digit])] = item
                places[digit] &+= 1
            }
            swap(&source, &target)
        }
        if source != items + start { (items + start).update(from: source, count: count) }
    }
}
