internal import CFaultline
internal import Dispatch
internal import FaultlineDisk
internal import Glibc
internal import Synchronization

// The lives of the threads.

extension ExecutorPool {
    /// The time between two looks at jobs that may wait for the disk.
    private static let tickNanoseconds = 1_000_000

    /// The thread for work that has come; nil if there is no work, or none is needed.
    func sourceOfThread(_ state: inout State) -> PoolThreads.Source? {
        state.hasWork(underWayMax) ? state.threads.take() : nil
    }

    func provide(_ source: PoolThreads.Source?) {
        switch source {
        case .idle: wake.signal()
        case .new: startThread()
        case nil: break
        }
    }

    /// Wakes or makes a thread for work that has come, if one is needed.
    func provideThread() { provide(state.withLock { sourceOfThread(&$0) }) }

    private func startThread() {
        if let thread = SystemThread({ self.work() }) { return thread.detach() }
        // The system has no thread to give: Dispatch lends one.
        DispatchQueue.global().async { self.work(isBorrowed: true) }
    }

    /// Runs jobs until there was none for a while.
    private func work(isBorrowed: Bool = false) {
        if !isBorrowed { fl_name_thread(threadName) }
        state.withLock { $0.threads.noteCame() }
        var beginning: PoolThreads.Tick?
        while true {
            let (work, step, source) = state.withLock { state in
                if let beginning { state.threads.noteJobEnds(beginning) }
                let work = state.threads.mayRun ? next(&state) : nil
                let step = state.threads.next(
                    hasJob: work != nil, jobsWait: state.hasWork(underWayMax),
                    isEnding: isBorrowed || state.refusal != nil)
                // Further work may need a further thread.
                return (work, step, work == nil ? nil : sourceOfThread(&state))
            }
            provide(source)
            beginning = nil
            switch step {
            case .run(let tick):
                if let work { run(work) }
                beginning = tick
            case .watch: watch()
            case .wait: if !waitForWork() { return }
            case .end: return
            }
        }
    }

    private func run(_ work: Work) {
        switch work {
        case .call(let job, let call):
            withExtendedLifetime(call) { job.runSynchronously(on: call.asUnownedTaskExecutor()) }
        case .actor(let job, let executor):
            // The last step of a job may release its actor, and with it its other references to the executor.
            withExtendedLifetime(executor) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
            noteRun(executor)
        }
    }

    /// Lets a tick pass.
    private func watch() {
        var time = timespec(tv_sec: 0, tv_nsec: Self.tickNanoseconds)
        nanosleep(&time, nil)
        state.withLock { $0.threads.endWatching() }
    }

    /// Waits until this thread is woken.
    ///
    /// - Returns: False if there was no work for a while: the thread must end.
    private func waitForWork() -> Bool {
        if wake.wait(timeout: .now() + .seconds(idleSeconds)) != .success {
            if state.withLock({ $0.threads.endIdle() }) { return false }
            // This thread was taken at the last moment.
            wake.wait()
        }
        state.withLock { $0.threads.noteCame() }
        return true
    }
}
