extension ContextCore {
    /// Becomes the state of one store of a context over several, with the settings of that context.
    ///
    /// - Parameter settings: The state that holds it.
    func enter(_ settings: ContextCore) {
        owner.context = settings.owner.context
        owner.remake = settings.owner.remake
        owner.autosave = settings.owner.autosave
        history.author = settings.history.author
        history.join(settings.history.editorID)
        errors.handler = settings.errors.handler
        pending.policies = settings.pending.policies
        if settings.mergePolicy != mergePolicy { OriginalKeeper(self).setMergePolicy(settings.mergePolicy) }
        if let account = settings.reports.accounting?.account {
            reports.accounting = FaultAccounting(account, entityCount: homes.all.count)
        }
        if let manager = settings.undo?.manager { undo = UndoRecorder(self, manager) }
    }

    /// Ends as the state of a store that was removed; the context's next save says that unsaved changes went with it.
    func leave(_ name: String, _ settings: ContextCore) {
        if hasChanges {
            settings.refuseNextSave(
                SwiftDataError.missingModelContext.explained(
                    "The store \(name) was removed, with unsaved changes of this context. Save before a store is removed."
                ))
        }
        abandonChanges()
        owner.context = nil
        owner.remake = nil
        owner.autosave = nil
    }
}
