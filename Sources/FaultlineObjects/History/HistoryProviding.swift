/// A source of the history of a store.
public protocol HistoryProviding {
    /// The type of the history's transactions.
    associatedtype HistoryType: HistoryTransaction
    /// The type of the history's transactions.
    static var historyType: HistoryType.Type { get }
    /// Fetches the transactions that a descriptor selects.
    ///
    /// - Throws: `SwiftDataError.historyTokenExpired`; `StorageError` if the store cannot be read.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    /// Deletes the transactions that a descriptor selects.
    ///
    /// - Throws: As `fetchHistory`; `StorageError` if the store cannot be written.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
