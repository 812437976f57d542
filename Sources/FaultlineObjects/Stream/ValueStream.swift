package import FaultlineLog

/// The objects of a fetch as value copies, batch by batch: an asynchronous sequence that goes to any task.
///
/// - Each batch is read when it is asked for, on a queue of its own: who is slow is waited for, and no thread of Swift's
///   shared pool is held up.
/// - All batches show one state of the store, that of the first one. It is pinned meanwhile, within the limits of
///   `ModelContext.pin`; a stream that outlives them throws `StorageError` with the code `expired`.
/// - One batch is in memory at a time, and no object is made. An order holds eight bytes an object, and a predicate that
///   an index serves holds as much for each object that the index names; else nothing is held.
/// - A task that is cancelled ends its stream between two rows, with `CancellationError`, and lets go of the state; so
///   does an iterator that is dropped.
///
/// Each iterator is a stream of its own.
public struct ValueStream: AsyncSequence, Sendable {
    /// A batch.
    public typealias Element = [ValueCopy]
    /// What `fetch` throws, and `CancellationError`.
    public typealias Failure = any Error

    private let make: @Sendable () -> ValueStreamReader

    package init(_ make: @escaping @Sendable () -> ValueStreamReader) { self.make = make }

    /// Begins a stream; nothing is read before its first batch is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: make()) }

    /// A stream under way.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: ValueStreamReader

        /// The next batch, of at least one object; nil behind the last.
        public mutating func next() async throws -> [ValueCopy]? {
            let reader = reader
            return try await withTaskCancellationHandler {
                try await reader.nextBatch()
            } onCancel: {
                reader.cancel()
            }
        }

        /// The same, wherever it is called from.
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
    /// What a stream may keep of the store, as a pin.
    package static var defaultLimits: PinLimits { PinLimits(nanoseconds: 3_600_000_000_000, byteCount: 1 << 30) }

    /// A reader of a fetch by class.
    package static func reading<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ batchSize: Int, _ contents: ValueCopy.Contents,
        open: @escaping @Sendable () -> ContextCore
    ) -> ValueStreamReader {
        ValueStreamReader(batchSize, contents, defaultLimits, open: open) {
            try QueryStream(QuerySource(descriptor), $0)
        }
    }

    /// A reader of a fetch by name.
    package static func reading(
        _ request: FetchRequest, _ batchSize: Int, _ contents: ValueCopy.Contents,
        open: @escaping @Sendable () -> ContextCore
    ) -> ValueStreamReader {
        ValueStreamReader(batchSize, contents, defaultLimits, open: open) { try QueryStream(QuerySource(request), $0) }
    }
}
