/// A place in the history, to be kept and given back later, by another process too.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    /// What the token holds.
    associatedtype TokenType: Codable, Hashable, Sendable
    /// What the token holds.
    var tokenValue: TokenType? { get }
}
