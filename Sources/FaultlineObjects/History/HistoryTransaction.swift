public import Foundation

/// What one save has changed, as the history of a store tells it.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    /// What names a transaction for whoever goes on behind it later.
    associatedtype TokenType: HistoryToken
    /// What names a transaction within its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// When it was saved.
    var timestamp: Date { get }
    /// Each object that was inserted, updated or deleted, once.
    var changes: [HistoryChange] { get }
    /// Names the transaction: fetch what is behind it.
    var token: TokenType { get }
    /// Ascends in the order of the saves.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The store that it was saved in.
    var storeIdentifier: String { get }
    /// What the saving context had for its `author`.
    var author: String? { get }
}
