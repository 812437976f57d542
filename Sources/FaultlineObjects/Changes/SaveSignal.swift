internal import FaultlineDisk
internal import Synchronization

/// Wakes one task when the store shows a newer state.
///
/// A state that comes while the task does not wait is remembered, however many there are: one wait then returns at once.
package final class SaveSignal: Sendable {
    private struct State {
        var isSet = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    package init() {}

    /// Ends the wait, or the next one.
    package func set() {
        let waiting = state.withLock { state in
            if state.waiting == nil { state.isSet = true }
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits, without a thread, until `set` is called; returns at once if it was called since the last wait, or if the
    /// task is cancelled.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let old = state.withLock { state -> CheckedContinuation<Void, Never>? in
                    if state.isSet {
                        state.isSet = false
                        return continuation
                    }
                    // Another wait, by a copy of the iterator, ends early and looks again.
                    let old = state.waiting
                    state.waiting = continuation
                    return old
                }
                old?.resume()
            }
        } onCancel: {
            set()
        }
    }
}
