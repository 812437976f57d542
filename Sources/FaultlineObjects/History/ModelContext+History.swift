internal import Foundation

// What saves have changed, and how it is forgotten: docs/History.md.

extension ModelContext: HistoryProviding {
    /// The transactions of the history.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The saves that a descriptor asks for, of all contexts and processes, as the store has them now.
    ///
    /// - Returns: Transactions in the order of the saves, unless the descriptor asks for another.
    /// - Throws: `SwiftDataError.historyTokenExpired` if the predicate asks for what is behind a token whose transaction
    ///   the history has no more: it was deleted, or a migration has let the history begin anew;
    ///   `.invalidTransactionFetchRequest` for transactions of another type; what the predicate throws; `StorageError`
    ///   if the store cannot be read.
    /// - Complexity: Reads the transactions behind the token that the predicate names, or all.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        try core.throwing {
            guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>,
                let found = try core.fetchHistory(descriptor) as? [T]
            else { throw Self.foreign(T.self) }
            return found
        }
    }

    /// Deletes the saves that a descriptor asks for from the history; the objects stay as they are.
    ///
    /// Who has kept the token of a deleted transaction gets `historyTokenExpired` for it.
    ///
    /// Durability: as a save. It is done in several transactions; one that was cut short has deleted the first ones.
    /// - Throws: `SwiftDataError.modelValidationFailure` for a container that may not write, otherwise as
    ///   `fetchHistory`.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        try core.throwing {
            guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
                throw Self.foreign(T.self)
            }
            try core.deleteHistory(descriptor)
        }
    }

    private static func foreign(_ type: any Any.Type) -> SwiftDataError {
        .invalidTransactionFetchRequest.explained(
            "The history has transactions of type DefaultHistoryTransaction, and \(type) was asked for.")
    }
}
