internal import FaultlineLog

// The entries of a row in the member indexes: under each object that it refers to, in the order of that object's
// collection.

extension RowWriter {
    /// Adds a new row's entries.
    @inline(__always)
    func enterMemberships(
        _ draft: Draft, _ id: RecordID, _ entity: EntityStorage, _ transaction: inout Transaction
    ) throws(StoreError) {
        for index in entity.memberIndexes {
            let owner = draft.toOne(index.slot)
            guard owner != 0 else { continue }
            try enterMember(
                index, owner: owner, order: draft.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id), id,
                &transaction)
        }
    }

    /// Moves a stored row's entries to the owners and orders that the draft has changed.
    @inline(__always)
    func changeMemberships(
        from old: StoredRow, to draft: Draft, _ id: RecordID, _ entity: EntityStorage,
        _ transaction: inout Transaction
    ) throws(StoreError) {
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
    }

    /// Removes a stored row's entries.
    @inline(__always)
    func removeMemberships(
        of old: StoredRow, _ id: RecordID, _ entity: EntityStorage, _ transaction: inout Transaction
    ) throws(StoreError) {
        for (place, index) in entity.memberIndexes.enumerated() where old.memberships[place].owner != 0 {
            let was = old.memberships[place]
            try removeMember(
                index, owner: was.owner, order: was.order ?? MemberKey.defaultOrder(of: id), id, &transaction)
        }
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
}
