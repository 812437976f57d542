/// Finds objects by the words of their texts.
extension ModelContext {
    /// Finds the objects whose texts satisfy a query, best first.
    ///
    ///     for hit in try context.search(Photo.self, "sea* NOT winter \"red boat\"", limit: 20) { … }
    ///
    /// Unsaved changes of the context count as they do in a fetch.
    ///
    /// - Parameters:
    ///   - type: The class, which has a text index.
    ///   - query: The query, in the language of docs/features/TextSearch.md.
    ///   - limit: The greatest number of objects; nil for no bound.
    /// - Returns: The objects with their ranks.
    /// - Throws: `TextQueryError` for a text that is no query; `SearchError` if the class has no text index;
    ///   `StorageError` if the store cannot be read.
    /// - Complexity: The entries of the query's words in the index; all rows while the index is not built.
    public func search<T: PersistentModel>(_ type: T.Type, _ query: String, limit: Int? = nil) throws -> [SearchHit<T>]
    {
        try search(SearchDescriptor<T>(query, limit: limit)).hits
    }

    /// Finds the objects whose texts satisfy a query.
    ///
    /// - Parameter descriptor: The query, the order, and the parts of the result.
    /// - Returns: The objects found, their number, and the counts that were asked for.
    /// - Throws: As `search(_:_:limit:)`; `SwiftDataError` for a predicate or an order that no fetch accepts.
    /// - Complexity: As `search(_:_:limit:)`; a predicate, an order or facets read the rows of all objects found.
    public func search<T: PersistentModel>(_ descriptor: SearchDescriptor<T>) throws -> SearchResults<T> {
        let core = core(of: T.self)
        return try core.throwing { try SearchRunner(core, descriptor).run() }
    }

    /// Counts the objects whose texts satisfy a query, without making any.
    ///
    /// - Parameter descriptor: The query, and further conditions.
    /// - Returns: The number of all objects found.
    /// - Throws: As `search(_:)`.
    /// - Complexity: As `search(_:)`, without ranks.
    public func searchCount<T: PersistentModel>(_ descriptor: SearchDescriptor<T>) throws -> Int {
        let core = core(of: T.self)
        return try core.throwing { try SearchRunner(core, descriptor).count() }
    }

    /// Explains a search: whether the index answers it, and how many rows it reads.
    ///
    /// - Parameter descriptor: The search.
    /// - Returns: The explanation.
    /// - Throws: As `search(_:)`.
    /// - Complexity: That of `searchCount(_:)`.
    public func explain<T: PersistentModel>(_ descriptor: SearchDescriptor<T>) throws -> SearchExplanation {
        let core = core(of: T.self)
        return try core.throwing { try SearchRunner(core, descriptor).explain() }
    }
}
