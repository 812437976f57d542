package import FaultlineLog

/// Keys and values of drafts, one at a time: for find-or-create.
package enum RowKeys {
    /// A draft's key in a unique index; nil if a value is nil.
    package static func key(of draft: Draft, _ index: UniqueIndex) -> [UInt8]? {
        var key = KeyWriter()
        for slot in index.slots {
            if draft.isNil(slot) { return nil }
            guard key.append(draft: draft, slot: slot) else { return nil }
        }
        return key.withBytes { Array($0) }
    }

    /// The key of an object's row in a unique index; nil if a value is nil.
    ///
    /// - Throws: `tooLarge` if a value lies outside of the row, because its attribute was not unique when it was
    ///   written, or the key would be too long; `duplicate` if a value is a default, because the row has none: any
    ///   number of objects may have it.
    package static func key(
        of row: RowView, _ id: RecordID, _ entity: EntityStorage, _ index: UniqueIndex
    ) throws(StoreError) -> [UInt8]? {
        var key = KeyWriter()
        for slot in index.slots {
            if row.isNil(slot) { return nil }
            if row.isDefault(slot) { throw sharedDefault(id, entity) }
            guard key.append(row: row, slot: slot) else {
                throw tooLarge(id, entity, "\(row.blobReference(slot)?.byteCount ?? 0) bytes out of its row")
            }
        }
        guard key.byteCount <= IndexDefinition.keyByteCountMax else {
            throw tooLarge(id, entity, "values that make a key of \(key.byteCount) bytes")
        }
        return key.withBytes { Array($0) }
    }

    private static func sharedDefault(_ id: RecordID, _ entity: EntityStorage) -> StoreError {
        StoreError(
            .duplicate,
            "Object \(id) of \(entity.name) has no value of its own where the new version asks for unique ones, and would take the default. Make the property optional, or give each object a value in a streamed stage."
        )
    }

    private static func tooLarge(_ id: RecordID, _ entity: EntityStorage, _ what: String) -> StoreError {
        StoreError(
            .tooLarge,
            "Object \(id) of \(entity.name) has \(what), where the new version asks for unique values: a key of at most \(IndexDefinition.keyByteCountMax) bytes is made of what lies in the row. Write the entity anew in a streamed stage."
        )
    }

    /// Whether an attribute has the same stored bytes in a draft and a row.
    package static func isEqual(_ draft: Draft, _ row: RowView, _ slot: Int, _ layout: RowLayout) -> Bool {
        guard draft.isNil(slot) == row.isNil(slot) else { return false }
        if draft.isNil(slot) { return true }
        if layout.columns[slot].isVariable {
            let left = draft.variable(slot)
            let right = row.variable(slot)
            return left.count == right.count && left.elementsEqual(right)
        }
        return key(draft, slot) == key(row, slot)
    }

    /// Whether an attribute has the same bytes in two drafts.
    package static func isEqual(_ draft: Draft, _ other: Draft, _ slot: Int, _ layout: RowLayout) -> Bool {
        guard draft.isNil(slot) == other.isNil(slot) else { return false }
        if draft.isNil(slot) { return true }
        if layout.columns[slot].isVariable {
            let left = draft.variable(slot)
            let right = other.variable(slot)
            return left.count == right.count && left.elementsEqual(right)
        }
        return key(draft, slot) == key(other, slot)
    }

    private static func key(_ draft: Draft, _ slot: Int) -> [UInt8] {
        var key = KeyWriter()
        _ = key.append(draft: draft, slot: slot)
        return key.withBytes { Array($0) }
    }

    private static func key(_ row: RowView, _ slot: Int) -> [UInt8] {
        var key = KeyWriter()
        _ = key.append(row: row, slot: slot)
        return key.withBytes { Array($0) }
    }
}
