internal import FaultlineLog
internal import FaultlineStore

// Marks of deleted objects, and objects that leave the context.

extension ContextCore {
    /// Marks an object to be deleted by the next save; an unsaved one leaves the context.
    func delete(_ handle: ObjectHandle) {
        guard belongsHere(handle, "deleted"), !handle.core.pointee.isDeleted,
            LifecycleCalls(self).mayRearrange("delete")
        else { return }
        errors.refusals.settle(handle.core, nil)
        settleMembers()
        forgetMemberArrays(of: handle.core.pointee.home.takeUnretainedValue())
        handle.core.pointee.insert(.deleted)
        if handle.core.pointee.has(.inserted) {
            pending.deletedInsertCount += 1
        } else {
            pending.deleted.append(handle)
            if conflicts != nil { OriginalKeeper(self).keepOriginal(ofDeleted: handle) }
        }
        noteUnsaved()
        ChangeNotifier(self).noteDeletion(of: handle)
    }

    func undelete(_ handle: ObjectHandle) {
        forgetMemberArrays(of: handle.core.pointee.home.takeUnretainedValue())
        handle.core.pointee.remove(.deleted)
        if handle.core.pointee.has(.inserted) {
            pending.deletedInsertCount -= 1
        } else {
            pending.deleted.remove(handle)
        }
        ChangeNotifier(self).noteDeletion(of: handle)
    }

    /// Removes an unsaved object from the context.
    ///
    /// It keeps its attributes; its references belong to the context.
    func sendAway(_ handle: ObjectHandle) {
        let home = handle.core.pointee.home.takeUnretainedValue()
        guard let type = home.type else { return }
        if let entity = home.entity {
            for (slot, storage) in entity.slots.enumerated() {
                guard case .toOne = storage else { continue }
                handle.core.pointee.write {
                    $0.setToOne(slot, 0)
                    if $0.orderKey(slot) != nil { $0.setOrderKey(slot, nil) }
                }
            }
        }
        handle.core.pointee.leaveObservation()
        let own = type.family.flatMap { handle.core.pointee.leaveFamily($0) } ?? type
        handle.core.pointee.detach(to: own.detachedHome)
        Unmanaged.passUnretained(self).release()
    }
}
