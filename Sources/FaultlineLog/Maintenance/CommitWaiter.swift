import FaultlineDisk
import Synchronization

/// A queued commit that a suspended task waits for.
package final class CommitWait: Sendable {
    fileprivate let request: CommitRequest
    fileprivate let leads: Bool
    private let state = Guarded<(isDone: Bool, notify: (@Sendable () -> Void)?)>((false, nil))

    fileprivate init(_ request: CommitRequest, leads: Bool) {
        self.request = request
        self.leads = leads
    }

    /// Calls `notify` once the commit is done: at once if it is, else on the thread that waits for it.
    ///
    /// To be called at most once.
    package func whenDone(_ notify: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state in
            if !state.isDone { state.notify = notify }
            return state.isDone
        }
        if isDone { notify() }
    }

    fileprivate func end() {
        let notify = state.withLock { state in
            state.isDone = true
            return state.notify.take()
        }
        notify?()
    }
}

/// Waits for the commits of suspended tasks, in the order of the queue, on one thread.
///
/// The thread leads a group of commits where no other thread does. While it synchronizes, the threads of the tasks
/// queue further commits, which share the next synchronization.
///
/// Commits are added in the writer's turn: if the thread waits for one, all earlier ones are done, or led by a thread
/// that has work of its own.
final class CommitWaiter: Sendable {
    private struct State {
        var waits: [CommitWait] = []
        var hasBegun = false
        var isStopped = false
    }

    private let committer: Committer
    private let thread = SleepingThread()
    private let state = Guarded(State())

    init(_ committer: Committer) { self.committer = committer }

    /// Adds a commit that was queued just now; called with the writer lock held.
    ///
    /// - Returns: Its wait; nil if there is no thread, so that the caller has to wait itself.
    func add(_ request: CommitRequest, leads: Bool) -> CommitWait? {
        let wait = CommitWait(request, leads: leads)
        let isAdded = state.withLock { state in
            guard !state.isStopped else { return false }
            if !state.hasBegun {
                state.hasBegun = true
                thread.start { [self] in run() }
            }
            guard thread.isRunning else { return false }
            state.waits.append(wait)
            return true
        }
        guard isAdded else { return nil }
        thread.wake()
        return wait
    }

    /// Ends the thread after the last wait.
    func stop() {
        let hasBegun = state.withLock { state in
            state.isStopped = true
            return state.hasBegun
        }
        if hasBegun { thread.stop() }
    }

    private func run() {
        while true {
            let isEnding = thread.isStopping
            for wait in state.withLock({ state in
                defer { state.waits.removeAll() }
                return state.waits
            }) {
                committer.finish(wait.request, leads: wait.leads)
                wait.end()
            }
            // All waits that were added before the stop are done.
            if isEnding { return }
            thread.sleep()
        }
    }
}
