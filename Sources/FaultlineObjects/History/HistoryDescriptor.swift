public import Foundation

// Safe because the predicate is `Sendable`, and the key paths of sort descriptors are immutable.
/// Selects transactions of the history.
///
/// A predicate with `$0.token > token`, alone or combined by `&&`, reads no earlier transactions.
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: @unchecked Sendable {
    /// Selects the transactions; nil for all.
    public var predicate: Predicate<TransactionType>?
    /// The greatest number of transactions; 0 for no bound.
    public var fetchLimit: UInt64 = 0
    /// The order of the result; empty for the order of the saves.
    public var sortBy: [SortDescriptor<TransactionType>] = []

    /// Describes the transactions that satisfy `predicate`, in the order of the saves.
    public init(predicate: Predicate<TransactionType>? = nil) { self.predicate = predicate }

    /// Describes the transactions that satisfy `predicate`, in the order of `sortBy`.
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>]) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
