internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore
internal import Synchronization

/// Calls an observer on its actor after saves; many saves in quick succession make one call.
// Safe because the closure is called on the actor alone, and what changes is under a lock.
final class ObserverLink: @unchecked Sendable {
    private struct State {
        var isScheduled = false
        var listener: SaveListener?
        var following: Task<Void, Never>?
    }

    /// Weak, because the actor may own the observer.
    private weak var actor: (any Actor)?
    private let call: () -> Void
    private let state = Guarded(State())

    /// - Parameters:
    ///   - actor: The observer's actor.
    ///   - call: Called on it.
    init(_ actor: any Actor, _ call: @escaping () -> Void) {
        self.actor = actor
        self.call = call
    }

    /// Listens to saves of a context's store, and to its unsaved changes.
    func listen(to context: ContextCore) {
        let log = context.store.log
        let listener = log.listen { [weak self] in self?.schedule() }
        // Another process cannot call: the link has to look.
        let following =
            !log.isFollowing
            ? nil
            : Task.detached { [weak self] in
                while !Task.isCancelled, self != nil {
                    try? await Task.sleep(for: ChangeReader.followingInterval)
                    try? log.follow()
                }
            }
        state.withLock { state in
            state.listener = listener
            state.following = following
        }
        context.watchUnsaved { [weak self] in
            self?.schedule()
            return self != nil
        }
    }

    func end() {
        let (listener, following) = state.withLock { state in
            defer { state = State(isScheduled: true) }
            return (state.listener, state.following)
        }
        following?.cancel()
        withExtendedLifetime(listener) {}
    }

    private func schedule() {
        let isNew = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isNew else { return }
        Task.detached { [self] in if let actor { await run(on: actor) } }
    }

    private func run(on actor: isolated any Actor) {
        state.withLock { state in if state.listener != nil { state.isScheduled = false } }
        call()
    }
}
