internal import FaultlineLog
internal import FaultlineStore

// In what an object differs from what is stored of it.

extension ContextCore {
    /// Slots in which a stored object differs from what is stored, collections with unsaved members among them; of a new
    /// object those that were given a value.
    func changedSlots(_ handle: ObjectHandle) -> [Int] {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return [] }
        settleMembers()
        var slots: [Int] = []
        for (slot, storage) in entity.slots.enumerated() {
            if case .toMany = storage {
                let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: handle.reference)
                if relationships.existing(key) != nil { slots.append(slot) }
            } else if handle.core.pointee.has(.inserted) || handle.core.pointee.has(.changed),
                handle.core.pointee.hasChange(of: slot)
            {
                slots.append(slot)
            }
        }
        return slots
    }

    /// A context that sees what this one would see without its unsaved changes.
    func contextOfStored() -> ContextCore {
        let core = ContextCore(store: store, types: homes.compactMap(\.type), isReadOnly: true)
        core.errorHandler = errorHandler
        return core
    }
}
