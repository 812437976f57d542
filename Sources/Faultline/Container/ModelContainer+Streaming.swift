public import FaultlineObjects

// Reading and writing by tasks, without blocking the threads that all tasks share.

extension ModelContainer {
    /// The stored objects of a fetch as value copies, batch by batch.
    ///
    ///     for try await people in container.stream(FetchDescriptor<Person>(), batchSize: 500) { send(people) }
    ///
    /// - Parameters:
    ///   - descriptor: The objects, and their order: by stored properties, text by Swift's `<`.
    ///   - batchSize: The number of objects in a batch; below 1 counts as 1.
    ///   - contents: The contents of a copy beside attributes in the row and to-one relationships.
    /// - Returns: The stream. It throws the errors of `fetch`, and `SwiftDataError.unsupportedSortDescriptor` for
    ///   another order.
    /// - Complexity: O(1): each batch is read when it is requested.
    public nonisolated func stream<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, batchSize: Int = 256, including contents: ValueCopy.Contents = []
    ) -> ValueStream {
        ValueStream { [self] in
            ValueStreamReader.reading(descriptor, batchSize, contents) { [self] in makeCore() }
        }
    }

    /// The stored objects of a fetch by name as value copies, batch by batch; as the form that takes a descriptor.
    ///
    /// - Complexity: O(1): each batch is read when it is requested.
    public nonisolated func stream(
        _ request: FetchRequest, batchSize: Int = 256, including contents: ValueCopy.Contents = []
    ) -> ValueStream {
        ValueStream { [self] in
            ValueStreamReader.reading(request, batchSize, contents) { [self] in makeCore() }
        }
    }

    /// Runs code with a context of its own on a queue of its own, and waits for it without holding a thread.
    ///
    /// Fetches and saves in it block that queue's thread, not the threads that all tasks share. A task that is
    /// cancelled before the code begins throws `CancellationError`. Once the code runs it runs to its end; it may check
    /// `Task.isCancelled` in between.
    ///
    ///     let names = try await container.perform { context in try context.fetch(descriptor).map(\.name) }
    ///
    /// - Parameter body: The code to run; its unsaved changes are dropped.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`; `CancellationError`.
    /// - Complexity: A queue and a context for each call, beside the cost of `body`. A `ModelActor` keeps both between
    ///   its calls.
    public nonisolated func perform<R: Sendable>(
        _ body: @Sendable (ModelContext) throws -> R
    ) async throws -> R {
        try await Performer().run(self, body)
    }
}

/// Runs on a queue of its own.
private actor Performer {
    private let executor = QueueExecutor("faultline.perform")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<R: Sendable>(_ container: ModelContainer, _ body: @Sendable (ModelContext) throws -> R) throws -> R {
        try Task.checkCancellation()
        return try body(ModelContext(container))
    }
}
