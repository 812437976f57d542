public import FaultlineObjects

// Code that waits for the disk, on a few threads of the container, so that it never blocks the threads that all tasks
// share.

extension ModelContainer {
    /// Runs code with a context of its own on one of the container's threads.
    ///
    ///     let names = try await container.perform { context in try context.fetch(descriptor).map(\.name) }
    ///
    /// A few threads serve any number of calls: first come, first served, and tasks of a higher priority first
    /// (`StoreOptions.Performing`). Fetches and saves in the code block one of these threads, and none that all tasks
    /// share. The form with `await` gives its thread to others during a save.
    ///
    /// The context shows the newest state. It has no unsaved changes, and those that the code leaves are dropped;
    /// autosave has no effect.
    ///
    /// A task that is cancelled before the code begins throws `CancellationError` at once. Once the code runs it runs to
    /// its end; it may check `Task.isCancelled`. A call in the code of another call of the same container does not wait
    /// for a turn.
    ///
    /// - Parameters:
    ///   - longestWait: How long the call may wait for its turn; nil for `StoreOptions.Performing.longestWait`. With
    ///     `.zero` the code begins at once or not at all.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`; `CancellationError`; `StorageError` with the code `busy` if the call has waited
    ///   too long, and `closed` if the container was closed before the code began.
    /// - Complexity: Two switches of threads, beside the cost of `body`. Contexts serve several calls, one after the
    ///   other, and keep nothing of them but memory.
    public nonisolated func perform<R: Sendable>(
        waitingAtMost longestWait: Duration? = nil, _ body: @Sendable (ModelContext) throws -> R
    ) async throws -> R {
        let enclosing = performing.pool.enclosing
        // Code that cannot suspend waits for this call, if it waits, with its thread.
        if let enclosing, enclosing.isBlocking { return try performNow(body) }
        return try await performing.pool.run(
            isBlocking: true, isNested: enclosing != nil, longestWait: longestWait ?? defaultWait
        ) {
            try performNow(body)
        }
    }

    /// Runs code that may suspend with a context of its own on the container's threads.
    ///
    ///     try await container.perform { context in
    ///         context.insert(Visit(page: page))
    ///         try await context.save()
    ///     }
    ///
    /// As the form that does not suspend. While the code is suspended, in a save or in any other call, its thread serves
    /// other calls: the saves of many calls share synchronizations of the disk. At most 32 calls for each thread are
    /// under way, so do not wait for clients in the code.
    ///
    /// - Parameters:
    ///   - longestWait: How long the call may wait for its turn; nil for `StoreOptions.Performing.longestWait`. With
    ///     `.zero` the code begins at once or not at all.
    ///   - body: The code. Its context and objects must not leave its task.
    /// - Returns: The result of `body`.
    /// - Throws: As the form that does not suspend.
    /// - Complexity: As the form that does not suspend, and two switches of threads for each suspension.
    public nonisolated func perform<R: Sendable>(
        waitingAtMost longestWait: Duration? = nil, _ body: @Sendable (TaskContext) async throws -> R
    ) async throws -> R {
        try await performing.pool.run(
            isBlocking: false, isNested: performing.pool.enclosing != nil, longestWait: longestWait ?? defaultWait
        ) {
            if let parts { return try await body(TaskContext(makeCore(), over: parts, owner: self)) }
            return try await performing.contexts.withContext(of: self, make: makeCore, suspending: body)
        }
    }

    private nonisolated var defaultWait: Duration? { configuration.options.performing.longestWait }

    private nonisolated func performNow<R>(_ body: (ModelContext) throws -> R) throws -> R {
        if parts != nil { return try body(ModelContext(self)) }
        return try performing.contexts.withContext(of: self, make: makeCore, body)
    }
}
