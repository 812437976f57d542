extension Memtable {
    /// Chains up to this length are sorted for each walk; longer ones are searched in the sorted view, which is made
    /// once.
    private static let sortedChainCountMax = 512

    /// Adds to `merge` the entries whose keys begin with `prefix`, and perhaps others above them.
    ///
    /// If the prefix covers the search prefix, its chain has the entries. Otherwise a binary search in the sorted view
    /// finds them.
    func addEntries(prefix: UnsafeRawBufferPointer, to merge: inout EntryMerge, at limit: UInt64) {
        if prefix.count >= prefixByteCountMax {
            guard let tier = sortedChain(prefix: prefix, at: limit) else { return addTiers(prefix: prefix, to: &merge) }
            merge.add(tier, from: 0, to: tier.count)
        } else {
            addTiers(prefix: prefix, to: &merge)
        }
    }

    /// As `addEntries(prefix:to:at:)`, from the first entry whose key is not below `first`, which begins with the
    /// prefix.
    func addEntries(
        prefix: UnsafeRawBufferPointer, from first: UnsafeRawBufferPointer, to merge: inout EntryMerge, at limit: UInt64
    ) {
        if prefix.count >= prefixByteCountMax, let tier = sortedChain(prefix: prefix, at: limit) {
            return merge.add(tier, from: tier.lowerBound(first), to: tier.count)
        }
        addTiers(prefix: first, to: &merge)
    }

    /// Calls `body` with each entry visible at `limit` whose key begins with `prefix`: ascending by key, then
    /// identifier; the newest of a pair only, deletes included.
    package func sortedEntries(
        prefix: UnsafeRawBufferPointer, at limit: UInt64,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID, _ isDelete: Bool) throws -> Bool
    ) throws {
        var merge = EntryMerge(limit: limit)
        addEntries(prefix: prefix, to: &merge, at: limit)
        try merge.forEachNewest(prefix: prefix) { entry in
            try body(
                UnsafeRawBufferPointer(start: entry.pointee.key, count: entry.pointee.keyByteCount), entry.pointee.id,
                entry.pointee.isDelete)
        }
    }

    /// Sorted parts that have the entries whose keys begin with `prefix`, and perhaps others, newest first.
    func tiers(prefix: UnsafeRawBufferPointer, at limit: UInt64) -> [SortedTier] {
        if prefix.count >= prefixByteCountMax, let tier = sortedChain(prefix: prefix, at: limit) { return [tier] }
        return sortedTiers()
    }

    private func addTiers(prefix: UnsafeRawBufferPointer, to merge: inout EntryMerge) {
        for tier in sortedTiers() { merge.add(tier, from: tier.lowerBound(prefix), to: tier.count) }
    }

    /// The sorted view, newest tier first.
    func sortedTiers() -> [SortedTier] {
        defer { charge() }
        return sorting { order.tiers(of: arena) }
    }

    /// Runs `body`, which sorts the entries appended since the last time, with its memory reserved: the sort's scratch,
    /// and merged tiers beside their sources.
    func sorting<R>(_ body: () -> R) -> R {
        // Read before `body` takes the lock.
        let sortedCount = order.entryCount, count = entryCount
        let byteCount = sortedCount == count ? 0 : (2 * count - sortedCount) * MemoryLayout<SortItem>.stride
        budget?.reserve(byteCount, for: .buffers)
        defer { budget?.release(byteCount, for: .buffers) }
        return body()
    }

    /// The visible entries of one chain that begin with `prefix`, sorted; nil if they are many.
    private func sortedChain(prefix: UnsafeRawBufferPointer, at limit: UInt64) -> SortedTier? {
        let head = find(key: prefix, hash: hash(of: prefix)).head
        var count = 0, steps = 0
        var reference = head
        while reference != MemtableArena.none {
            let entry = MemtableEntry(arena.address(reference))
            if isWanted(entry, prefix, limit) { count &+= 1 }
            steps &+= 1
            if steps > Self.sortedChainCountMax { return nil }
            reference = entry.next
        }
        let tier = SortedTier(count: count)
        var place = 0
        reference = head
        while reference != MemtableArena.none {
            let entry = MemtableEntry(arena.address(reference))
            if isWanted(entry, prefix, limit) {
                (tier.items + place).initialize(
                    to: SortItem(word: KeyBytes.word(entry.key, entry.keyByteCount), entry: entry))
                place &+= 1
            }
            reference = entry.next
        }
        EntrySort.sort(tier.items, count)
        return tier
    }

    @inline(__always)
    private func isWanted(_ entry: MemtableEntry, _ prefix: UnsafeRawBufferPointer, _ limit: UInt64) -> Bool {
        guard entry.isVisible(at: limit) else { return false }
        guard prefix.count > prefixByteCountMax, let start = prefix.baseAddress else { return true }
        return KeyBytes.hasPrefix(entry.key, entry.keyByteCount, start, prefix.count)
    }
}
