/// The changes of a result, state by state: an asynchronous sequence for any task, which does not end by itself.
///
///     for try await batch in container.changes(of: Photo.self, matching: #Predicate { $0.isPublic }) {
///         index.remove(batch.deleted)
///         index.add(batch.inserted + batch.updated)
///         if let token = batch.token { index.token = token }
///     }
///
/// - Each batch is made on demand: while the reader is slow nothing is collected for it, and the next batch has the
///   changes of all saves since, each object once.
/// - A batch has at most as many objects as requested; a state with more changes comes in several.
/// - It holds a bit for each object of the result, if there is a predicate, and no thread.
/// - Cancelling the task ends it with `CancellationError`.
///
/// Each iterator is a stream of its own.
public struct ChangeStream: AsyncSequence, Sendable {
    /// A batch.
    public typealias Element = ChangeBatch
    /// The errors of `next()`.
    public typealias Failure = any Error

    private let make: @Sendable () -> ChangeReader

    package init(_ make: @escaping @Sendable () -> ChangeReader) { self.make = make }

    /// Begins a stream; nothing is read before its first batch is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: make()) }

    /// A stream under way.
    public struct Iterator: AsyncIteratorProtocol {
        package let reader: ChangeReader

        /// The next batch, when there is one; nil after an error.
        ///
        /// - Throws: `SwiftDataError.historyTokenExpired` if the changes cannot be determined: read the stored objects, and
        ///   begin anew. `.unsupportedPredicate`; `StorageError`, with the code `closed` once the container is closed;
        ///   `CancellationError`.
        /// - Complexity: O(n) for n objects changed since the last batch, and the saves that changed them. The first
        ///   batch has the cost of a fetch; so has each with a predicate that reads objects of other entities, if one
        ///   of these has changed.
        public mutating func next() async throws -> ChangeBatch? { try await reader.next() }

        /// The same, called from any actor.
        ///
        /// - Throws: As `next()`.
        /// - Complexity: As `next()`.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ChangeBatch? {
            try await reader.next()
        }
    }
}

extension ChangeReader.Source {
    /// The result of a fetch by class; its order and its window have no effect.
    package static func result<T: PersistentModel>(
        of descriptor: FetchDescriptor<T>
    ) -> @Sendable (ContextCore) throws -> ResultQuery {
        { try ResultQuery(QuerySource(descriptor), $0) }
    }

    /// The result of a fetch by name; its order and its window have no effect.
    package static func result(of request: FetchRequest) -> @Sendable (ContextCore) throws -> ResultQuery {
        { context in
            func result<T: PersistentModel>(_ type: T.Type) throws -> ResultQuery {
                try ResultQuery(QuerySource(request, of: type), context)
            }
            return try result(try context.entity(named: request.entityName).model)
        }
    }

    /// The result of a search; its order, its window and its facets have no effect.
    package static func result<T: PersistentModel>(
        of search: SearchDescriptor<T>
    ) -> @Sendable (ContextCore) throws -> ResultQuery {
        { try ResultQuery(search, $0) }
    }
}
