internal import Dispatch
internal import FaultlineDisk
internal import Synchronization

/// Pauses or cancels a migration, from any thread.
///
/// Put it into the options of a new container, and keep it. It serves one opening after the other.
public final class MigrationControl: Sendable {
    /// How the migration reacts.
    public enum Status: Sendable, Equatable {
        /// It runs, if there is one.
        case running
        /// It was asked to pause, and has not reached a place where it can.
        case pausing
        /// It is paused.
        case paused
        /// It was cancelled, or will be.
        case cancelled
    }

    private struct State {
        var isPaused = false
        var isCancelled = false
        /// Threads that wait.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Guarded(State())
    /// Whether a pause or a cancellation was requested: checked after every object.
    private let isAsked = Atomic<Bool>(false)

    /// Makes a control without requests.
    public init() {}

    /// The request, and whether the migration has reacted to it.
    public var status: Status {
        state.withLock {
            if $0.isCancelled { return .cancelled }
            guard $0.isPaused else { return .running }
            return $0.waiting.isEmpty ? .pausing : .paused
        }
    }

    /// Pauses the migration at the next object, or the next use of a context in a closure, until `resume()` or
    /// `cancel()`.
    ///
    /// It keeps its resources: its memory, the store's lock.
    public func pause() {
        state.withLock { $0.isPaused = true }
        isAsked.store(true, ordering: .releasing)
    }

    /// Resumes a paused migration.
    public func resume() {
        wake { $0.isPaused = false }
    }

    /// Cancels the migration at the next object, or the next use of a context in a closure; opening the container then
    /// throws `MigrationError.Code.cancelled`.
    ///
    /// The store is in its old state. The work of a streamed stage is kept, and so is that of a mapped stage without
    /// policies, or whose policies are all `ResumablePolicy`s: the next opening continues it. The work of a custom
    /// stage, or of another mapped one, is dropped. After the switch the call does nothing. It applies to later
    /// openings, too.
    public func cancel() {
        wake { $0.isCancelled = true }
        isAsked.store(true, ordering: .releasing)
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    /// Waits while the migration is paused.
    ///
    /// - Parameter isCancellable: Whether the old state is still in force.
    /// - Throws: `MigrationError` of code `cancelled`, if it was cancelled.
    func obey(isCancellable: Bool = true) throws(MigrationError) {
        guard isAsked.load(ordering: .acquiring) else { return }
        while true {
            let own = DispatchSemaphore(value: 0)
            let (isCancelled, waits) = state.withLock { state in
                let waits = state.isPaused && !state.isCancelled
                if waits { state.waiting.append(own) }
                return (state.isCancelled, waits)
            }
            if isCancelled {
                guard isCancellable else { return }
                throw MigrationError(
                    .cancelled,
                    "The migration was cancelled. The store is in its old state. The next opening with the same plan continues a streamed stage, and begins any other stage again. An opening under the old schema discards the new rows."
                )
            }
            guard waits else { return }
            own.wait()
        }
    }
}
