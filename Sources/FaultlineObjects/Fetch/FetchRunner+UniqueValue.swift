internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The most frequent fetch of services: one object by the value of a unique attribute.

extension FetchRunner {
    /// Finds the objects for a descriptor that has only the condition `$0.property == constant` on a unique attribute.
    ///
    /// Makes neither a query nor a filter: looks the value up in the index, and, by its key, among the unsaved objects.
    ///
    /// - Returns: Nil if it has other conditions, or the answer must be found another way.
    /// - Complexity: A look-up in the index; O(objects inserted or changed since the last call).
    func fetchByUniqueValue<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T]? {
        guard let predicate = descriptor.predicate, let home = context.home(of: T._$modelType),
            let entity = home.entity,
            !entity.uniqueIndexes.isEmpty, (descriptor.fetchOffset ?? 0) <= 0,
            // Not `isEmpty`, which takes hundreds of instructions more for elements of a generic type.
            descriptor.sortBy.count == 0, descriptor.propertiesToFetch.count == 0,
            descriptor.relationshipKeyPathsForPrefetching.count == 0,
            let equality = PropertyEquality(predicate), let slot = home.slot(of: equality.keyPath),
            let index = entity.uniqueIndex(comparedAt: slot)
        else { return nil }
        var key = KeyWriter()
        guard key.append(equality.value, as: entity.layout.columns[slot].kind) else { return nil }
        if !context.pending.hasPending(home) { return try storedObject(&key, index, home, entity, as: T.self) }
        guard descriptor.includePendingChanges else { return nil }
        let candidates = key.withBytes {
            context.pending.lookup.objects(home, entity.ordinal, context.pending.lists, slot: slot, key: $0)
        }
        guard
            var found = try storedObject(
                &key, index, home, entity, as: T.self, without: context.pending.differingNumbers(home))
        else { return nil }
        for handle in candidates where !handle.core.pointee.has(.deleted) {
            guard let draft = handle.core.pointee.draft, let isHeld = key.isKey(of: draft, slot: slot) else {
                return nil
            }
            if isHeld, let object = handle.object as? T { found.append(object) }
        }
        guard let limit = descriptor.fetchLimit, limit > 0, limit < found.count else { return found }
        return Array(found.prefix(limit))
    }

    /// The result of a query that has only a condition for one value of a unique attribute.
    ///
    /// - Returns: Nil if it has other conditions, or the answer must be found another way.
    func fetchUnique<T: PersistentModel>(_ query: Query<T>) throws -> [T]? {
        guard let (index, value) = query.onlyUniqueKey, !context.pending.hasPending(query.home) else { return nil }
        var key = KeyWriter()
        guard key.append(value, as: query.entity.layout.columns[index.slots[0]].kind) else { return nil }
        return try storedObject(&key, index, query.home, query.entity, as: T.self)
    }

    /// The stored object that has a key, as an array of one; an empty one if there is none.
    ///
    /// Compares the row's own key with the one that was looked up, which takes a tenth of compiling a filter for it.
    ///
    /// - Parameters:
    ///   - key: The key; unchanged afterwards.
    ///   - index: The index of one attribute.
    ///   - home: The entity's home.
    ///   - entity: The entity.
    ///   - type: Its class.
    ///   - differing: Objects whose rows are ignored.
    /// - Returns: Nil if the answer must be found another way.
    /// - Throws: `LogError` or `StoreError` if the store cannot be read.
    private func storedObject<T: PersistentModel>(
        _ key: inout KeyWriter, _ index: UniqueIndex, _ home: EntityHome, _ entity: EntityStorage, as type: T.Type,
        without differing: [RecordID: Int] = [:]
    ) throws -> [T]? {
        let holder = try key.withBytes { (bytes) throws(LogError) in
            try context.snapshot.firstID(in: index.definition, key: bytes)
        }
        guard let number = holder, differing.isEmpty || differing[number] == nil else { return [] }
        var buffer = RecordBuffer()
        guard number <= ModelCore.numberMask,
            let found = try RowCache(context).foundRow(number, home, entity, asksObjects: false, into: &buffer),
            key.isKey(of: found.view, slot: index.slots[0]) == true
        else { return nil }
        let reference = RowCache(context).keep(found, home)
        return Array(unsafeUninitializedCapacity: 1) { objects, count in
            guard let target = objects.baseAddress else { return }
            withUnsafePointer(to: number) { number in
                withUnsafePointer(to: reference) { reference in
                    ObjectRegistry(context).appendObjects(
                        UnsafeBufferPointer(start: number, count: 1), rows: reference, home, to: target)
                }
            }
            count = 1
        }
    }
}

extension EntityStorage {
    /// The unique index of one attribute whose keys are equal exactly if its values are.
    ///
    /// Not for floating-point attributes: in an index not-a-number equals itself.
    fileprivate func uniqueIndex(comparedAt slot: Int) -> UniqueIndex? {
        guard slot < slots.count, case .attribute = slots[slot], case .attribute(let kind) = layout.columns[slot].kind,
            kind != .float, kind != .double, kind != .date
        else { return nil }
        return uniqueIndexes.first { $0.slots.count == 1 && $0.slots[0] == slot }
    }
}

extension Query {
    /// The constant that a unique attribute must equal, if there is no other condition and no other order.
    fileprivate var onlyUniqueKey: (index: UniqueIndex, value: RowValue)? {
        guard lowered.isExact, lowered.candidates == nil, order?.isEmpty == true, (descriptor.fetchOffset ?? 0) <= 0,
            case .compare(let slot, .equal, let value) = lowered.filter
        else { return nil }
        return entity.uniqueIndex(comparedAt: slot).map { ($0, value) }
    }
}
