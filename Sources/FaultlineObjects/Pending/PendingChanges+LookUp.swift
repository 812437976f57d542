internal import FaultlineLog
internal import FaultlineStore

// Look-ups of unsaved objects, for fetches.

extension PendingChanges {
    /// Whether the next save deletes anything.
    var hasDeletions: Bool { !deleted.isEmpty || hasDeletedInserts || doomedNumbers != nil }

    // MARK: Looking up

    var lists: UnsavedLookup.Lists {
        .init(inserted: inserted, changed: changed.array, deleted: deleted.array)
    }

    private mutating func unsaved<R>(_ home: EntityHome, _ value: (UnsavedEntity) -> R) -> R {
        lookup.read(home, home.entity?.ordinal ?? -1, lists, value)
    }

    /// The unsaved object with a temporary number.
    ///
    /// - Complexity: O(objects inserted since the last call).
    mutating func insertedObject(_ number: UInt64) -> ObjectHandle? {
        guard let place = lookup.place(of: number, in: inserted), place < inserted.count else {
            return nil
        }
        let handle = inserted[place]
        return handle.core.pointee.number == number ? handle : nil
    }

    /// Whether an entity has unsaved objects, including changed and deleted ones.
    mutating func hasPending(_ home: EntityHome) -> Bool {
        if inserted.isEmpty, changed.isEmpty, deleted.isEmpty { return false }
        return !unsaved(home, \.isEmpty)
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
        inserted.isEmpty ? [] : kept(unsaved(home, \.inserted), of: inserted)
    }

    /// Objects by their indexes in a list, without deleted ones.
    private func kept(_ places: [Int], of list: [ObjectHandle]) -> [ObjectHandle] {
        places.lazy.map { list[$0] }.filter { !$0.core.pointee.has(.deleted) }
    }

    /// How many more objects of an entity this context has than the store.
    mutating func balance(_ home: EntityHome) -> Int {
        if inserted.isEmpty, deleted.isEmpty { return 0 }
        let places = unsaved(home, \.inserted)
        let insertedCount = hasDeletedInserts ? kept(places, of: inserted).count : places.count
        return insertedCount - deletedNumbers(home).count
    }

    /// The changed and inserted objects that may satisfy a query: by the value of an attribute, if the query has one.
    ///
    /// - Complexity: O(objects inserted or changed since the last call, and objects of that value) if the query
    ///   requires one value of an attribute; else O(unsaved objects of the entity).
    mutating func unsavedCandidates<T: PersistentModel>(_ query: Query<T>) -> [ObjectHandle] {
        if inserted.isEmpty, changed.isEmpty { return [] }
        for case .compare(let slot, .equal, let value) in query.lowered.filter.conjuncts
        where query.entity.slots[slot] == .attribute {
            var key = KeyWriter()
            guard key.append(value, as: query.entity.layout.columns[slot].kind) else { continue }
            let found = key.withBytes {
                lookup.objects(query.home, query.entity.ordinal, lists, slot: slot, key: $0)
            }
            return found.filter { !$0.core.pointee.has(.deleted) }
        }
        let places = unsaved(query.home) { ($0.changed, $0.inserted) }
        return kept(places.0, of: changed.array) + kept(places.1, of: inserted)
    }

    /// The references in to-one slots to objects whose deletion is not saved yet.
    mutating func deletedReferences(_ home: EntityHome) -> Set<RecordID> {
        var references = deletedNumbers(home)
        guard hasDeletedInserts else { return references }
        let wanted = Unmanaged.passUnretained(home).toOpaque()
        for handle in inserted
        where handle.core.pointee.has(.deleted) && handle.core.pointee.home.toOpaque() == wanted {
            references.insert(handle.reference.bits)
        }
        return references
    }
}

extension ModelCore {
    /// Records in the context's lookup that the object's values change.
    @inline(never)
    mutating func noteIndexedChange() {
        remove(.indexed)
        guard let context, let ordinal = home.takeUnretainedValue().entity?.ordinal else { return }
        context.pending.lookup.noteChange(of: reference, ordinal, in: context.pending.inserted)
    }
}
