internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ModelContext {
    /// Takes back the changes of a save, as unsaved changes of this context.
    ///
    /// - Parameters:
    ///   - transaction: The save.
    ///   - before: Reads the state before the save.
    ///   - after: Reads the state after the save.
    ///   - isNewest: Whether `after` follows the store: then it may have gone on.
    ///   - policy: Whether conflicts are refused.
    /// - Returns: The changes that were made; nil, without changes, if `after` has gone on.
    /// - Throws: `CommitUndoError`; `SwiftDataError.unknownSchema` if the store has been migrated since;
    ///   `modelValidationFailure` if the context cannot save. Nothing was changed then.
    package func undo(
        _ transaction: DefaultHistoryTransaction, before: ModelContext, after: ModelContext, isNewest: Bool,
        _ policy: CommitUndoPolicy
    ) throws -> CommitUndoSummary? {
        let core = try coreOfOneStore("undo(_:conflicts:)")
        return try core.throwing {
            try core.checkUndo(of: transaction, before.core, after.core)
            let changed = try HistoryReader(core).historyModels.changedObjects(of: transaction.stored)
            // The log may take the state of a context that reads nothing.
            try after.core.beginReading()
            defer { after.core.endReading() }
            if isNewest, after.core.snapshot.sequence != transaction.stored.sequence { return nil }
            try core.beginReading()
            defer { core.endReading() }
            try core.moveToNewest()
            var undo = CommitUndo(core, before: before.core, after: after.core)
            return try undo.run(changed, policy)
        }
    }
}

extension ContextCore {
    fileprivate func checkUndo(
        of transaction: DefaultHistoryTransaction, _ before: ContextCore, _ after: ContextCore
    ) throws {
        guard !rules.isReadOnly, stage == nil, state.pinLabel == nil else {
            throw SwiftDataError.modelValidationFailure.explained(
                "A save cannot be undone in a context that is pinned, or may not save. Use another context.")
        }
        guard !rules.restoresObjects else {
            throw SwiftDataError.modelValidationFailure.explained(
                "The context has restored objects that are not saved. Save, or roll back, before another save is undone."
            )
        }
        guard transaction.storeIdentifier == HistoryReader(self).historyModels.storeIdentifier else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "The transaction is one of another store. Fetch it from the history of this one.")
        }
        let fingerprint = store.storage.schema.fingerprint
        guard [before, after].allSatisfy({ $0.store.storage.schema.fingerprint == fingerprint }) else {
            throw SwiftDataError.unknownSchema.explained(
                "The store has been migrated since transaction \(transaction.stored.sequence), so that save cannot be undone. Restore a backup into another place, and copy the objects."
            )
        }
    }
}
