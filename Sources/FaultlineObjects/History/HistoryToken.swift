/// A position in the history, which can be stored and used later, by another process too.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    /// The content of the token.
    associatedtype TokenType: Codable, Hashable, Sendable
    /// The content of the token.
    var tokenValue: TokenType? { get }
}
