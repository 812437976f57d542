internal import Dispatch

/// Runs the jobs of an actor on a queue of its own, so that its reads and writes never block Swift's shared threads.
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Puts a job at the end of the queue; returns at once.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The executor outlives the job: the last step of a job may release its actor, on another thread.
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// This executor, not retained: its actor keeps it alive.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
