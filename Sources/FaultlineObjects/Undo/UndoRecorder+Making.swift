internal import FaultlineLog
internal import FaultlineStore

// Makes the edits that take changes back.

extension UndoRecorder {
    /// Makes edits: objects come first, then values, collections, and deletions.
    func make(_ edits: [UndoEdit]) {
        let calls = LifecycleCalls(context)
        guard !context.owner.isAbandoned, calls.mayRearrange("undo") else { return }
        for edit in edits {
            switch edit {
            case .insert(let handle, let values): insert(handle, values)
            case .keep(let handle, let values): keep(handle, values)
            default: break
            }
        }
        for edit in edits { if case .set(let handle, let slot, let values) = edit { set(handle, slot, values) } }
        for edit in edits {
            switch edit {
            case .setMembers(let owner, let slot, let targets):
                RelationshipEditor(context).setMembers(
                    of: present(owner), slot, to: targets.compactMap { object($0) })
            case .removeMembers(let owner, let slot, let members):
                for member in members {
                    _ = try? RelationshipEditor(context).removeMember(present(member), from: present(owner), slot)
                }
            default: break
            }
        }
        context.remove(
            edits.compactMap { edit in
                guard case .remove(let handle) = edit, !upserts.contains(ObjectIdentifier(handle.object)) else {
                    return nil
                }
                return present(handle)
            })
        for edit in edits { if case .delete(let handle) = edit { context.delete(present(handle)) } }
        for edit in edits { if case .keep(let handle, _) = edit { calls.awakeRevived(present(handle)) } }
    }

    private func insert(_ handle: ObjectHandle, _ values: UndoValues) {
        guard !handle.core.pointee.has(.attached), ObjectInsertion(context).insert(handle) else { return }
        if let key = revivals[ObjectIdentifier(handle.object)]?.key {
            context.rules.restore(key, as: handle.core.pointee.number)
            revived[key] = handle
        }
        setAll(handle, values)
    }

    private func keep(_ handle: ObjectHandle, _ values: UndoValues) {
        let handle = present(handle)
        if !handle.core.pointee.has(.gone) {
            if handle.core.pointee.has(.deleted) { context.undelete(handle) }
            return
        }
        guard let key = key(of: handle), let made = context.revive(key, ofClass: handle.placeOfClass)
        else { return }
        revived[key] = made
        revivals[ObjectIdentifier(made.object)] = (made, key)
        setAll(made, values)
    }

    private func setAll(_ handle: ObjectHandle, _ values: UndoValues) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for slot in entity.slots.indices { set(handle, slot, values) }
    }

    private func set(_ handle: ObjectHandle, _ slot: Int, _ values: UndoValues) {
        let handle = present(handle)
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity, !handle.core.pointee.has(.gone)
        else { return }
        switch entity.slots[slot] {
        case .attribute: if !entity.ephemeralSlots.contains(slot) { values.set(slot, of: handle) }
        case .toOne: RelationshipEditor(context).setTarget(of: handle, slot, to: object(values.target(slot)))
        case .toMany: break
        }
    }

    // MARK: Objects

    private func key(of handle: ObjectHandle) -> StoredKey? {
        guard !handle.core.pointee.has(.temporary),
            let entity = handle.core.pointee.home.takeUnretainedValue().entity
        else { return nil }
        return StoredKey(ordinal: entity.ordinal, number: handle.core.pointee.number)
    }

    /// The object itself, the one that has its row, or the one that was made for it after its deletion was saved.
    private func present(_ handle: ObjectHandle) -> ObjectHandle {
        let handle = handle.core.pointee.canonical ?? handle
        guard handle.core.pointee.has(.gone), let key = key(of: handle) else { return handle }
        return revived[key] ?? handle
    }

    private func object(_ target: UndoValues.Target) -> ObjectHandle? {
        switch target {
        case .none: return nil
        case .unsaved(let handle):
            let handle = present(handle)
            return handle.core.pointee.isDeleted || !handle.core.pointee.has(.attached) ? nil : handle
        case .stored(let ordinal, let number):
            if let made = revived[.init(ordinal: ordinal, number: number)] { return made }
            let home = context.homes[ordinal]
            return ObjectRegistry(context).object(ObjectReference(number: number, isTemporary: false), home)
                .flatMap(home.handle(of:))
        }
    }
}
