internal import FaultlineLog
internal import FaultlineStore

// In what an object differs from what is stored of it.

extension ContextCore {
    /// Slots in which a stored object differs from what is stored, collections with unsaved members among them; of a new
    /// object those that were given a value.
    func changedSlots(_ handle: ObjectHandle) throws -> [Int] {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return [] }
        settleMembers()
        var slots: [Int] = []
        for (slot, storage) in entity.slots.enumerated() {
            if case .toMany = storage {
                let key = PendingRelationships.Key(entity: entity.ordinal, slot: slot, owner: handle.reference)
                if relationships.existing(key) != nil { slots.append(slot) }
            } else if handle.core.pointee.has(.inserted) {
                if let draft = handle.core.pointee.draft, handle.core.pointee.isSet(slot, in: draft) {
                    slots.append(slot)
                }
            } else if handle.core.pointee.has(.changed), handle.core.pointee.hasChange(of: slot),
                try slot < ModelCore.sharedMarks || differs(handle, slot, entity)
            {
                slots.append(slot)
            }
        }
        return slots
    }

    /// Whether a slot whose mark others share has another value than is stored.
    private func differs(_ handle: ObjectHandle, _ slot: Int, _ entity: EntityStorage) throws -> Bool {
        guard let draft = handle.core.pointee.draft else { return false }
        try beginReading()
        defer { endReading() }
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(handle.core.pointee.number, in: entity.table, into: &buffer) else {
            return true
        }
        let view = try store.view(record, of: entity)
        if case .toOne = entity.slots[slot] { return draft.toOne(slot) != view.toOne(slot) }
        if draft.blobReference(slot)?.identifier != view.blobReference(slot)?.identifier { return true }
        return !RowKeys.isEqual(draft, view, slot, entity.layout)
    }

    /// A context that sees what this one would see without its unsaved changes.
    func contextOfStored() -> ContextCore {
        let core = ContextCore(store: store, types: homes.compactMap(\.type), isReadOnly: true)
        core.errorHandler = errorHandler
        return core
    }
}
