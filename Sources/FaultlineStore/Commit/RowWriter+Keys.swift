package import FaultlineLog
internal import FaultlineModel

// The unique keys of stored rows, and the keys after updates.

/// A key of a unique index.
package struct UniqueKey: Hashable, Sendable {
    let index: UInt32
    let bytes: [UInt8]
}

extension RowWriter {
    /// The stored objects that have the draft's unique keys, or will have them by `coming`, each with the slots of the
    /// key.
    package mutating func holders(
        of draft: Draft, _ entity: EntityStorage, coming: [UniqueKey: RecordID] = [:],
        in transaction: borrowing Transaction
    ) throws(StoreError) -> [StoreError.KeyConflict] {
        var found: [StoreError.KeyConflict] = []
        for index in entity.uniqueIndexes where try makeKey(draft, index, entity) {
            if let holder = try firstHolder(index, transaction) ?? (coming.isEmpty ? nil : coming[madeKey(index)]) {
                found.append(.init(holder: holder, slots: index.slots))
            }
        }
        return found
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
}
