import Synchronization

extension Memtable {
    /// A position between two transactions.
    package struct Mark {
        let position: MemtableArena.Position
        let lastSequence: UInt64
    }

    /// The present end of the entries.
    ///
    /// Only the writer calls it.
    package func mark() -> Mark {
        Mark(position: arena.end, lastSequence: lastSequence)
    }

    /// Removes all entries since `mark`: their transaction was abandoned, and another one will get its sequence number.
    ///
    /// No reader may have a limit that shows one of them. Their memory stays in use as long as the memtable. Only the
    /// writer calls it.
    package func revert(to mark: Mark) {
        let end = arena.end
        arena.forEachEntry(from: mark.position, to: end) { $0.markVoid() }
        arena.forEachEntry(from: mark.position, to: end) { entry in
            let key = UnsafeRawBufferPointer(start: entry.key, count: entry.keyByteCount)
            let hash = hash(of: key)
            let place = find(key: key, hash: hash)
            guard place.head != MemtableArena.none else { return }
            var head = place.head
            while head != MemtableArena.none {
                let newest = MemtableEntry(arena.address(head))
                guard newest.isVoid else { break }
                head = newest.next
            }
            place.slots[place.index].store(
                MemtableTable.slot(tag: MemtableTable.tag(hash), reference: head), ordering: .releasing)
        }
        rewindSequence(to: mark.lastSequence)
    }
}
