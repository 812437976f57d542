public import Foundation

// Safe because the predicate is `Sendable`, and the key paths of sort descriptors are immutable.
/// Which transactions of the history are wanted.
///
/// A predicate that asks for `$0.token > token`, alone or with more by `&&`, reads nothing of what was saved before.
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: @unchecked Sendable {
    /// Which transactions; nil for all.
    public var predicate: Predicate<TransactionType>?
    /// At most so many; 0 for no bound.
    public var fetchLimit: UInt64 = 0
    /// In which order; empty for the order of the saves.
    public var sortBy: [SortDescriptor<TransactionType>] = []

    /// Describes the transactions that satisfy `predicate`, in the order of the saves.
    public init(predicate: Predicate<TransactionType>? = nil) { self.predicate = predicate }

    /// Describes the transactions that satisfy `predicate`, in the order of `sortBy`.
    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>]) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
