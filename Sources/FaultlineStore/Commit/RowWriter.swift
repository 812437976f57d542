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
                    conflict: .init(holder: holder, slots: index.slots))
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
                conflict: .init(holder: holder, slots: index.slots))
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

    /// Writes a new row, whose unique keys were added, and its memberships.
    package mutating func insert(
        _ draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        try put(draft, id: id, changed: nil, flags: .none, replacing: [], entity, in: &transaction)
        for index in entity.memberIndexes {
            let owner = draft.toOne(index.slot)
            guard owner != 0 else { continue }
            try enterMember(
                index, owner: owner, order: draft.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id), id,
                &transaction)
        }
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
            !entity.secondaryIndexes.isEmpty && (entity.mayMoveKeys || store.mayHaveOlderRows(entity))
        guard
            !isBaseCurrent || touchesIndex || mayGiveUpBlob || mayBeReindexed || store.mayHaveRemovedBlobs(entity)
        else {
            try put(draft, id: id, changed: changed, flags: .noIndexChange, entity, in: &transaction)
            return
        }
        let old = try withStoredRow(id, entity, transaction) {
            StoredRow($0, store, entity: entity, isCopied: !isBaseCurrent)
        }
        defer { old.merged?.destroy() }
        for blob in old.removedBlobs { try delete(blob, &transaction) }
        for blob in old.blobs where draft.isChanged(blob.slot) {
            if draft.blobReference(blob.slot)?.identifier != blob.identifier {
                try delete(blob.identifier, &transaction)
            }
        }
        for (place, index) in entity.memberIndexes.enumerated() where draft.isChanged(index.slot) {
            let was = old.memberships[place]
            let owner = draft.toOne(index.slot)
            let order = draft.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id)
            guard was.owner != owner || (was.order ?? MemberKey.defaultOrder(of: id)) != order else { continue }
            if was.owner != 0 {
                try removeMember(
                    index, owner: was.owner, order: was.order ?? MemberKey.defaultOrder(of: id), id, &transaction)
            }
            if owner != 0 { try enterMember(index, owner: owner, order: order, id, &transaction) }
        }
        let isReindexed = touchesIndex || mayBeReindexed && (entity.mayMoveKeys || old.isOlder)
        let flags: RecordFlags = isReindexed ? [] : .noIndexChange
        let replaced = isReindexed ? old.secondaryKeys : nil
        if var merged = old.merged {
            merged.layOver(draft, layout: entity.layout)
            old.merged = merged
            try put(
                merged, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
        } else {
            try put(draft, id: id, changed: changed, flags: flags, replacing: replaced, entity, in: &transaction)
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
            StoredRow($0, store, entity: entity, isCopied: false)
        }
        for (place, index) in entity.memberIndexes.enumerated() where old.memberships[place].owner != 0 {
            let was = old.memberships[place]
            try removeMember(
                index, owner: was.owner, order: was.order ?? MemberKey.defaultOrder(of: id), id, &transaction)
        }
        try removeSecondary(old.secondaryKeys, id, entity, &transaction)
        for blob in old.blobs { try delete(blob.identifier, &transaction) }
        for blob in old.removedBlobs { try delete(blob, &transaction) }
        do throws(LogError) { try transaction.delete(id, in: entity.table) } catch { throw StoreError(error) }
        return old.memberships
    }

    // MARK: Parts

    /// Writes a row, its large values first, and its keys in the secondary indexes.
    ///
    /// `replaced` has the previous row's keys there; it is empty if there was none, nil if they stay. Ephemeral
    /// attributes are blank in every row.
    mutating func put(
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, replacing replaced: [[UInt8]]? = nil,
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
        _ draft: Draft, id: RecordID, changed: UInt64?, flags: RecordFlags, replacing replaced: [[UInt8]]?,
        _ entity: EntityStorage, in transaction: inout Transaction
    ) throws(StoreError) {
        var references: [(slot: Int, identifier: UInt64, byteCount: Int)] = []
        do throws(LogError) {
            try draft.valuesOutOfRow(layout: entity.layout, keeping: entity.uniqueSlots) {
                (slot, bytes) throws(LogError) in
                let owner = BlobOwner(table: entity.table, slot: UInt16(truncatingIfNeeded: slot), id: id)
                references.append((slot, try transaction.putBlob(bytes, owner: owner), bytes.count))
            }
        } catch { throw StoreError(error) }
        if references.isEmpty {
            try putRow(draft, id: id, changed: changed, flags: flags, entity, in: &transaction)
            if let replaced { try enterSecondary(draft, id, replacing: replaced, entity, &transaction) }
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
        if let replaced { try enterSecondary(copy, id, replacing: replaced, entity, &transaction) }
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
        do throws(LogError) {
            try transaction.put(
                id, in: entity.table, layout: entity.layout.number, changed: changed,
                flags: draft.hasExtension ? flags.union(.hasExtension) : flags, byteCount: byteCount
            ) { target in
                if let base = target.baseAddress { _ = draft.encode(into: base) }
            }
        } catch { throw StoreError(error) }
    }

    /// Derives the key of a draft in a unique index; false if a value is nil.
    ///
    /// - Throws: `tooLarge` if no key can hold the values, even those of an incomplete key: they stay in the row.
    @inline(__always)
    mutating func makeKey(
        _ draft: Draft, _ index: UniqueIndex, _ entity: EntityStorage
    ) throws(StoreError) -> Bool {
        key.removeAll()
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

    private func enter(
        _ index: IndexDefinition, _ id: RecordID, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            try key.withBytes { (bytes) throws(LogError) in
                try transaction.insertEntry(index, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }

    @inline(__always)
    private func enterMember(
        _ index: MemberIndex, owner: RecordID, order: UInt64, _ id: RecordID, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            try MemberKey.with(owner: owner, order: order) { (bytes) throws(LogError) in
                try transaction.insertEntry(index.definition, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }

    private func removeMember(
        _ index: MemberIndex, owner: RecordID, order: UInt64, _ id: RecordID, _ transaction: inout Transaction
    ) throws(StoreError) {
        do throws(LogError) {
            try MemberKey.with(owner: owner, order: order) { (bytes) throws(LogError) in
                try transaction.removeEntry(index.definition, key: bytes, id: id)
            }
        } catch { throw StoreError(error) }
    }

    mutating func delete(_ blob: UInt64, _ transaction: inout Transaction) throws(StoreError) {
        if blob < firstOwnBlob {
            keptBlobs.append(blob)
            return
        }
        do throws(LogError) { try transaction.deleteBlob(blob) } catch { throw StoreError(error) }
    }
}
