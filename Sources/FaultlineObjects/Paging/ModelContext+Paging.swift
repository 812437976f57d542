// Pages of a fetch that begin behind a place in its order.

extension ModelContext {
    /// The next objects of a fetch behind a cursor.
    ///
    ///     var page = try context.fetchPage(descriptor, size: 50)
    ///     page = try context.fetchPage(descriptor, after: page.cursor, size: 50)
    ///
    /// Objects with equal sort keys come in the order of their creation, so that every object is on one page: what is
    /// inserted behind the cursor is found, what is deleted is not missed. Where an index has the order, or none is asked
    /// for, no more rows are read than the page has, and those that the predicate leaves out in between; else all rows are
    /// looked at for each page, and no more than two pages of keys are held.
    ///
    /// - Parameters:
    ///   - descriptor: The fetch, with the same order for all pages; its limit and offset do not count. The order is by
    ///     stored properties, text by Swift's `<`.
    ///   - cursor: That of the page before; nil for the first page.
    ///   - size: At most so many objects; below 1 counts as 1.
    /// - Returns: The page.
    /// - Throws: `SwiftDataError.unsupportedSortDescriptor` for an order that rows do not have, and for a cursor of another
    ///   store, entity or order, or with a sort key that no value has, and the explanation names which; `.includePendingChangesWithBatchSize` if there are unsaved changes and the descriptor
    ///   includes them; what `fetch` throws.
    public func fetchPage<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, after cursor: FetchCursor? = nil, size: Int
    ) throws -> FetchPage<T> {
        var descriptor = descriptor
        descriptor.fetchLimit = max(size, 1)
        descriptor.fetchOffset = nil
        return try core.throwing { try core.fetchPage(QuerySource(descriptor), after: cursor) }
    }

    /// The next objects of a fetch by name behind a cursor; as the form that takes a `FetchDescriptor`.
    public func fetchPage(
        _ request: FetchRequest, after cursor: FetchCursor? = nil, size: Int
    ) throws -> FetchPage<ManagedObject> {
        var request = request
        request.fetchLimit = max(size, 1)
        request.fetchOffset = nil
        return try core.throwing { try core.fetchPage(QuerySource(request), after: cursor) }
    }
}
