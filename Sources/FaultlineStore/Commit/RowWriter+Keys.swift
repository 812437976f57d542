package import FaultlineLog
internal import FaultlineModel

// The unique keys of new rows, of stored rows, and of rows after updates.

/// A key of a unique index.
package struct UniqueKey: Hashable, Sendable {
    let index: UInt32
    let bytes: [UInt8]
}

extension RowWriter {
    // MARK: New rows

    /// The stored object that has one of the draft's unique keys; nil if there is none.
    ///
    /// - Throws: `duplicate` if the keys of two constraints belong to two different objects.
    package mutating func holder(
        of draft: Draft, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws(StoreError) -> RecordID? {
        var found: RecordID?
        for index in entity.uniqueIndexes {
            guard try makeKey(draft, index, entity), let holder = try firstHolder(index, transaction) else { continue }
            if let found, found != holder {
                throw StoreError(
                    .duplicate,
                    "A new \(entity.name) has unique values of two stored objects, \(found) and \(holder): it cannot take the place of both. Change or delete one of them.",
                    conflict: .init(holder: holder, slots: index.namedSlots))
            }
            found = holder
        }
        return found
    }

    /// Assigns a number to a new row, and adds its unique keys; or finds the stored object that it replaces.
    ///
    /// - Returns: The number, and whether it is that of a stored object.
    /// - Throws: `duplicate` if the keys of two constraints belong to two different objects.
    package mutating func claim(
        _ draft: Draft, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) -> (id: RecordID, isTaken: Bool) {
        guard entity.uniqueIndexes.count == 1 else {
            if let holder = try holder(of: draft, entity, in: transaction) { return (holder, true) }
            let id = try allocate(entity, &transaction)
            try enterKeys(draft, id: id, entity, in: &transaction)
            return (id, false)
        }
        // One key, derived once.
        let index = entity.uniqueIndexes[0]
        guard try makeKey(draft, index, entity) else { return (try allocate(entity, &transaction), false) }
        do throws(LogError) {
            return try key.withBytes { (bytes) throws(LogError) in
                if let holder = try transaction.firstID(in: index.definition, key: bytes) { return (holder, true) }
                let id = try transaction.allocateIDs(1, in: entity.table)
                try transaction.insertEntry(index.definition, key: bytes, id: id)
                return (id, false)
            }
        } catch { throw StoreError(error) }
    }

    private func allocate(_ entity: EntityStorage, _ transaction: inout Transaction) throws(StoreError) -> RecordID {
        do throws(LogError) { return try transaction.allocateIDs(1, in: entity.table) } catch {
            throw StoreError(error)
        }
    }

    /// Adds a new row's unique keys, so that later rows of the transaction conflict with them.
    package mutating func enterKeys(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            try enter(index.definition, id, &transaction)
        }
    }

    /// The same for keys that other objects may have.
    ///
    /// - Throws: `duplicate` if another object has one of them.
    package mutating func takeKeys(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            try take(index, id, entity, &transaction)
        }
    }

    /// Adds the present key, unless the object has it already.
    func take(
        _ index: UniqueIndex, _ id: RecordID, _ entity: EntityStorage, _ transaction: inout Transaction
    ) throws(StoreError) {
        guard let holder = try firstHolder(index, transaction) else {
            return try enter(index.definition, id, &transaction)
        }
        guard holder == id else {
            throw StoreError(
                .duplicate,
                "Object \(id) of \(entity.name) was given a unique value that object \(holder) has. Change one of them, or delete it.",
                conflict: .init(holder: holder, slots: index.namedSlots))
        }
    }

    /// Removes keys that `enterKeys` added.
    package mutating func removeKeys(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            do throws(LogError) {
                try key.withBytes { (bytes) throws(LogError) in
                    try transaction.removeEntry(index.definition, key: bytes, id: id)
                }
            } catch { throw StoreError(error) }
        }
    }

    // MARK: Stored rows

    /// The stored objects that have the draft's unique keys, or will have them by `coming`, each with the slots of the
    /// key.
    package mutating func holders(
        of draft: Draft, _ entity: EntityStorage, coming: [UniqueKey: RecordID] = [:],
        in transaction: borrowing Transaction
    ) throws(StoreError) -> [StoreError.KeyConflict] {
        var found: [StoreError.KeyConflict] = []
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            if let holder = try firstHolder(index, transaction) ?? (coming.isEmpty ? nil : coming[madeKey(index)]) {
                found.append(.init(holder: holder, slots: index.namedSlots))
            }
        }
        return found
    }

    /// The unique values by which a new row would take the place of a row of another class.
    ///
    /// - Parameters:
    ///   - draft: The new row.
    ///   - id: The row with its unique values, as the transaction has it.
    ///   - entity: The entity of both.
    ///   - transaction: Where the row is read.
    /// - Returns: The row and the slots of its unique values; nil if both rows are of one class.
    /// - Throws: `missing` if the row is gone; the log's error if it cannot be read.
    package mutating func conflictOfClasses(
        _ draft: Draft, with id: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws(StoreError) -> StoreError.KeyConflict? {
        guard let hierarchy = entity.hierarchy else { return nil }
        let place = try withStoredRow(id, entity, transaction) { hierarchy.place(of: $0) }
        guard place != hierarchy.place(of: draft) else { return nil }
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            let wanted = madeKey(index)
            if try makeStoredKey(id, entity, index, transaction), madeKey(index) == wanted {
                return .init(holder: id, slots: index.namedSlots)
            }
        }
        // The values are those of an earlier row of the transaction, or of relationships that the stored one keeps.
        return .init(holder: id, slots: entity.uniqueIndexes.first?.namedSlots ?? [])
    }

    /// The unique keys that an update will give a stored row.
    package mutating func updatedKeys(
        of draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws(StoreError) -> [UniqueKey] {
        var keys: [UniqueKey] = []
        for index in entity.uniqueIndexes where draft.isChanged(anyOf: index.slots, mask: index.mask) {
            if try makeUpdatedKey(draft, id, index, entity, transaction) { keys.append(madeKey(index)) }
        }
        return keys
    }

    /// The key that was made.
    private func madeKey(_ index: UniqueIndex) -> UniqueKey {
        UniqueKey(index: index.definition.id.rawValue, bytes: key.withBytes { Array($0) })
    }

    /// Removes the unique keys that an update changes from the indexes, and leaves the others.
    package mutating func releaseKeys(
        of draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes where draft.isChanged(anyOf: index.slots, mask: index.mask) {
            let wanted = try makeUpdatedKey(draft, id, index, entity, transaction) ? key.withBytes { Array($0) } : nil
            try releaseKey(id, entity, index, unlessEqualTo: wanted, &transaction)
        }
    }

    /// Adds the unique keys that an update gives a stored row, some of which it may have already.
    ///
    /// - Throws: `duplicate` if another object has one of them.
    package mutating func takeUpdatedKeys(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes where draft.isChanged(anyOf: index.slots, mask: index.mask) {
            if try makeUpdatedKey(draft, id, index, entity, transaction) { try take(index, id, entity, &transaction) }
        }
    }

    /// Removes all unique keys of a stored row from the indexes.
    package mutating func releaseKeys(
        id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.uniqueIndexes { try releaseKey(id, entity, index, unlessEqualTo: nil, &transaction) }
    }

    private mutating func releaseKey(
        _ id: RecordID, _ entity: EntityStorage, _ index: UniqueIndex, unlessEqualTo wanted: [UInt8]?,
        _ transaction: inout Transaction
    ) throws(StoreError) {
        guard try makeStoredKey(id, entity, index, transaction) else { return }
        if let wanted, key.withBytes({ $0.elementsEqual(wanted) }) { return }
        do throws(LogError) {
            try key.withBytes { (bytes) throws(LogError) in
                try transaction.removeEntry(index.definition, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }

    /// Derives the key that a stored row gets by an update: values that the update does not set are those of the row.
    private mutating func makeUpdatedKey(
        _ draft: Draft, _ id: RecordID, _ index: UniqueIndex, _ entity: EntityStorage,
        _ transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        guard index.slots.count > 1, !index.slots.allSatisfy({ draft.isChanged($0) }) else {
            return try makeKey(draft, index, entity)
        }
        var writer = KeyWriter()
        swap(&writer, &key)
        defer { swap(&writer, &key) }
        writer.removeAll()
        let isWhole = try withStoredRow(id, entity, transaction) { view in
            // The constraint of a class says nothing about the values of others.
            if let mark = index.mark, draft.isChanged(mark) ? draft.isNil(mark) : view.isNil(mark) { return false }
            var isWhole = true
            for slot in index.slots {
                let isThere =
                    draft.isChanged(slot)
                    ? !draft.isNil(slot) && writer.append(draft: draft, slot: slot)
                    : !view.isNil(slot) && writer.append(row: view, slot: slot)
                isWhole = isWhole && isThere
            }
            return isWhole
        }
        guard writer.byteCount <= IndexDefinition.keyByteCountMax else { throw tooLarge(draft, index, entity) }
        return isWhole
    }

    /// Derives the stored row's key in a unique index.
    private mutating func makeStoredKey(
        _ id: RecordID, _ entity: EntityStorage, _ index: UniqueIndex, _ transaction: borrowing Transaction
    ) throws(StoreError) -> Bool {
        key.removeAll()
        var writer = KeyWriter()
        swap(&writer, &key)
        defer { swap(&writer, &key) }
        return try withStoredRow(id, entity, transaction) { view in
            for slot in index.slots {
                if view.isNil(slot) { return false }
                guard writer.append(row: view, slot: slot) else { return false }
            }
            return true
        }
    }

    // MARK: One key

    /// Derives the key of a draft in a unique index; false if a value is nil.
    ///
    /// - Throws: `tooLarge` if no key can hold the values, even those of an incomplete key: they stay in the row. Not for
    ///   an object that the constraint's class does not have.
    @inline(__always)
    mutating func makeKey(
        _ draft: Draft, _ index: UniqueIndex, _ entity: EntityStorage
    ) throws(StoreError) -> Bool {
        key.removeAll()
        if let mark = index.mark, draft.isNil(mark) { return false }
        var isWhole = true
        for slot in index.slots {
            let isThere = !draft.isNil(slot) && key.append(draft: draft, slot: slot)
            isWhole = isWhole && isThere
        }
        guard key.byteCount <= IndexDefinition.keyByteCountMax else { throw tooLarge(draft, index, entity) }
        return isWhole
    }

    @inline(never)
    func tooLarge(_ draft: Draft, _ index: UniqueIndex, _ entity: EntityStorage) -> StoreError {
        let properties = store.storage.schema.entities[entity.ordinal].properties
        let values = index.slots.filter { entity.layout.columns[$0].isVariable && !draft.isNil($0) }
            .map { "\(entity.name).\(properties[$0].name) has \(draft.variable($0).count) bytes" }
        return StoreError(
            .tooLarge,
            "\(values.joined(separator: ", ")): unique values make an index key of \(key.byteCount) bytes here, and the limit is \(IndexDefinition.keyByteCountMax). Shorten them, or make an attribute with a digest of them unique instead. Nothing was saved."
        )
    }

    /// The object that has the present key.
    func firstHolder(
        _ index: UniqueIndex, _ transaction: borrowing Transaction
    ) throws(StoreError) -> RecordID? {
        do throws(LogError) {
            return try key.withBytes { (bytes) throws(LogError) in
                try transaction.firstID(in: index.definition, key: bytes)
            }
        } catch { throw StoreError(error) }
    }

    private func enter(
        _ index: IndexDefinition, _ id: RecordID, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            try key.withBytes { (bytes) throws(LogError) in
                try transaction.insertEntry(index, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }
}
