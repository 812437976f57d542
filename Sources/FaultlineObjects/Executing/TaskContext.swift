/// The context of a call of `ModelContainer.perform` whose code may suspend.
///
///     try await container.perform { context in
///         context.insert(Visit(page: page))
///         try await context.save()
///     }
public final class TaskContext: ModelContext {
    /// Writes all unsaved changes in one transaction, and suspends the task until they are durable.
    ///
    /// As `ModelContext.save()`, but no thread waits for the disk: the thread serves other calls in the meantime, and
    /// their saves share the next synchronization. Only the task of the call may use the context, so nothing sees it
    /// halfway.
    ///
    /// Durability: as `ModelContext.save()`. Cancelling the task does not stop the save.
    ///
    /// - Throws: As `ModelContext.save()`.
    /// - Complexity: As `ModelContext.save()`.
    nonisolated(nonsending) public func save() async throws { try await saveSuspending() }
}
