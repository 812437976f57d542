internal import FaultlineDisk
internal import Synchronization

/// A task's wait until a pool has no calls under way.
final class PoolDrain: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<Void, Never>)
        case over
    }

    private let state = Guarded(State.new)

    /// Returns when `end` was called, or the calling task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if case .over = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }

    /// Ends the wait, also one that begins later.
    func end() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume()
    }
}
