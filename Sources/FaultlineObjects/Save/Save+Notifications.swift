internal import FaultlineLog
internal import FaultlineStore

extension Save {
    /// Collects the written objects for notifications, before the context forgets them.
    func collectSaved(_ sequence: UInt64) {
        guard var saved = context.saving.identifiers else { return }
        saved.sequence = sequence
        addWritten(to: &saved)
        context.saving.identifiers = saved
    }

    /// Adds the objects that the save writes.
    func addWritten(to saved: inout SavedIdentifiers) {
        for (place, handle) in context.pending.living.enumerated() where numbers[place] != 0 {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            let identifier = identifier(numbers[place], entity)
            if upserts.contains(place) {
                saved.updated.insert(identifier)
            } else {
                saved.inserted.insert(identifier)
            }
        }
        for handle in context.pending.changed
        where !handle.core.pointee.has(.deleted) && !gonePartners.contains(handle.core) {
            saved.updated.insert(handle.core.pointee.persistentIdentifier)
        }
        for (key, delta) in context.pending.relationships.inOrder where !delta.isEmpty && !key.owner.isTemporary {
            saved.updated.insert(identifier(key.owner.number, store.storage.entities[key.entity]))
        }
        for cleared in cleared.rows { saved.updated.insert(identifier(cleared.number, cleared.entity)) }
        if let deletion {
            for (ordinal, numbers) in deletion.doomed.enumerated() {
                let entity = store.storage.entities[ordinal]
                numbers.forEach { saved.deleted.insert(identifier($0, entity)) }
            }
        }
        saved.inserted.subtract(saved.deleted)
        saved.updated.subtract(saved.deleted.union(saved.inserted))
    }

    private func identifier(_ number: UInt64, _ entity: EntityStorage) -> PersistentIdentifier {
        PersistentIdentifier(storeID: store.log.storeID, entityName: entity.name, number: number)
    }
}
