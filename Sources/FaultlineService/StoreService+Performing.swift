#if Service
internal import Faultline
public import FaultlineObjects

// Calls of the store, each in a span.

extension StoreService {
    /// Runs code with a context of its own on one of the store's threads, in a span.
    ///
    ///     let names = try await store.perform("list photos") { context in try context.fetch(all).map(\.name) }
    ///
    /// As `ModelContainer.perform`. While the store is being opened the call waits, without a thread.
    ///
    /// The span `faultline.perform` has the given name as `db.operation.name`, and records a thrown error. Spans that
    /// the code begins are its children.
    ///
    /// - Parameters:
    ///   - name: The name of the call for traces: few different ones, without values; by default that of the calling
    ///     function.
    ///   - longestWait: How long the call may wait for the opening and for its turn; nil for
    ///     `StoreOptions.Performing.longestWait`.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`; `CancellationError`; `StorageError` with the code `busy` if the call has waited
    ///   too long, and `closed` if the service shuts down; the error of the opening if it has failed.
    /// - Complexity: As `ModelContainer.perform`. Without a tracer nothing is recorded.
    public func perform<R: Sendable>(
        _ name: String = #function, waitingAtMost longestWait: Duration? = nil,
        _ body: @Sendable (ModelContext) throws -> R
    ) async throws -> R {
        try await StoreSpan.perform.run(life.name, operation: name) { _ in
            let (container, wait) = try await opened(longestWait)
            return try await container.perform(waitingAtMost: wait, body)
        }
    }

    /// Runs code that may suspend with a context of its own on the store's threads, in a span.
    ///
    ///     try await store.perform("add visit") { context in
    ///         context.insert(Visit(page: page))
    ///         try await context.save()
    ///     }
    ///
    /// As the form that does not suspend. While the code is suspended, its thread serves other calls.
    ///
    /// - Parameters:
    ///   - name: As for the form that does not suspend.
    ///   - longestWait: As for the form that does not suspend.
    ///   - body: The code. Its context and objects must not leave its task.
    /// - Returns: The result of `body`.
    /// - Throws: As the form that does not suspend.
    /// - Complexity: As the form that does not suspend, and two switches of threads for each suspension.
    public func perform<R: Sendable>(
        _ name: String = #function, waitingAtMost longestWait: Duration? = nil,
        _ body: @Sendable (TaskContext) async throws -> R
    ) async throws -> R {
        try await StoreSpan.perform.run(life.name, operation: name) { _ in
            let (container, wait) = try await opened(longestWait)
            return try await container.perform(waitingAtMost: wait, body)
        }
    }

    /// The container, and the rest of a wait.
    private func opened(_ longestWait: Duration?) async throws -> (ModelContainer, Duration?) {
        if let container = life.openContainer { return (container, longestWait) }
        guard let wait = longestWait ?? defaultWait else { return (try await container, nil) }
        let start = ContinuousClock.now
        let container = try await life.container(waitingAtMost: wait)
        return (container, max(wait - (.now - start), .zero))
    }
}
#endif
