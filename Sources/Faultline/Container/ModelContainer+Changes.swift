internal import FaultlineLog
public import FaultlineObjects
internal import FaultlineStore
public import Foundation

// Live queries: the changes of a result as a stream.

extension ModelContainer {
    /// The changes of the objects that satisfy a predicate, from all saves of the store.
    ///
    ///     for try await batch in container.changes(of: Photo.self, matching: #Predicate { $0.isPublic }) {
    ///         cache.remove(batch.deleted)
    ///         cache.fetch(batch.inserted + batch.updated)
    ///     }
    ///
    /// An object that begins to satisfy the predicate is reported as inserted, and one that ceases to as deleted. The
    /// first batches have the objects that are stored, as inserted; with a token, the changes since its state. Then it
    /// is not known which objects satisfied the predicate at the token: one that satisfies it now is reported as
    /// updated unless it is new, and one that does not as deleted.
    ///
    /// A container with `allowsSave: false` follows the writer in another process: it looks five times a second for
    /// saves that are known to be on the disk.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - predicate: The objects; nil for all. It is evaluated on stored values.
    ///   - token: The state to go on from: of an earlier batch, or of `ModelContext.historyToken()`.
    ///   - batchSize: The most objects of a batch; below 1 counts as 1.
    ///   - contents: The contents of copies of the inserted and updated objects; nil for no copies.
    /// - Returns: The stream. It throws `SwiftDataError.historyTokenExpired` if the changes cannot be determined, and
    ///   `.invalidTransactionFetchRequest` if the container's `history` is off.
    /// - Complexity: O(1): nothing is read before the first batch is requested.
    public nonisolated func changes<T: PersistentModel>(
        of type: T.Type, matching predicate: Predicate<T>? = nil, after token: DefaultHistoryToken? = nil,
        batchSize: Int = 1_000, including contents: ValueCopy.Contents? = nil
    ) -> ChangeStream {
        part(of: T.self).changes(
            ChangeReader.Source.result(of: FetchDescriptor<T>(predicate: predicate)), token, batchSize, contents)
    }

    /// The changes of the objects that a fetch by name selects; its order and its window have no effect.
    ///
    /// As the form that takes a class.
    ///
    /// - Complexity: O(1): nothing is read before the first batch is requested.
    public nonisolated func changes(
        of request: FetchRequest, after token: DefaultHistoryToken? = nil, batchSize: Int = 1_000,
        including contents: ValueCopy.Contents? = nil
    ) -> ChangeStream {
        part(named: request.entityName).changes(ChangeReader.Source.result(of: request), token, batchSize, contents)
    }

    /// The changes of the objects that a search finds; its order, its window and its facets have no effect.
    ///
    ///     for try await batch in container.changes(of: SearchDescriptor<Photo>("sea* NOT winter")) {
    ///         alerts.send(batch.inserted)
    ///     }
    ///
    /// As the form that takes a class. An object whose texts begin to satisfy the query is reported as inserted. The
    /// stream throws `TextQueryError` for a text that is no query, and `SearchError` if the class has no text index.
    ///
    /// - Complexity: O(1): nothing is read before the first batch is requested. The first batches cost a search, later
    ///   ones the rows that changed.
    public nonisolated func changes<T: PersistentModel>(
        of search: SearchDescriptor<T>, after token: DefaultHistoryToken? = nil, batchSize: Int = 1_000,
        including contents: ValueCopy.Contents? = nil
    ) -> ChangeStream {
        part(of: T.self).changes(ChangeReader.Source.result(of: search), token, batchSize, contents)
    }

    private nonisolated func changes(
        _ result: @escaping @Sendable (ContextCore) throws -> ResultQuery, _ token: DefaultHistoryToken?,
        _ batchSize: Int, _ contents: ValueCopy.Contents?
    ) -> ChangeStream {
        ChangeStream { [self] in
            let source = ChangeReader.Source(
                rowStore.log, performing.contexts, check: { [self] in try checkChanges() },
                make: { [self] in makeCore() }, prepare: result)
            return ChangeReader(source, after: token, batchSize: batchSize, contents, on: performing.pool)
        }
    }

    private func checkChanges() throws {
        if isClosedByUser { throw LogError.closed(configuration.url.path) }
        guard configuration.options.history != .off else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "StoreOptions.history of this container is off, so that its saves are in no history. Keep one, if only for an hour."
            )
        }
    }

    /// Moves on to the newest state that another process has written and synchronized; does nothing for a container
    /// that may save.
    ///
    /// Each fetch of a container with `allowsSave: false` does so too: call this to move on without a fetch. The last
    /// save before a pause of the writer is known to be on the disk only after its next save or checkpoint.
    ///
    /// - Returns: Whether there is a newer state than before.
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: Three calls of the system if there is nothing new; else the log since the last checkpoint is read.
    @discardableResult
    public func refresh() throws -> Bool {
        if let parts { return try parts.containers.reduce(false) { try $1.refresh() || $0 } }
        return try StorageError.translating {
            let before = rowStore.log.snapshot().sequence
            try rowStore.log.follow()
            return rowStore.log.snapshot().sequence > before
        }
    }
}
