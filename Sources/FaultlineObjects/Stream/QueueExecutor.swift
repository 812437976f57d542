internal import Dispatch

/// Runs the jobs of an actor on a queue of its own, so that what they read and write never holds up Swift's shared
/// threads.
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Puts a job behind the others; returns at once.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// This executor, not retained: its actor keeps it alive.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
