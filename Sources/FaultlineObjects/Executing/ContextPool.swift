internal import FaultlineDisk
internal import Synchronization

/// Contexts that the calls of a pool use one after the other: a call does not have to make one.
package final class ContextPool: Sendable {
    private struct State {
        /// Nothing else refers to them.
        var idle: [ContextCore] = []
        var isClosed = false
    }

    /// Contexts that are kept, and those of them that keep memory for rows.
    private let countMax: Int
    private let memoryCountMax: Int
    private let state = Guarded(State())

    package init(countMax: Int, memoryCountMax: Int) {
        self.countMax = countMax
        self.memoryCountMax = memoryCountMax
    }

    /// The number of contexts that wait for a call.
    package var idleCount: Int { state.withLock { $0.idle.count } }

    /// Calls `body` with a context that has no objects and no changes, and shows the newest state of the store.
    ///
    /// - Parameters:
    ///   - owner: Kept alive by the user's context.
    ///   - make: Makes a context where none waits.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`.
    package func withContext<R>(
        of owner: any AnyObject & Sendable, make: () -> ContextCore, _ body: (ModelContext) throws -> R
    ) throws -> R {
        var core = lend(make)
        defer { takeBack(&core) }
        return try Self.use(core, owner, body)
    }

    /// Calls `body` with such a context, whose saves may suspend.
    ///
    /// - Parameters:
    ///   - owner: Kept alive by the user's context.
    ///   - make: Makes a context where none waits.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`.
    nonisolated(nonsending) package func withContext<R>(
        of owner: any AnyObject & Sendable, make: () -> ContextCore, suspending body: (TaskContext) async throws -> R
    ) async throws -> R {
        var core = lend(make)
        defer { takeBack(&core) }
        return try await Self.use(core, owner, body)
    }

    // Functions of their own: when they return, they hold no reference to the context any more.

    @inline(never)
    private static func use<R>(
        _ core: ContextCore, _ owner: any AnyObject & Sendable, _ body: (ModelContext) throws -> R
    ) throws -> R {
        try body(ModelContext(core, owner: owner))
    }

    @inline(never)
    nonisolated(nonsending) private static func use<R>(
        _ core: ContextCore, _ owner: any AnyObject & Sendable, _ body: (TaskContext) async throws -> R
    ) async throws -> R {
        try await body(TaskContext(core, owner: owner))
    }

    /// Drops the contexts that wait, and keeps none from now on.
    package func close() {
        let idle = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.idle
        }
        withExtendedLifetime(idle) {}
    }

    /// A context that has no objects and no changes, and shows the newest state; `takeBack` should follow.
    func lend(_ make: () -> ContextCore) -> ContextCore {
        guard let context = state.withLock({ $0.idle.popLast() }) else { return make() }
        do { try context.begin() } catch { return make() }
        return context
    }

    /// Takes a context back, unless something still refers to it: an object that has escaped from its call.
    func takeBack(_ core: inout ContextCore) {
        guard isKnownUniquelyReferenced(&core) else { return }
        let count = state.withLock { $0.isClosed ? countMax : $0.idle.count }
        guard count < countMax, core.renew(keepsMemory: count < memoryCountMax) else { return }
        state.withLock { [core] state in
            if !state.isClosed, state.idle.count < countMax { state.idle.append(core) }
        }
    }
}
