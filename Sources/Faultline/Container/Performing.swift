internal import FaultlineLog
package import FaultlineObjects

/// The threads and contexts of a container's `perform`.
package final class Performing: Sendable {
    package let pool: ExecutorPool
    package let contexts: ContextPool

    /// - Parameters:
    ///   - options: The bounds.
    ///   - keepsContexts: Whether a context may serve several calls.
    init(_ options: StoreOptions.Performing, keepsContexts: Bool = true) {
        pool = ExecutorPool(threadCount: options.threadCount, queueLimit: options.queueLimit)
        contexts = ContextPool(
            countMax: keepsContexts ? pool.underWayMax : 0, memoryCountMax: keepsContexts ? pool.threadCountMax : 0)
    }

    /// Makes calls that wait, and later ones, throw that the store is closed.
    func close(_ path: String) {
        pool.close(StorageError.translating(LogError.closed(path)))
        contexts.close()
    }
}
