public import Foundation

/// The changes of one save, as the history of a store records them.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    /// The type of the token, with which a reader continues after a transaction later.
    associatedtype TokenType: HistoryToken
    /// The type of the identifier of a transaction within its store.
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    /// When it was saved.
    var timestamp: Date { get }
    /// Each object that was inserted, updated or deleted, once.
    var changes: [HistoryChange] { get }
    /// Identifies the transaction: fetch the transactions after it.
    var token: TokenType { get }
    /// Ascending in the order of the saves.
    var transactionIdentifier: TransactionIdentifier { get }
    /// The store that it was saved in.
    var storeIdentifier: String { get }
    /// The `author` of the saving context.
    var author: String? { get }
}
