internal import FaultlineLog
internal import FaultlineStore

// Look-ups of unsaved objects, for fetches.

extension PendingChanges {
    /// Whether the next save deletes anything.
    var hasDeletions: Bool { !deleted.isEmpty || hasDeletedInserts || doomedNumbers != nil }

    // MARK: Looking up

    var lists: UnsavedLookup.Lists {
        .init(inserted: living, changed: changed.array, deleted: deleted.array)
    }

    /// - Returns: The answer for the unsaved objects in memory.
    private mutating func unsaved<R>(_ home: EntityHome, _ value: (UnsavedEntity) -> R) -> R {
        lookup.read(home, home.entity?.ordinal ?? -1, lists, value)
    }

    /// The unsaved object with a temporary number.
    ///
    /// - Complexity: O(objects inserted since the last call).
    mutating func insertedObject(_ number: UInt64) -> ObjectHandle? {
        if let found = livingObject(number) { return found }
        guard let spilled, spilled.mayHave(number) else { return nil }
        bringBack()
        return livingObject(number)
    }

    private mutating func livingObject(_ number: UInt64) -> ObjectHandle? {
        guard let place = lookup.place(of: number, in: living), place < living.count else { return nil }
        let handle = living[place]
        return handle.core.pointee.number == number ? handle : nil
    }

    /// Whether an entity has unsaved objects, including changed and deleted ones.
    mutating func hasPending(_ home: EntityHome) -> Bool {
        if !hasInserts, changed.isEmpty, deleted.isEmpty { return false }
        return spilledCount(home) > 0 || !unsaved(home, \.isEmpty)
    }

    /// Numbers of an entity's stored objects whose deletion is not saved yet.
    mutating func deletedNumbers(_ home: EntityHome) -> Set<RecordID> {
        deleted.isEmpty ? [] : unsaved(home, \.deletedNumbers)
    }

    /// Stored objects of an entity whose rows differ from them: changed ones, and those to be deleted.
    mutating func differingNumbers(_ home: EntityHome) -> [RecordID: Int] {
        changed.isEmpty && deleted.isEmpty ? [:] : unsaved(home, \.differing)
    }

    /// The inserted objects of an entity that are not deleted.
    mutating func insertedObjects(_ home: EntityHome) -> [ObjectHandle] {
        guard hasInserts else { return [] }
        bringBack(of: home)
        return kept(unsaved(home, \.inserted), of: living)
    }

    /// The changed and the inserted objects of an entity that are not deleted.
    mutating func unsavedObjects(_ home: EntityHome) -> [ObjectHandle] {
        bringBack(of: home)
        let places = unsaved(home) { ($0.changed, $0.inserted) }
        return kept(places.0, of: changed.array) + kept(places.1, of: living)
    }

    /// Objects by their indexes in a list, without deleted ones.
    func kept(_ places: [Int], of list: [ObjectHandle]) -> [ObjectHandle] {
        places.lazy.map { list[$0] }.filter { !$0.core.pointee.has(.deleted) }
    }

    /// How many more objects of an entity this context has than the store.
    mutating func balance(_ home: EntityHome) -> Int {
        if !hasInserts, deleted.isEmpty { return 0 }
        let places = unsaved(home, \.inserted)
        let insertedCount = hasDeletedInserts ? kept(places, of: living).count : places.count
        return insertedCount + spilledCount(home) - deletedNumbers(home).count
    }

    /// The references in to-one slots to objects whose deletion is not saved yet.
    mutating func deletedReferences(_ home: EntityHome) -> Set<RecordID> {
        var references = deletedNumbers(home)
        guard hasDeletedInserts else { return references }
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        for handle in living
        where handle.core.pointee.has(.deleted) && handle.core.pointee.home.toOpaque() == wanted {
            references.insert(handle.reference.bits)
        }
        return references
    }
}
