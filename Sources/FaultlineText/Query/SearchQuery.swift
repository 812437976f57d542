/// A query of a full-text search: a text in the query language, or parts that are put together in code.
///
///     let typed: SearchQuery = "sea* NOT winter \"red boat\""
///     let built = .prefix("sea") && !.word("winter") && .phrase("red boat")
///
/// A text that users write goes to `text(_:)` if they know the query language; a mistake in it makes the search throw
/// `TextQueryError`. Otherwise it goes to `words(_:completing:)`, which takes any text as it is.
public struct SearchQuery: Sendable, Hashable {
    indirect enum Node: Sendable, Hashable {
        case text(String)
        case words(String, isPrefix: Bool)
        case phrase(String, isPrefix: Bool)
        case near([String], distance: Int)
        case all([Node])
        case any([Node])
        case not(Node)
        case property(String, Node)
    }

    let node: Node

    /// A query in the query language.
    public static func text(_ text: String) -> SearchQuery { SearchQuery(node: .text(text)) }

    /// Objects that have a word.
    ///
    /// A text of several words, as `2026-11-28`, is looked for as a phrase.
    public static func word(_ word: String) -> SearchQuery { phrase(word) }

    /// Objects that have a word that begins with a text.
    ///
    /// Of several words, which follow each other, the last one may go on.
    public static func prefix(_ text: String) -> SearchQuery { SearchQuery(node: .phrase(text, isPrefix: true)) }

    /// Objects that have words one after the other.
    public static func phrase(_ text: String) -> SearchQuery { SearchQuery(node: .phrase(text, isPrefix: false)) }

    /// Objects that have all words of a text, in any order.
    ///
    /// No letter of the text is an operator. A text without a word finds no object.
    /// - Parameters:
    ///   - text: The words.
    ///   - completing: Whether the last word may go on, as for a search while its user writes.
    /// - Returns: The query.
    public static func words(_ text: String, completing: Bool = false) -> SearchQuery {
        SearchQuery(node: .words(text, isPrefix: completing))
    }

    /// Objects that have words or phrases close to each other.
    ///
    /// - Parameters:
    ///   - phrases: The words and phrases, at least one.
    ///   - distance: Most words between the end of the first and the start of the last one.
    /// - Returns: The query.
    public static func near(_ phrases: [String], distance: Int = 10) -> SearchQuery {
        SearchQuery(node: .near(phrases, distance: distance))
    }

    /// Objects that all queries find; without a query all objects.
    public static func all(_ queries: [SearchQuery]) -> SearchQuery { SearchQuery(node: .all(queries.map(\.node))) }

    /// Objects that at least one query finds; without a query none.
    public static func any(_ queries: [SearchQuery]) -> SearchQuery { SearchQuery(node: .any(queries.map(\.node))) }

    /// Objects that a query does not find.
    public static func not(_ query: SearchQuery) -> SearchQuery { SearchQuery(node: .not(query.node)) }

    /// Objects that a query finds in one property, by its name.
    public static func property(_ name: String, _ query: SearchQuery) -> SearchQuery {
        SearchQuery(node: .property(name, query.node))
    }

    /// Objects that both queries find.
    public static func && (left: SearchQuery, right: SearchQuery) -> SearchQuery {
        if case .all(let nodes) = left.node { return SearchQuery(node: .all(nodes + [right.node])) }
        return SearchQuery(node: .all([left.node, right.node]))
    }

    /// Objects that one query finds, or both.
    public static func || (left: SearchQuery, right: SearchQuery) -> SearchQuery {
        if case .any(let nodes) = left.node { return SearchQuery(node: .any(nodes + [right.node])) }
        return SearchQuery(node: .any([left.node, right.node]))
    }

    /// Objects that a query does not find.
    public static prefix func ! (query: SearchQuery) -> SearchQuery { .not(query) }
}

extension SearchQuery: ExpressibleByStringLiteral {
    /// A query in the query language.
    public init(stringLiteral text: String) { self = .text(text) }
}
