public import FaultlineText
public import Foundation

// Safe because nothing of it changes behind a copy: key paths and predicates are values.
/// A search for objects by the words of their texts.
///
///     var search = SearchDescriptor<Photo>("sea* NOT winter")
///     search.predicate = #Predicate { $0.year > 2_000 }
///     search.limit = 20
///     for hit in try context.search(search).hits { print(hit.score, hit.object.title) }
///
/// The class needs a text index: `#TextIndex`, or attributes that are marked `.spotlight`.
public struct SearchDescriptor<T: PersistentModel>: @unchecked Sendable {
    /// The query: docs/features/TextSearch.md.
    public var query: SearchQuery
    /// The properties that are searched: all or some of those of one text index; empty for all of the first index.
    public var properties: [PartialKeyPath<T>] = []
    /// Further conditions; nil for none.
    public var predicate: Predicate<T>?
    /// The order of the result; empty for the rank, best first.
    public var sortBy: [SortDescriptor<T>] = []
    /// The greatest number of objects; nil for no bound.
    public var limit: Int?
    /// The number of objects to skip at the beginning of the ordered result.
    public var offset = 0
    /// The end of the page before; nil for the first page.
    ///
    /// Only for the order by rank.
    public var cursor: SearchCursor?
    /// Attributes by whose values the objects found are counted.
    public var facets: [PartialKeyPath<T>] = []
    /// Whether the places of the words are wanted.
    public var includesHighlights = false

    /// Describes a search.
    ///
    /// - Parameters:
    ///   - query: The query, in the language of docs/features/TextSearch.md.
    ///   - limit: The greatest number of objects; nil for no bound.
    public init(_ query: String, limit: Int? = nil) {
        self.init(query: .text(query), limit: limit)
    }

    /// Describes a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - limit: The greatest number of objects; nil for no bound.
    public init(query: SearchQuery, limit: Int? = nil) {
        self.query = query
        self.limit = limit
    }
}
