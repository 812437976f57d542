internal import CFaultline
internal import Dispatch
internal import FaultlineDisk
internal import Glibc
internal import Synchronization

// The lives of the threads.

extension ExecutorPool {
    /// The time between two looks at jobs that may wait for the disk.
    private static let tickNanoseconds = 1_000_000

    /// The time for the threads.
    static var now: PoolThreads.Tick {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return (time.tv_sec * 1_000_000_000 + time.tv_nsec) / tickNanoseconds
    }

    /// The thread for work that has come; nil if there is no work, or none is needed.
    func sourceOfThread(_ state: inout State) -> PoolThreads.Source? {
        state.hasWork(underWayMax) ? state.threads.take(at: Self.now) : nil
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
        if let thread = SystemThread({ self.work(.taken) }) { return thread.detach() }
        // The system has no thread to give: Dispatch lends one, when it has one.
        state.withLock { $0.threads.noteLent() }
        DispatchQueue.global().async { self.work(.lent) }
    }

    /// Runs jobs until there was none for a while.
    private func work(_ first: PoolThreads.Arrival) {
        let isLent = first == .lent
        if !isLent { fl_name_thread(threadName) }
        var arrival = first
        while true {
            let (work, step, source) = state.withLock { state in
                state.threads.note(arrival, at: Self.now)
                let work = state.threads.mayRun ? next(&state) : nil
                let step = state.threads.next(
                    hasJob: work != nil, jobsWait: state.hasWork(underWayMax),
                    isEnding: isLent || state.refusal != nil)
                // Further work may need a further thread.
                return (work, step, work == nil ? nil : sourceOfThread(&state))
            }
            provide(source)
            switch step {
            case .run(let tick):
                if let work { run(work) }
                arrival = .ran(tick)
            case .watch:
                SystemThread.sleep(nanoseconds: UInt64(Self.tickNanoseconds))
                arrival = .watched
            case .wait:
                if !waitForWork() { return }
                arrival = .taken
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

    /// Waits until this thread is woken.
    ///
    /// - Returns: False if there was no work for a while: the thread must end.
    private func waitForWork() -> Bool {
        if wake.wait(timeout: .now() + .seconds(idleSeconds)) != .success {
            if state.withLock({ $0.threads.endIdle() }) { return false }
            // This thread was taken at the last moment.
            wake.wait()
        }
        return true
    }
}
