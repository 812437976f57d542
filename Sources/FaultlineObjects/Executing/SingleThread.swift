internal import FaultlineDisk

/// Runs each job on a thread of its own, for code that blocks for long; on the calling thread if the system has none to
/// give.
package final class SingleThread: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let run: @Sendable () -> Void = { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        guard let thread = SystemThread(run) else { return run() }
        thread.detach()
    }
}
