internal import FaultlineLog
internal import FaultlineStore

/// Finds a context's unsaved objects by number, by entity and by value, without a walk over all of them.
///
/// Inserting or changing an object enters nothing: each lookup first adds the objects that came since the last one. The
/// lists of the context grow at their ends; when one becomes shorter, everything is dropped, and built again at the next
/// lookup.
struct UnsavedLookup {
    /// Indexes of inserted objects by temporary number.
    private(set) var places: [UInt64: Int] = [:]
    private(set) var placedCount = 0
    /// By ordinal of the entity; made on first use.
    private(set) var entities: [Int: UnsavedEntity] = [:]
    /// Objects that were visited to update the lookup, or to answer: shows the cost of fetches.
    private(set) var examinedCount = 0
    /// The lengths of the lists.
    private var insertedCount = 0
    private var changedCount = 0
    private var deletedCount = 0

    /// The lists that the lookup covers.
    struct Lists {
        let inserted: [ObjectHandle]
        let changed: [ObjectHandle]
        let deleted: [ObjectHandle]
    }

    /// The index of an inserted object; nil if there is none of that number.
    ///
    /// - Complexity: O(objects inserted since the last call).
    mutating func place(of number: UInt64, in inserted: [ObjectHandle]) -> Int? {
        while placedCount < inserted.count {
            places[inserted[placedCount].core.pointee.number] = placedCount
            placedCount += 1
            examinedCount += 1
        }
        return places[number]
    }

    /// Adds the new objects, and reads a value of an entity.
    ///
    /// - Complexity: O(objects inserted, changed and deleted since the last call).
    mutating func read<R>(_ home: ObjectHome, _ ordinal: Int, _ lists: Lists, _ value: (UnsavedEntity) -> R) -> R {
        update(home, ordinal, lists)
        return value(entities[ordinal, default: UnsavedEntity()])
    }

    private mutating func update(_ home: ObjectHome, _ ordinal: Int, _ lists: Lists) {
        examinedCount += entities[ordinal, default: UnsavedEntity()].update(home, lists)
    }

    /// The objects that may have a value in a slot, in the order of the lists, changed ones first.
    ///
    /// Large values are unknown, and may match any key.
    mutating func objects(
        _ home: ObjectHome, _ ordinal: Int, _ lists: Lists, slot: Int, key: UnsafeRawBufferPointer
    ) -> [ObjectHandle] {
        update(home, ordinal, lists)
        guard let found = entities[ordinal]?.objects(lists, slot: slot, key: key, &examinedCount) else { return [] }
        return found
    }

    /// Records that an object in the lookup is about to change.
    mutating func noteChange(of reference: ObjectReference, _ ordinal: Int, in inserted: [ObjectHandle]) {
        let place = reference.isTemporary ? place(of: reference.number, in: inserted) : nil
        entities[ordinal]?.noteChange(of: reference, insertedAt: place)
    }

    /// Records the lengths of the lists after a change of one of them.
    @inline(__always)
    mutating func noteCounts(inserted: Int) {
        if inserted < insertedCount { forgetAll() }
        insertedCount = inserted
    }

    @inline(__always)
    mutating func noteCounts(changed: Int) {
        if changed < changedCount { forgetAll() }
        changedCount = changed
    }

    @inline(__always)
    mutating func noteCounts(deleted: Int) {
        if deleted < deletedCount { forgetAll() }
        deletedCount = deleted
    }

    /// Drops everything, because the lists or values have changed in another way than by growing.
    mutating func forgetAll() {
        places.removeAll()
        placedCount = 0
        entities.removeAll()
    }
}
