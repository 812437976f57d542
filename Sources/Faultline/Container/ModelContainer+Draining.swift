internal import FaultlineObjects

// The end of a service.

extension ModelContainer {
    /// Closes the store when no call of `perform` is under way.
    ///
    /// Calls that wait for their turn, and later ones, throw that the store is closed. A cancelled task waits for no
    /// call: the store is closed at once, and calls under way meet the error too.
    ///
    /// - Throws: As `close()`.
    package nonisolated func closeAfterCalls() async throws {
        performing.close(configuration.url.path)
        await performing.pool.drain()
        if let parts { for container in parts.containers { try await container.closeAfterCalls() } }
        // Writes a checkpoint: not on a thread that all tasks share.
        try await withTaskExecutorPreference(SingleThread()) { try close() }
    }
}
