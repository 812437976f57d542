/// Whoever can tell the history of a store.
public protocol HistoryProviding {
    /// The transactions of the history.
    associatedtype HistoryType: HistoryTransaction
    /// The transactions of the history.
    static var historyType: HistoryType.Type { get }
    /// The transactions that a descriptor asks for.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    /// Deletes the transactions that a descriptor asks for.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}
