package import FaultlineLog

/// The objects of a fetch as value copies, batch by batch: an asynchronous sequence for any task.
///
/// - Each batch is read on demand, on a thread of the container: a slow reader delays only itself, and no thread of
///   Swift's shared pool is blocked.
/// - All batches show one state of the store, that of the first one. It is pinned for the time of the stream, within
///   the limits of `ModelContext.pin`; a stream that exceeds them throws `StorageError` with the code `expired`.
/// - One batch is in memory at a time, and no object is made. A sort order holds eight bytes an object, and so does a
///   predicate with an index for each object that the index names; otherwise nothing is held.
/// - Cancelling the task ends its stream between two rows, with `CancellationError`, and releases the state; so does
///   dropping the iterator.
///
/// Each iterator is a stream of its own.
public struct ValueStream: AsyncSequence, Sendable {
    /// A batch.
    public typealias Element = [ValueCopy]
    /// The errors of `fetch`, and `CancellationError`.
    public typealias Failure = any Error

    private let make: @Sendable () -> ValueStreamReader

    package init(_ make: @escaping @Sendable () -> ValueStreamReader) { self.make = make }

    /// Begins a stream; nothing is read before its first batch is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: make()) }

    /// A stream under way.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: ValueStreamReader

        /// The next batch, of at least one object; nil at the end.
        ///
        /// - Throws: The errors of `fetch`; `StorageError` with the code `expired`; `CancellationError`.
        /// - Complexity: O(n) for the n objects of the batch, and the rows between them that the predicate excludes.
        ///   With an order, the first call finds all objects.
        public mutating func next() async throws -> [ValueCopy]? {
            let reader = reader
            return try await withTaskCancellationHandler {
                try await reader.nextBatch()
            } onCancel: {
                reader.cancel()
            }
        }

        /// The same, called from any actor.
        ///
        /// - Throws: The errors of `fetch`; `StorageError` with the code `expired`; `CancellationError`.
        /// - Complexity: O(n) for the n objects of the batch, and the rows between them that the predicate excludes.
        ///   With an order, the first call finds all objects.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [ValueCopy]? {
            let reader = reader
            return try await withTaskCancellationHandler {
                try await reader.nextBatch()
            } onCancel: {
                reader.cancel()
            }
        }
    }
}

extension ValueStreamReader {
    /// The limits of a stream's pin.
    package static var defaultLimits: PinLimits { PinLimits(nanoseconds: 3_600_000_000_000, byteCount: 1 << 30) }

    /// A reader of a fetch by class.
    package static func reading<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ batchSize: Int, _ contents: ValueCopy.Contents,
        on pool: ExecutorPool, open: @escaping @Sendable () -> ContextCore
    ) -> ValueStreamReader {
        ValueStreamReader(batchSize, contents, defaultLimits, on: pool, open: open) {
            try QueryStream(QuerySource(descriptor), $0)
        }
    }

    /// A reader of a fetch by name.
    package static func reading(
        _ request: FetchRequest, _ batchSize: Int, _ contents: ValueCopy.Contents,
        on pool: ExecutorPool, open: @escaping @Sendable () -> ContextCore
    ) -> ValueStreamReader {
        ValueStreamReader(batchSize, contents, defaultLimits, on: pool, open: open) { context in
            func stream<T: PersistentModel>(_ type: T.Type) throws -> any StreamSource {
                try QueryStream(QuerySource(request, of: type), context)
            }
            return try stream(try context.entity(named: request.entityName).model)
        }
    }
}
