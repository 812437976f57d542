internal import Dispatch
internal import FaultlineDisk
internal import Synchronization

/// Stops a migration for a while, or for good, from whatever thread.
///
/// Give it to the options of the container that is made, and keep it. It serves one opening after the other.
public final class MigrationControl: Sendable {
    /// What a migration does about it.
    public enum Status: Sendable, Equatable {
        /// Nothing: it runs, if there is one.
        case running
        /// It is to wait, and has not come to a place where it can.
        case pausing
        /// It waits.
        case paused
        /// It is to stop, or has.
        case cancelled
    }

    private struct State {
        var isPaused = false
        var isCancelled = false
        /// Threads that wait.
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Guarded(State())
    /// Whether there is anything to do at all: asked after every object.
    private let isAsked = Atomic<Bool>(false)

    /// Nothing is asked yet.
    public init() {}

    /// What was asked for, and whether the migration has come to it.
    public var status: Status {
        state.withLock {
            if $0.isCancelled { return .cancelled }
            guard $0.isPaused else { return .running }
            return $0.waiting.isEmpty ? .pausing : .paused
        }
    }

    /// Lets the migration wait at the next object, or the next use of a context in a closure, until `resume()` or
    /// `cancel()`.
    ///
    /// What it holds it keeps: its memory, the store's lock.
    public func pause() {
        state.withLock { $0.isPaused = true }
        isAsked.store(true, ordering: .releasing)
    }

    /// Lets a migration that was paused go on.
    public func resume() {
        wake { $0.isPaused = false }
    }

    /// Stops the migration at the next object, or the next use of a context in a closure; what opens the container then
    /// throws `MigrationError.Code.cancelled`.
    ///
    /// The store is in its old state. What a streamed stage has done stays, and so does that of a mapped stage without
    /// policies, or whose policies are all `ResumablePolicy`s: the next opening goes on with it. A custom stage, or
    /// another mapped one, is given up. After the switch it does nothing. It holds for later openings, too.
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

    /// Waits while it is paused.
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
                    "The migration was cancelled. The store is in its old state. The next opening with the same plan goes on where a streamed stage was, and begins any other stage again; an opening under the old schema gives up what was done."
                )
            }
            guard waits else { return }
            own.wait()
        }
    }
}
