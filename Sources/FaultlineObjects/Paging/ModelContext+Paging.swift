// Fetches pages that begin after a position in the order.

extension ModelContext {
    /// Fetches the next objects after a cursor.
    ///
    ///     var page = try context.fetchPage(descriptor, size: 50)
    ///     page = try context.fetchPage(descriptor, after: page.cursor, size: 50)
    ///
    /// Objects with equal sort keys come in the order of their creation, so that every object is on one page: objects
    /// inserted after the cursor are found, and a deletion skips no other object. If an index has the order, or there
    /// is no sort order, only the rows of the page are read, and those between them that the predicate excludes;
    /// otherwise all rows are checked for each page, and at most two pages of keys are held.
    ///
    /// - Parameters:
    ///   - descriptor: The fetch, with the same order for all pages; its limit and offset are ignored. The order is by
    ///     stored properties, text by Swift's `<`.
    ///   - cursor: The cursor of the page before; nil for the first page.
    ///   - size: The greatest number of objects; below 1 counts as 1.
    /// - Returns: The page.
    /// - Throws: `SwiftDataError.unsupportedSortDescriptor` for an order that rows do not have, and for a cursor of
    ///   another store, entity or order, or with a sort key that no value has; the explanation names the cause.
    ///   `.includePendingChangesWithBatchSize` if there are unsaved changes and the descriptor includes them; the
    ///   errors of `fetch`.
    /// - Complexity: O(n) for n objects of the page and the excluded rows between them, if an index has the order or
    ///   there is none; otherwise O(r) for all r rows of the entity.
    public func fetchPage<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, after cursor: FetchCursor? = nil, size: Int
    ) throws -> FetchPage<T> {
        var descriptor = descriptor
        descriptor.fetchLimit = max(size, 1)
        descriptor.fetchOffset = nil
        let core = core(of: T.self)
        return try core.throwing { try PageFinder(core).fetchPage(QuerySource(descriptor), after: cursor) }
    }

    /// Fetches the next objects after a cursor, by name; as the form that takes a `FetchDescriptor`.
    ///
    /// - Throws: As the form that takes a `FetchDescriptor`.
    /// - Complexity: As the form that takes a `FetchDescriptor`.
    public func fetchPage(
        _ request: FetchRequest, after cursor: FetchCursor? = nil, size: Int
    ) throws -> FetchPage<ManagedObject> {
        var request = request
        request.fetchLimit = max(size, 1)
        request.fetchOffset = nil
        let core = core(named: request.entityName)
        func page<T: PersistentModel>(_ type: T.Type) throws -> FetchPage<ManagedObject> {
            let page = try PageFinder(core).fetchPage(QuerySource(request, of: type), after: cursor)
            return FetchPage(
                objects: ManagedObject.views(of: page.objects), cursor: page.cursor, isLast: page.isLast)
        }
        return try core.throwing { try page(try core.entity(named: request.entityName).model) }
    }
}
