// Unsaved changes that are dropped.

extension ContextCore {
    /// Undoes all unsaved changes.
    func rollback() {
        guard LifecycleCalls(self).mayRearrange("rollback") else { return }
        guard !rules.isSavedByStage else {
            return refuseSave(
                SwiftDataError.modelValidationFailure.explained(
                    "The context of a mapped stage cannot be rolled back: it holds the objects of other calls. Delete those that you do not want."
                ))
        }
        dropUnsaved()
    }

    /// Undoes all unsaved changes, even if only the stage may save.
    package func dropUnsaved() {
        errors.refusals.removeAll()
        let noteChanges = ChangeNotifier(self).changesOfRollback()
        pending.living.forEach(sendAway)
        pending.changed.forEach(showStored)
        for handle in pending.deleted { handle.core.pointee.remove(.deleted) }
        forgetChanges()
        rules.forgetChosenNumbers()
        undo?.forgetAll()
        noteChanges()
    }

    /// Reverts objects that a failed save has changed in order to give them other positions in their collections.
    func takeBackChanges(from first: Int) {
        pending.changed[first...].forEach(showStored)
        pending.changed.removeSubrange(first...)
    }

    /// Turns a changed object into one that shows its stored row.
    func showStored(_ handle: ObjectHandle) {
        handle.core.pointee.dropDraft()
        handle.core.pointee.row = .none
        handle.core.pointee.remove(.changed)
    }

    func forgetChanges() {
        pending.living.removeAll()
        pending.spilled = nil
        pending.changed.removeAll()
        pending.deleted.removeAll()
        pending.unawakened.removeAll()
        pending.forgetUnfinished = nil
        pending.deletedInsertCount = 0
        pending.doomedNumbers = nil
        pending.relationships.removeAll()
        memberArrays.removeAll()
        pending.policies.ofInserts.removeAll()
        rules.unsavedBytes.reset()
        rules.beginSpilling()
        conflicts?.forgetAll()
        noteSaved()
    }

    /// Releases the context's objects when the user's context is gone: unsaved objects leave it, changed ones keep
    /// showing their changes.
    package func abandonChanges() {
        settleMembers()
        errors.refusals.removeAll()
        owner.isAbandoned = true
        pending.living.forEach(sendAway)
        forgetChanges()
        undo?.leave()
        undo = nil
    }
}
