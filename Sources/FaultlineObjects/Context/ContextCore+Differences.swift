internal import FaultlineLog
internal import FaultlineStore

// The differences between an object and its stored state.

extension ContextCore {
    /// Slots in which a stored object differs from its stored row, and collections with unsaved members; for a new
    /// object, slots that were given a value.
    func changedSlots(_ handle: ObjectHandle) -> [Int] {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return [] }
        settleMembers()
        var slots: [Int] = []
        for (slot, storage) in entity.slots.enumerated() {
            if case .toMany = storage {
                let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: handle.reference)
                if pending.relationships.existing(key) != nil { slots.append(slot) }
            } else if handle.core.pointee.has(.inserted) || handle.core.pointee.has(.changed),
                handle.core.pointee.hasChange(of: slot)
            {
                slots.append(slot)
            }
        }
        return slots
    }

    /// A context that sees the stored state without this one's unsaved changes.
    func contextOfStored() -> ContextCore {
        let core = ContextCore(store: store, types: homes.all.compactMap(\.type), isReadOnly: true)
        core.errors.handler = errors.handler
        return core
    }
}
