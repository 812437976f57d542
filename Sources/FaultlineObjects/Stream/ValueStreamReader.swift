package import FaultlineLog
internal import FaultlineStore
internal import Synchronization

/// Reads the batches of a stream on demand, on the threads of a pool.
///
/// An actor whose jobs run there one after the other, so that its reads never block Swift's shared threads. A batch is read after
/// the one before was taken, so that a slow reader blocks no thread.
package actor ValueStreamReader {
    private let executor: PoolSerialExecutor
    private let contents: ValueCopy.Contents
    private let batchSize: Int
    private let limits: PinLimits
    private let open: @Sendable () -> ContextCore
    private let prepare: @Sendable (ContextCore) throws -> any StreamSource
    /// Set by `cancel()`, checked by the reader between two rows.
    private let isCancelled = Cancellation()
    /// The context, and the source of the rest; nil before the first batch and after the last.
    private var reading: (context: ContextCore, source: any StreamSource)?
    private var hasBegun = false
    private var number: RecordID = 0

    package final class Cancellation: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
        func check() throws { if isSet { throw CancellationError() } }
    }

    package init(
        _ batchSize: Int, _ contents: ValueCopy.Contents, _ limits: PinLimits, on pool: ExecutorPool,
        open: @escaping @Sendable () -> ContextCore,
        prepare: @escaping @Sendable (ContextCore) throws -> any StreamSource
    ) {
        executor = PoolSerialExecutor(pool)
        self.batchSize = max(batchSize, 1)
        self.contents = contents
        self.limits = limits
        self.open = open
        self.prepare = prepare
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes the batch that is being read, and all later ones, end with `CancellationError`.
    package nonisolated func cancel() { isCancelled.set() }

    /// The next batch; nil at the end.
    package func nextBatch() throws -> [ValueCopy]? {
        if isCancelled.isSet {
            end()
            throw CancellationError()
        }
        do {
            if !hasBegun { try begin() }
            guard let (context, source) = reading else { return nil }
            let batch = try context.throwing {
                try source.next(context, batchSize, contents, isCancelled)
            }
            if batch.count < batchSize { end() }
            return batch.isEmpty ? nil : batch
        } catch {
            end()
            throw error
        }
    }

    private func begin() throws {
        hasBegun = true
        let context = open()
        try context.throwing {
            try context.beginReading()
            defer { context.endReading() }
            try context.moveToNewest()
            // First, because a data store may load objects: then the context moves on to their state.
            reading = (context, try prepare(context))
            try context.pin(limits, "stream")
        }
    }

    /// Releases the state that was read.
    private func end() { reading = nil }

    /// Whether the reader holds a context and the numbers of a sort; for tests.
    package var isReading: Bool { reading != nil }
}
