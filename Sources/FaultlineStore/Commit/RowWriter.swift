package import FaultlineLog
internal import FaultlineModel

/// Writes the rows of one transaction: encodes drafts in place, maintains indexes, moves large values to the blob area.
///
/// Handles one row at a time, without its objects. The caller is responsible for the order of calls: deletes, then
/// released keys, then updates, then inserts, so that rows may swap unique values within a transaction.
package struct RowWriter: ~Copyable {
    /// The room of a record behind its header and its mask of changed slots.
    private static let rowByteCountMax =
        Limits.recordByteCountMax - RecordHeader.byteCount - MemoryLayout<UInt64>.size

    let store: RowStore
    private let firstOwnBlob: UInt64
    var key = KeyWriter()
    /// Blobs below `keepingBlobsBelow` that the rows written so far no longer use: they still exist.
    package private(set) var keptBlobs: [UInt64] = []
    /// Large values that rows of the transaction pass on to others.
    package var passed = PassedBlobs()
    /// Bytes of the large values that were written.
    package private(set) var blobByteCount = 0

    /// Makes a writer for one transaction.
    ///
    /// - Parameters:
    ///   - store: The rows.
    ///   - keepingBlobsBelow: Blobs below this number belong to another state too: if a row no longer uses one, it is
    ///     not deleted, but added to `keptBlobs`.
    package init(_ store: RowStore, keepingBlobsBelow: UInt64 = 0) {
        self.store = store
        firstOwnBlob = keepingBlobsBelow
    }

    // MARK: Insert

    /// Writes a new row, whose unique keys were added, and its memberships.
    package mutating func insert(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        try put(draft, id: id, changed: nil, flags: .none, replacing: DerivedKeys.none, entity, in: &transaction)
        try enterMemberships(draft, id, entity, &transaction)
    }

    // MARK: Update

    /// The targets that a stored row has in some to-one slots.
    package func targets(
        of id: RecordID, _ entity: EntityStorage, _ slots: [Int], in transaction: borrowing Transaction
    ) throws(StoreError) -> [RecordID] {
        try withStoredRow(id, entity, transaction) { view in slots.map { view.toOne($0) } }
    }

    /// Writes a later version of a row.
    ///
    /// - Parameters:
    ///   - draft: The values; its mask has those that changed.
    ///   - id: The object.
    ///   - base: Segment and offset of the row that the draft was made from. If the stored row is another one by now,
    ///     the draft's changed slots are applied to that one: the last save wins property by property.
    ///   - hasEnteredKeys: Whether the draft's unique keys were added already, as those of an insert are.
    ///   - entity: The object's entity.
    ///   - transaction: Where the row is written.
    /// - Throws: `duplicate` if a unique value belongs to another object; `missing` if the row was deleted in the
    ///   meantime.
    package mutating func update(
        _ draft: Draft, id: RecordID, base: UInt64, hasEnteredKeys: Bool = false, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws(StoreError) {
        let changed = draft.changedMask
        let location: Location
        do throws(LogError) { location = try transaction.locationToReplace(of: id, in: entity.table) } catch {
            throw StoreError(error)
        }
        guard !location.isAbsent else {
            throw StoreError(
                .missing,
                "Object \(id) of \(entity.name) was changed here and deleted elsewhere. Roll back the change, or insert the object anew."
            )
        }
        if !hasEnteredKeys { try takeUpdatedKeys(draft, id: id, entity, in: &transaction) }

        let isBaseCurrent = UInt64(location.segment) << 32 | UInt64(location.offset) == base
        let touchesIndex = changed & entity.indexedSlots != 0
        // The stored row must be read only for a value outside of it, so that its blob is deleted.
        let mayGiveUpBlob = changed & entity.variableMask != 0 && !draft.isOfPlainRow
        // A row of an older layout may have been set aside in an index, and gets a real key.
        let mayBeReindexed =
            entity.hasDerivedKeys && (entity.mayMoveKeys || store.mayHaveOlderRows(entity))
        guard
            !isBaseCurrent || touchesIndex || mayGiveUpBlob || mayBeReindexed || store.mayHaveRemovedBlobs(entity)
        else {
            try put(draft, id: id, changed: changed, flags: .noIndexChange, entity, in: &transaction)
            return
        }
        let old = try withStoredRow(id, entity, transaction) {
            StoredRow($0, id, store, entity: entity, changed: changed, isCopied: !isBaseCurrent)
        }
        defer { old.merged?.destroy() }
        try deleteBlobs(replacedIn: old, by: draft, &transaction)
        try changeMemberships(from: old, to: draft, id, entity, &transaction)
        let isReindexed = touchesIndex || mayBeReindexed && (entity.mayMoveKeys || old.isOlder)
        let flags: RecordFlags = isReindexed ? [] : .noIndexChange
        let replaced = isReindexed ? old.derivedKeys : nil
        if var merged = old.merged {
            merged.layOver(draft, layout: entity.layout)
            old.merged = merged
            try put(
                merged, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
        } else {
            try put(draft, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
        }
    }

    /// Deletes the large values of a stored row that a later version no longer has.
    private mutating func deleteBlobs(
        replacedIn old: StoredRow, by draft: Draft, _ transaction: inout Transaction
    ) throws(StoreError) {
        for blob in old.removedBlobs { try delete(blob, &transaction) }
        for blob in old.blobs where draft.isChanged(blob.slot) {
            if draft.blobReference(blob.slot)?.identifier == blob.identifier {
                passed.keep(blob.identifier)
            } else {
                try delete(blob.identifier, &transaction)
            }
        }
    }

    // MARK: Delete

    /// Deletes a row with its index entries and its values outside of the row.
    ///
    /// A row that is gone already is ignored.
    @discardableResult
    package mutating func delete(
        id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) -> [(owner: UInt64, order: UInt64?)] {
        let location: Location
        do throws(LogError) { location = try transaction.location(of: id, in: entity.table) } catch {
            throw StoreError(error)
        }
        guard !location.isAbsent else { return [] }
        try releaseKeys(id: id, entity, in: &transaction)
        let old = try withStoredRow(id, entity, transaction) {
            StoredRow($0, id, store, entity: entity, changed: SlotMask.all, isCopied: false)
        }
        try removeMemberships(of: old, id, entity, &transaction)
        try removeDerived(old.derivedKeys, id, entity, &transaction)
        for blob in old.blobs { try delete(blob.identifier, &transaction) }
        for blob in old.removedBlobs { try delete(blob, &transaction) }
        if let mirror = store.mirror {
            try mirror.remove(id, in: entity.table, &transaction) { (transaction) throws(LogError) in
                try transaction.delete(id, in: entity.table)
            }
        } else {
            do throws(LogError) { try transaction.delete(id, in: entity.table) } catch { throw StoreError(error) }
        }
        return old.memberships
    }

    // MARK: Parts

    /// Writes a row, its large values first, and its keys in the secondary and text indexes.
    ///
    /// `replaced` has the previous row's keys there; it is `none` if there was no row, nil if they stay. Ephemeral
    /// attributes are blank in every row.
    mutating func put(
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, replacing replaced: DerivedKeys? = nil,
        _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        if entity.ephemeralSlots.isEmpty {
            return try putAll(
                draft, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
        }
        let blanked = draft.blanking(entity.ephemeralSlots, entity.layout)
        defer { blanked.destroy() }
        try putAll(blanked, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
    }

    /// Writes all values of a draft.
    private mutating func putAll(
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, replacing replaced: DerivedKeys?,
        _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        var references: [(slot: Int, identifier: UInt64, byteCount: Int)] = []
        do throws(LogError) {
            try draft.valuesOutOfRow(layout: entity.layout, keeping: entity.uniqueSlots) {
                (slot, bytes) throws(LogError) in
                let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: id)
                references.append((slot, try transaction.putBlob(bytes, owner: owner), bytes.count))
                blobByteCount += bytes.count
            }
        } catch { throw StoreError(error) }
        if references.isEmpty {
            try putRow(draft, id: id, changed: changed, flags: flags, entity, in: &transaction)
            if let replaced { try enterDerived(draft, id, replacing: replaced, entity, &transaction) }
            return
        }
        // A copy gets the references: if the transaction fails, the draft still has the values.
        var copy = draft.copy(without: references.map(\.slot))
        defer { copy.destroy() }
        for reference in references {
            copy.setBlobReference(
                reference.slot, identifier: reference.identifier, byteCount: UInt64(reference.byteCount))
        }
        do throws(StoreError) {
            try putRow(copy, id: id, changed: changed, flags: flags, entity, in: &transaction)
        } catch {
            // The caller may continue after a row that is too large, so its values must not stay without it.
            if error.code == .tooLarge {
                for reference in references { try delete(reference.identifier, &transaction) }
            }
            throw error
        }
        if let replaced { try enterDerived(copy, id, replacing: replaced, entity, &transaction) }
    }

    @inline(__always)
    private func putRow(
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws(StoreError) {
        let byteCount = draft.encodedByteCount
        guard byteCount <= Self.rowByteCountMax else {
            throw StoreError(
                .tooLarge,
                "An object of \(entity.name) has a row of \(byteCount) bytes, and a row has at most \(Self.rowByteCountMax). Mark the large attributes .externalStorage."
            )
        }
        if let mirror = store.mirror, mirror.has(entity.table) {
            return try putMirrored(mirror, draft, id: id, changed: changed, flags: flags, entity, in: &transaction)
        }
        do throws(LogError) {
            try Self.put(
                draft, id: id, changed: changed, flags: flags, byteCount: byteCount, entity, in: &transaction)
        } catch { throw StoreError(error) }
    }

    @inline(__always)
    static func put(
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, byteCount: Int, _ entity: EntityStorage,
        in transaction: inout Transaction
    ) throws(LogError) {
        try transaction.put(
            id, in: entity.table, layout: entity.layout.number, changed: changed,
            flags: draft.hasExtension ? flags.union(.hasExtension) : flags, byteCount: byteCount
        ) { target in
            if let base = target.baseAddress { _ = draft.encode(into: base) }
        }
    }

    /// A draft of a row as the transaction sees it, without changes.
    ///
    /// - Throws: `missing` if it is gone.
    package func draft(
        of id: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws(StoreError) -> Draft {
        try withStoredRow(id, entity, transaction) { Draft.create(copying: $0, layout: entity.layout) }
    }

    func withStoredRow<R>(
        _ id: RecordID, _ entity: EntityStorage, _ transaction: borrowing Transaction, _ body: (RowView) -> R
    ) throws(StoreError) -> R {
        let result: R?
        do {
            result = try transaction.record(id, in: entity.table) { try body(store.view($0, of: entity)) }
        } catch let error as LogError { throw StoreError(error) } catch let error as StoreError { throw error } catch {
            throw StoreError(.malformed, "\(error)")
        }
        guard let result else {
            throw StoreError(.missing, "Object \(id) of \(entity.name) is not in the store any more.")
        }
        return result
    }

    mutating func delete(_ blob: UInt64, _ transaction: inout Transaction) throws(StoreError) {
        if passed.giveUp(blob) { return }
        if blob < firstOwnBlob {
            keptBlobs.append(blob)
            return
        }
        do throws(LogError) { try transaction.deleteBlob(blob) } catch { throw StoreError(error) }
    }
}
