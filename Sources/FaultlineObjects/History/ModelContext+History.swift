internal import Foundation

// Reads and deletes the history of saves: docs/History.md.

extension ModelContext: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// Fetches the saves that a descriptor selects, of all contexts and processes, in the newest state of the store.
    ///
    /// - Returns: Transactions in the order of the saves, unless the descriptor has another order.
    /// - Throws: `SwiftDataError.historyTokenExpired` if the predicate names a token whose transaction the history no
    ///   longer has, because it was deleted or a migration restarted the history; `.invalidTransactionFetchRequest` for
    ///   transactions of another type; the errors of the predicate; `StorageError` if the store cannot be read.
    /// - Complexity: Reads the transactions after the token that the predicate names, or all.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        try coreOfOneStore("fetchHistory(_:)").throwing {
            guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>,
                let found = try HistoryReader(core).fetchHistory(descriptor) as? [T]
            else { throw Self.foreign(T.self) }
            return found
        }
    }

    /// Deletes the saves that a descriptor selects from the history; the objects do not change.
    ///
    /// A reader with the token of a deleted transaction gets `historyTokenExpired`.
    ///
    /// Durability: as a save. The deletion takes several transactions; an interrupted one has deleted the first saves.
    /// - Throws: `SwiftDataError.modelValidationFailure` for a container that may not write, otherwise as
    ///   `fetchHistory`.
    /// - Complexity: O(n) for n deleted transactions, and for those that the predicate must read.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        try coreOfOneStore("deleteHistory(_:)").throwing {
            guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
                throw Self.foreign(T.self)
            }
            try HistoryReader(core).deleteHistory(descriptor)
        }
    }

    private static func foreign(_ type: any Any.Type) -> SwiftDataError {
        .invalidTransactionFetchRequest.explained(
            "The history has transactions of type DefaultHistoryTransaction, and \(type) was asked for.")
    }
}
