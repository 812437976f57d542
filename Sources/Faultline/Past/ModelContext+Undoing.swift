internal import FaultlineLog
public import FaultlineObjects
internal import FaultlineStore

extension ModelContext {
    /// Takes back a save, of any context or process, as unsaved changes of this context.
    ///
    ///     let saves = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    ///     if let wrong = saves.last(where: { $0.author == "import" }) {
    ///         let summary = try context.undo(wrong)
    ///         print(summary.restoredCount, "objects are back")
    ///         try context.save()
    ///     }
    ///
    /// Objects that the save inserted are deleted, those that it deleted return with their identifiers, values and
    /// relationships, and changed properties have their old values. A property that has another value by now is a
    /// conflict, and so is a new object that was changed since: under `.refuse` nothing is changed then, and the error
    /// names all of them; under `.keepLater` later values stay. Collections are merged: members that the save added
    /// leave, and members that it removed return. Unsaved changes of the context count as later ones. To undo the undo,
    /// undo its save.
    ///
    /// The old values are read from the log, as `ModelContainer.past(at:)` does.
    ///
    /// - Parameters:
    ///   - transaction: The save, from this store's history.
    ///   - policy: What to do where a later save has changed the same.
    /// - Returns: Counts of the changes, and the conflicts of `.keepLater`.
    /// - Throws: `CommitUndoError` for conflicts; `BackupError` of code `notInLog` if the log no longer has the state
    ///   before the save; `SwiftDataError.unknownSchema` if the store was migrated since,
    ///   `.invalidTransactionFetchRequest` for a save of another store, `.modelValidationFailure` if the context is
    ///   pinned or may not save; `StorageError` if the store cannot be read. Nothing was changed then. The next save
    ///   throws if an old unique value belongs to another object by now.
    /// - Complexity: That of `ModelContainer.past(at:)`, twice unless the save is the store's newest; then O(n) for n
    ///   changed objects and the members of their changed collections, all of which are in memory. Large values are not
    ///   read before the save, which copies them in parts.
    @discardableResult
    public func undo(
        _ transaction: DefaultHistoryTransaction, conflicts policy: CommitUndoPolicy = .refuse
    ) throws -> CommitUndoSummary {
        let core = try coreOfOneStore("undo(_:conflicts:)")
        let number = transaction.queryGeneration
        guard number > 0, transaction.storeIdentifier == core.storeIdentifier else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "The transaction is one of another store. Fetch it from the history of this one.")
        }
        let past = try container.openPast(.transaction(number - 1))
        defer { try? past.close() }
        if let summary = try undo(
            transaction, before: ModelContext(past), after: ModelContext(container), isNewest: true, policy)
        {
            return summary
        }
        let after = try container.openPast(.transaction(number))
        defer { try? after.close() }
        return try undo(
            transaction, before: ModelContext(past), after: ModelContext(after), isNewest: false, policy)
            ?? CommitUndoSummary()
    }
}
