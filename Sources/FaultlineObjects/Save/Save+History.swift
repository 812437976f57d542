internal import FaultlineLog
internal import FaultlineStore

// Records owners of collections that have changed in the store's history: their rows are unchanged.

extension Save {
    /// Records the owners of collections that have changed: their rows are unchanged.
    mutating func noteCollections(_ history: HistoryWriter, in transaction: inout Transaction) throws {
        guard !context.pending.relationships.isEmpty else { return }
        for (key, delta) in context.pending.relationships.inOrder where !delta.isEmpty {
            // A new object is recorded as an insert, unless it has replaced a stored one.
            guard !key.owner.isTemporary || !upserts.isEmpty || !numbers.spilled.upserts.isEmpty,
                deletion?.isDoomed(key.owner, key.entity) != true
            else { continue }
            try noteCollection(
                number(key.owner), key.slot, store.storage.entities[key.entity], history, in: &transaction)
        }
    }

    /// Records the owners of collections that an object has left because it was deleted.
    func noteLeaving(
        _ memberships: [(owner: UInt64, order: UInt64?)], _ entity: EntityStorage, _ walk: DeletionWalk,
        _ history: HistoryWriter, in transaction: inout Transaction
    ) throws {
        for (membership, index) in zip(memberships, entity.memberIndexes) where membership.owner != 0 {
            guard case .toOne(let relationship) = entity.slots[index.slot],
                case .toMany(let slot) = relationship.inverse,
                !walk.doomed[relationship.destination].contains(membership.owner)
            else { continue }
            try noteCollection(
                membership.owner, slot, store.storage.entities[relationship.destination], history,
                in: &transaction)
        }
    }

    private func noteCollection(
        _ owner: RecordID, _ slot: Int, _ entity: EntityStorage, _ history: HistoryWriter,
        in transaction: inout Transaction
    ) throws {
        // Another save may have deleted it.
        guard owner != 0, try !transaction.location(of: owner, in: entity.table).isAbsent else { return }
        try history.noteUpdate(owner, mask: SlotMask.bit(slot), entity, in: &transaction)
    }
}
