#if Service
internal import CoreMetrics
internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineObjects
internal import Synchronization

/// The phases of a service's store, and the tasks that wait for its opening.
final class StoreLife: Sendable {
    enum Phase {
        /// Before `run()`.
        case new
        /// With the newest progress of a migration, if there is one.
        case opening(MigrationProgress?)
        case ready(ModelContainer)
        case closing(ModelContainer)
        case closed
        case failed(any Error)
    }

    private typealias Waiter = CheckedContinuation<ModelContainer, any Error>

    private struct State {
        var phase = Phase.new
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state = Guarded(State())
    /// The name of the store.
    let name: String
    private let path: String
    /// 1 while the store is ready, otherwise 0; nil without metrics.
    private let readiness: Gauge?

    init(_ configuration: ModelConfiguration) {
        name = configuration.name
        path = configuration.url.path
        readiness = configuration.options.reporting.metrics.map { metrics in
            Gauge(
                label: "faultline_ready", dimensions: [("store", configuration.name)] + metrics.dimensions,
                factory: metrics.factory ?? MetricsSystem.factory)
        }
        readiness?.record(0)
    }

    /// Begins the opening.
    ///
    /// - Returns: False if it has begun before.
    func begin() -> Bool {
        state.withLock { state in
            guard case .new = state.phase else { return false }
            state.phase = .opening(nil)
            return true
        }
    }

    /// Takes note of the progress of a migration.
    func note(_ progress: MigrationProgress) {
        state.withLock { state in
            if case .opening = state.phase { state.phase = .opening(progress) }
        }
    }

    /// Enters a phase, and ends the wait of tasks if the phase has an answer for them.
    func become(_ phase: Phase) {
        let path = path
        let (waiters, answer) = state.withLock { state -> ([Waiter], Result<ModelContainer, any Error>?) in
            state.phase = phase
            guard let answer = Self.answer(phase, path) else { return ([], nil) }
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), answer)
        }
        if case .ready = phase { readiness?.record(1) } else { readiness?.record(0) }
        guard let answer else { return }
        for waiter in waiters { waiter.resume(with: answer) }
    }

    /// The container, or the reason why there is none; nil while the store is not open yet.
    private static func answer(_ phase: Phase, _ path: String) -> Result<ModelContainer, any Error>? {
        switch phase {
        case .new, .opening: nil
        case .ready(let container): .success(container)
        case .closing, .closed: .failure(StorageError.translating(LogError.closed(path)))
        case .failed(let error): .failure(error)
        }
    }

    // MARK: Waiting

    /// The container of the open store; suspends the task until there is an answer.
    func container() async throws -> ModelContainer {
        let path = path
        let (number, answer) = state.withLock { state -> (Int, Result<ModelContainer, any Error>?) in
            state.nextWaiter &+= 1
            return (state.nextWaiter, Self.answer(state.phase, path))
        }
        if let answer { return try answer.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                if let answer = add(waiter, number) { waiter.resume(with: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    /// Lets a continuation wait.
    ///
    /// - Returns: The answer, if there is one already: then it does not wait.
    private func add(_ waiter: Waiter, _ number: Int) -> Result<ModelContainer, any Error>? {
        let path = path
        return state.withLock { state in
            if let answer = Self.answer(state.phase, path) { return answer }
            // The handler of the cancellation has run, or waits for the lock and finds the continuation.
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters[number] = waiter
            return nil
        }
    }

    /// The container, after at most a given time.
    ///
    /// - Throws: `StorageError` with the code `busy` after that time.
    func container(waitingAtMost wait: Duration) async throws -> ModelContainer {
        try await withThrowingTaskGroup(of: ModelContainer.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.container() }
            group.addTask {
                try await Task.sleep(for: wait)
                throw StorageError(
                    busy:
                        "The store was not open within \(wait): \(self.health). Nothing was done. Try again later, or allow a longer wait."
                )
            }
            guard let container = try await group.next() else { throw CancellationError() }
            return container
        }
    }

    /// The container if the store is ready, otherwise nil.
    var openContainer: ModelContainer? {
        state.withLock { if case .ready(let container) = $0.phase { container } else { nil } }
    }

    /// The tasks that wait now.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    var health: StoreService.Health { StoreService.Health(state.withLock { $0.phase }) }
}
#endif
