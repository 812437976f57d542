internal import FaultlineLog
internal import FaultlineStore

// The context's unsaved objects, for fetches.

extension ContextCore {
    /// Retains an object whose first change is about to be made.
    func registerChange(_ address: UInt, _ home: EntityHome) {
        noteUnsaved()
        guard !owner.isAbandoned, let pointer = UnsafeMutableRawPointer(bitPattern: address), let type = home.type,
            let core = UnsafeMutablePointer<ModelCore>(bitPattern: address + UInt(type.coreOffset))
        else { return }
        pending.changed.append(
            ObjectHandle(object: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(), core: core))
    }

    /// Whether a save would write anything.
    var hasChanges: Bool {
        settleMembers()
        return !pending.inserted.isEmpty || !pending.changed.isEmpty || !pending.deleted.isEmpty
            || !pending.relationships.isEmpty
            || pending.doomedNumbers != nil
    }

    /// Whether the next save deletes anything.
    var hasDeletions: Bool { !pending.deleted.isEmpty || pending.hasDeletedInserts || pending.doomedNumbers != nil }

    // MARK: Looking up

    var lists: UnsavedLookup.Lists {
        .init(inserted: pending.inserted, changed: pending.changed.array, deleted: pending.deleted.array)
    }

    private func unsaved<R>(_ home: EntityHome, _ value: (UnsavedEntity) -> R) -> R {
        pending.lookup.read(home, home.entity?.ordinal ?? -1, lists, value)
    }

    /// Objects that were visited to find unsaved ones.
    package var unsavedExamined: Int { pending.lookup.examinedCount }

    /// The unsaved object with a temporary number.
    ///
    /// - Complexity: O(objects inserted since the last call).
    func insertedObject(_ number: UInt64) -> ObjectHandle? {
        guard let place = pending.lookup.place(of: number, in: pending.inserted), place < pending.inserted.count else {
            return nil
        }
        let handle = pending.inserted[place]
        return handle.core.pointee.number == number ? handle : nil
    }

    /// Whether an entity has unsaved objects, including changed and deleted ones.
    func hasPending(_ home: EntityHome) -> Bool {
        if pending.inserted.isEmpty, pending.changed.isEmpty, pending.deleted.isEmpty { return false }
        return !unsaved(home, \.isEmpty)
    }

    /// Numbers of an entity's stored objects whose deletion is not saved yet.
    func deletedNumbers(_ home: EntityHome) -> Set<RecordID> {
        pending.deleted.isEmpty ? [] : unsaved(home, \.deletedNumbers)
    }

    /// Stored objects of an entity whose rows differ from them: changed ones, and those to be deleted.
    func differingNumbers(_ home: EntityHome) -> [RecordID: Int] {
        pending.changed.isEmpty && pending.deleted.isEmpty ? [:] : unsaved(home, \.differing)
    }

    /// The inserted objects of an entity that are not deleted.
    func insertedObjects(_ home: EntityHome) -> [ObjectHandle] {
        pending.inserted.isEmpty ? [] : kept(unsaved(home, \.inserted), of: pending.inserted)
    }

    /// Objects by their indexes in a list, without deleted ones.
    private func kept(_ places: [Int], of list: [ObjectHandle]) -> [ObjectHandle] {
        places.lazy.map { list[$0] }.filter { !$0.core.pointee.has(.deleted) }
    }

    /// How many more objects of an entity this context has than the store.
    func pendingBalance(_ home: EntityHome) -> Int {
        if pending.inserted.isEmpty, pending.deleted.isEmpty { return 0 }
        let places = unsaved(home, \.inserted)
        let insertedCount = pending.hasDeletedInserts ? kept(places, of: pending.inserted).count : places.count
        return insertedCount - deletedNumbers(home).count
    }

    /// The changed and inserted objects that may satisfy a query: by the value of an attribute, if the query has one.
    ///
    /// - Complexity: O(objects inserted or changed since the last call, and objects of that value) if the query
    ///   requires one value of an attribute; else O(unsaved objects of the entity).
    func unsavedCandidates<T: PersistentModel>(_ query: Query<T>) -> [ObjectHandle] {
        if pending.inserted.isEmpty, pending.changed.isEmpty { return [] }
        for case .compare(let slot, .equal, let value) in query.lowered.filter.conjuncts
        where query.entity.slots[slot] == .attribute {
            var key = KeyWriter()
            guard key.append(value, as: query.entity.layout.columns[slot].kind) else { continue }
            let found = key.withBytes {
                pending.lookup.objects(query.home, query.entity.ordinal, lists, slot: slot, key: $0)
            }
            return found.filter { !$0.core.pointee.has(.deleted) }
        }
        let places = unsaved(query.home) { ($0.changed, $0.inserted) }
        return kept(places.0, of: pending.changed.array) + kept(places.1, of: pending.inserted)
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
