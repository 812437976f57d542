internal import Dispatch
internal import FaultlineObjects

/// Runs code on a thread of its own, with the task-local values of the thread that starts it.
final class WorkerThread: Sendable {
    private let isOver = DispatchSemaphore(value: 0)

    /// Starts it.
    ///
    /// If the system has no thread to give, the code has been run when this returns.
    init(_ body: @escaping @Sendable () -> Void) {
        let isOver = isOver
        Task(executorPreference: SingleThread()) {
            body()
            isOver.signal()
        }
    }

    /// Waits until the code has returned; to be called once.
    func join() { isOver.wait() }
}
