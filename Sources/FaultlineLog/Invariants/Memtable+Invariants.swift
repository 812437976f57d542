package import FaultlineDisk
import Synchronization

extension Memtable {
    /// Checks the invariants that the type's comment lists.
    ///
    /// Only the writer calls it, or a thread that holds the writer's turn.
    ///
    /// - Complexity: O(entries and slots of the hash table).
    package func checkInvariants() throws(BrokenInvariant) {
        let liveCount = try checkArena()
        let view = table.view()
        var count = 0
        for index in 0...view.mask {
            let slot = view.slots[index].load(ordering: .acquiring)
            let head = MemtableArena.Reference(truncatingIfNeeded: slot)
            // Empty, or all its entries were reverted.
            if head == MemtableArena.none { continue }
            count += try checkChain(head, tag: UInt32(truncatingIfNeeded: slot &>> 32))
        }
        guard count == liveCount else {
            throw broken(
                "a chain holds exactly the entries of one search prefix",
                "chains have \(count) of \(liveCount) entries")
        }
    }

    /// Checks the entries in the order of the arena.
    ///
    /// - Returns: Entries that were not reverted.
    private func checkArena() throws(BrokenInvariant) -> Int {
        var count = 0
        var liveCount = 0
        var last: UInt64 = 0
        var fall: (from: UInt64, to: UInt64)?
        var lastLive: UInt64 = 0
        arena.forEachEntry(from: MemtableArena.start, to: arena.end) { entry in
            if entry.sequence < last { fall = (last, entry.sequence) }
            last = entry.sequence
            count += 1
            guard !entry.isVoid else { return }
            liveCount += 1
            lastLive = entry.sequence
        }
        if let fall {
            throw broken(
                "sequence numbers never fall along the arena, nor rise along a chain",
                "\(fall.to) comes behind \(fall.from) in the arena")
        }
        guard count == entryCount, lastLive <= lastSequence else {
            throw broken(
                "sequence numbers never fall along the arena, nor rise along a chain",
                "\(count) entries up to \(lastLive) are there, and \(entryCount) up to \(lastSequence) are counted")
        }
        return liveCount
    }

    /// Checks the entries of a chain.
    ///
    /// - Returns: Their number.
    private func checkChain(_ head: MemtableArena.Reference, tag: UInt32) throws(BrokenInvariant) -> Int {
        let newest = MemtableEntry(arena.address(head))
        let prefix = prefix(of: newest)
        let hash = hash(of: prefix)
        guard MemtableTable.tag(hash) == tag, find(key: prefix, hash: hash).head == head else {
            throw broken("a chain holds exactly the entries of one search prefix", "a look-up misses a chain")
        }
        var count = 0
        var last = UInt64.max
        var reference = head
        while reference != MemtableArena.none, count <= entryCount {
            let entry = MemtableEntry(arena.address(reference))
            guard !entry.isVoid, self.prefix(of: entry).elementsEqual(prefix) else {
                throw broken(
                    "a chain holds exactly the entries of one search prefix",
                    "the entry of object \(entry.id) was reverted, or has another prefix")
            }
            guard entry.sequence <= last else {
                throw broken(
                    "sequence numbers never fall along the arena, nor rise along a chain",
                    "\(entry.sequence) comes behind \(last) in a chain")
            }
            last = entry.sequence
            count += 1
            reference = entry.next
        }
        return count
    }

    private func prefix(of entry: MemtableEntry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: entry.key, count: min(entry.keyByteCount, prefixByteCountMax))
    }

    private func broken(_ rule: String, _ detail: String) -> BrokenInvariant {
        BrokenInvariant("Memtable", rule, "index \(definition.id.rawValue): \(detail)")
    }
}
