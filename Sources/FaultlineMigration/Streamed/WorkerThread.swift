internal import Dispatch
internal import Glibc

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

/// Gives each job a thread.
private final class SingleThread: TaskExecutor {
    private final class Start {
        let job: UnownedJob
        let executor: SingleThread

        init(_ job: UnownedJob, _ executor: SingleThread) {
            self.job = job
            self.executor = executor
        }

        func run() { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let start = Start(UnownedJob(job), self)
        let reference = Unmanaged.passRetained(start)
        var handle = pthread_t()
        let status = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, reference.toOpaque())
        guard status == 0 else {
            reference.release()
            return start.run()
        }
        pthread_detach(handle)
    }
}
