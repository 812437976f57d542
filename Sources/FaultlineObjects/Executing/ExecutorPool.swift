internal import CFaultline
internal import Dispatch
internal import FaultlineDisk
internal import Glibc
internal import Synchronization

/// Runs calls that block on a bounded number of threads, so that they never block Swift's shared threads.
///
/// Threads are made when there is work for them, at most `threadCountMax`, and end when they were idle for a while. A
/// call begins when a thread is free. A suspended call has no thread; it keeps its place among the calls under way, of
/// which there are at most 32 for each thread.
package final class ExecutorPool: Sendable {
    /// The numbers of calls and threads at one moment.
    package struct Counts: Equatable {
        /// Threads that live, and those of them that have no work.
        package var threads = 0
        package var idleThreads = 0
        /// Calls that have begun and are not over, without nested ones.
        package var underWay = 0
        /// Calls that wait in the queue, and calls that wait for a place in it.
        package var queued = 0
        package var overflow = 0
    }

    private typealias CallJob = (UnownedJob, PoolCall)

    private struct State {
        /// Jobs of calls that have begun.
        var ready = Fifo<CallJob>()
        /// Jobs of nested calls.
        var nested = Fifo<CallJob>()
        /// Jobs of actors, at most one of each.
        var actors = Fifo<(UnownedJob, PoolSerialExecutor)>()
        /// Whether it is the turn of an actor rather than of a call that waits.
        var isTurnOfActor = true
        var queue: CallQueue
        var counts = Counts()
        /// Why no call may begin; nil if calls may.
        var refusal: (any Error)?
        /// When the timer for deadlines fires; nil if it is not set.
        var alarm: ContinuousClock.Instant?
        /// Tasks that wait until no call is under way.
        var drains: [PoolDrain] = []
    }

    /// The name of its threads in the system's lists.
    package let threadName: String
    package let threadCountMax: Int
    package let underWayMax: Int
    private let idleSeconds: Int
    private static let number = Atomic(0)
    private let state: Guarded<State>
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - threadCount: The number of threads; nil for two for each processor. At least 1.
    ///   - queueLimit: Calls that wait by priority; further ones wait behind them.
    ///   - idleSeconds: The time after which a thread without work ends.
    package init(threadCount: Int?, queueLimit: Int, idleSeconds: Int = 10) {
        threadCountMax = max(threadCount ?? 2 * max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1), 1)
        underWayMax = threadCountMax * 32
        self.idleSeconds = idleSeconds
        threadName = "perform-\(Self.number.add(1, ordering: .relaxed).newValue % 10_000)"
        state = Guarded(State(queue: CallQueue(limit: queueLimit)))
    }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.queued = state.queue.queuedCount
            counts.overflow = state.queue.overflowCount
            return counts
        }
    }

    // MARK: Calls

    /// Runs a call on one of the pool's threads, when it is its turn.
    ///
    /// - Parameters:
    ///   - isBlocking: Whether its code never suspends.
    ///   - isNested: Whether the code of another call has made it: then it runs before all that wait.
    ///   - longestWait: The time after which it no longer waits; nil for no limit.
    ///   - body: The code.
    /// - Returns: The result of `body`.
    /// - Throws: `CancellationError` if the task is cancelled before the code begins; `StorageError` with the code
    ///   `busy`; the error of `close`; the errors of `body`.
    package func run<R: Sendable>(
        isBlocking: Bool, isNested: Bool, longestWait: Duration?, _ body: @Sendable () async throws -> R
    ) async throws -> R {
        let call = PoolCall(self, isBlocking: isBlocking, isNested: isNested, longestWait: longestWait)
        return try await withTaskCancellationHandler {
            try await withTaskExecutorPreference(call) {
                try begin(call)
                defer { end(call) }
                try Task.checkCancellation()
                return try await PoolCall.$current.withValue(call, operation: body)
            }
        } onCancel: {
            refuse(call, CancellationError())
        }
    }

    /// The call of this pool that the calling task belongs to; nil if there is none, or if it is over.
    package var enclosing: PoolCall? {
        guard let call = PoolCall.current, call.pool === self else { return nil }
        return state.withLock { _ in if case .begun = call.phase { call } else { nil } }
    }

    /// Makes all calls that wait, and all later ones, throw an error, and ends the threads once they have no work.
    ///
    /// Calls under way are not affected.
    package func close(_ error: any Error) {
        let (wakes, jobs) = state.withLock { state in
            state.refusal = error
            var waiting: [PoolCall] = []
            state.queue.forEach { waiting.append($0) }
            defer { state.counts.idleThreads = 0 }
            return (state.counts.idleThreads, waiting.compactMap { Self.refuse($0, error, &state) })
        }
        for _ in 0..<wakes { wake.signal() }
        Self.runRefused(jobs)
    }

    /// Waits until no call is under way, or the calling task is cancelled.
    package func drain() async {
        let drain = PoolDrain()
        let isIdle = state.withLock { state in
            if state.counts.underWay > 0 { state.drains.append(drain) }
            return state.counts.underWay == 0
        }
        if !isIdle { await drain.wait() }
    }

    /// Takes note that the task of a call has begun to run its code.
    private func begin(_ call: PoolCall) throws {
        try state.withLock { _ in
            if case .refused(let error) = call.phase { throw error }
        }
    }

    private func end(_ call: PoolCall) {
        let drains = state.withLock { state -> [PoolDrain] in
            call.phase = .over
            if !call.isNested { state.counts.underWay -= 1 }
            guard state.counts.underWay == 0 else { return [] }
            defer { state.drains = [] }
            return state.drains
        }
        for drain in drains { drain.end() }
        // This thread may have other work.
        provideThread()
    }

    private func refuse(_ call: PoolCall, _ error: any Error) {
        if let job = state.withLock({ Self.refuse(call, error, &$0) }) { Self.runRefused([job]) }
    }

    /// Makes a call throw an error, unless it has begun.
    ///
    /// - Returns: The job that throws it, if the call was waiting.
    private static func refuse(_ call: PoolCall, _ error: any Error, _ state: inout State) -> CallJob? {
        switch call.phase {
        case .new:
            call.phase = .refused(error)
            return nil
        case .waiting(let job):
            call.phase = .refused(error)
            state.queue.noteGone(call)
            return (job, call)
        case .refused, .begun, .over: return nil
        }
    }

    /// Lets refused calls throw their errors on a thread of Dispatch: the pool's threads may all be blocked.
    private static func runRefused(_ jobs: [CallJob]) {
        guard !jobs.isEmpty else { return }
        DispatchQueue.global().async {
            for (job, call) in jobs { job.runSynchronously(on: call.asUnownedTaskExecutor()) }
        }
    }

    // MARK: Jobs

    func enqueue(_ job: UnownedJob, _ call: PoolCall) {
        let (step, source) = state.withLock { state in (note(job, call, &state), sourceOfThread(&state)) }
        provide(source)
        switch step {
        case .refuse(let job): Self.runRefused([job])
        case .setAlarm(let alarm): setAlarm(alarm)
        case nil: break
        }
    }

    /// A step that follows outside of the lock.
    private enum Step {
        case refuse(CallJob)
        /// Calls must be searched for late ones at a moment.
        case setAlarm(ContinuousClock.Instant)
    }

    /// Puts a job where a thread will find it.
    private func note(_ job: UnownedJob, _ call: PoolCall, _ state: inout State) -> Step? {
        switch call.phase {
        case .new: break
        case .refused: return .refuse((job, call))
        case .waiting, .begun, .over:
            state.ready.append((job, call))
            return nil
        }
        if call.isNested {
            call.phase = .begun
            state.nested.append((job, call))
            return nil
        }
        let isFree = state.queue.count == 0 && canBegin(state.counts)
        call.phase = .waiting(job)
        call.priority = job.priority.rawValue
        state.queue.append(call)
        if let refusal = state.refusal { return Self.refuse(call, refusal, &state).map(Step.refuse) }
        guard let deadline = call.deadline, !isFree else { return nil }
        if deadline <= .now { return Self.refuse(call, Self.busy(call, state), &state).map(Step.refuse) }
        guard state.alarm.map({ deadline < $0 }) ?? true else { return nil }
        state.alarm = deadline
        return .setAlarm(deadline)
    }

    /// Puts a job of an actor where a thread will find it, unless an earlier one of the actor waits or runs.
    func enqueue(_ job: UnownedJob, _ executor: PoolSerialExecutor) {
        let source = state.withLock { state -> ThreadSource? in
            if executor.isBusy {
                executor.jobs.append(job)
                return nil
            }
            executor.isBusy = true
            state.actors.append((job, executor))
            return sourceOfThread(&state)
        }
        provide(source)
    }

    /// Takes note that a job of an actor has run.
    private func noteRun(_ executor: PoolSerialExecutor) {
        let source = state.withLock { state -> ThreadSource? in
            guard let next = executor.jobs.popFirst() else {
                executor.isBusy = false
                return nil
            }
            state.actors.append((next, executor))
            return sourceOfThread(&state)
        }
        provide(source)
    }

    /// Whether a call that comes now begins at once, if none waits.
    private func canBegin(_ counts: Counts) -> Bool {
        counts.underWay < underWayMax && (counts.idleThreads > 0 || counts.threads < threadCountMax)
    }

    private enum ThreadSource { case idle, new }

    /// The thread for work that has come; nil if there is no work, or all threads have some.
    private func sourceOfThread(_ state: inout State) -> ThreadSource? {
        let hasWork =
            state.nested.count > 0 || state.ready.count > 0 || state.actors.count > 0
            || state.counts.underWay < underWayMax && state.queue.count > 0
        guard hasWork else { return nil }
        if state.counts.idleThreads > 0 {
            state.counts.idleThreads -= 1
            return .idle
        }
        guard state.counts.threads < threadCountMax else { return nil }
        state.counts.threads += 1
        return .new
    }

    private func provide(_ source: ThreadSource?) {
        switch source {
        case .idle: wake.signal()
        case .new: startThread()
        case nil: break
        }
    }

    /// Wakes or makes a thread for work that has come, if there is one to be had.
    private func provideThread() { provide(state.withLock { sourceOfThread(&$0) }) }

    private enum Work {
        case call(UnownedJob, PoolCall)
        case actor(UnownedJob, PoolSerialExecutor)
    }

    /// Takes the next job; nil if there is none.
    private func next(_ state: inout State) -> Work? {
        if let (job, call) = state.nested.popFirst() ?? state.ready.popFirst() { return .call(job, call) }
        // Actors and calls take turns, so that neither waits for all of the others.
        let isTurnOfActor = state.isTurnOfActor
        state.isTurnOfActor.toggle()
        if isTurnOfActor { return nextOfActor(&state) ?? nextCall(&state) }
        return nextCall(&state) ?? nextOfActor(&state)
    }

    private func nextOfActor(_ state: inout State) -> Work? {
        state.actors.popFirst().map { Work.actor($0, $1) }
    }

    private func nextCall(_ state: inout State) -> Work? {
        guard state.counts.underWay < underWayMax, let call = state.queue.popFirst(),
            case .waiting(let job) = call.phase
        else { return nil }
        call.phase = .begun
        state.counts.underWay += 1
        return .call(job, call)
    }

    // MARK: Deadlines

    /// The least time between two searches for calls that have waited too long.
    private static let alarmGap = Duration.milliseconds(5)

    private func setAlarm(_ alarm: ContinuousClock.Instant) {
        let (seconds, attoseconds) = max(alarm - .now, .zero).components
        let delay = Double(seconds) + Double(attoseconds) / 1e18
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.refuseLate(alarm)
        }
    }

    /// Refuses the calls that have waited too long; does nothing if another alarm was set since.
    private func refuseLate(_ alarm: ContinuousClock.Instant) {
        let (next, jobs) = state.withLock { state -> (ContinuousClock.Instant?, [CallJob]) in
            guard state.alarm == alarm else { return (nil, []) }
            let now = ContinuousClock.now
            var late: [PoolCall] = []
            var next: ContinuousClock.Instant?
            state.queue.forEach { call in
                guard let deadline = call.deadline else { return }
                if deadline <= now { late.append(call) } else { next = min(next ?? deadline, deadline) }
            }
            let jobs = late.compactMap { Self.refuse($0, Self.busy($0, state), &state) }
            state.alarm = next.map { max($0, now + Self.alarmGap) }
            return (state.alarm, jobs)
        }
        Self.runRefused(jobs)
        if let next { setAlarm(next) }
    }

    private static func busy(_ call: PoolCall, _ state: borrowing State) -> StorageError {
        StorageError(
            busy: call.longestWait ?? .zero, underWay: state.counts.underWay, waiting: state.queue.count - 1)
    }

    // MARK: Threads

    private func startThread() {
        if let thread = SystemThread({ self.work() }) { return thread.detach() }
        // The system has no thread to give: Dispatch lends one.
        DispatchQueue.global().async { self.work(isBorrowed: true) }
    }

    /// Runs jobs until there was none for a while.
    private func work(isBorrowed: Bool = false) {
        if !isBorrowed { fl_name_thread(threadName) }
        while true {
            let (work, isEnding) = state.withLock { state -> (Work?, Bool) in
                if let work = next(&state) { return (work, false) }
                let isEnding = isBorrowed || state.refusal != nil
                if isEnding { state.counts.threads -= 1 } else { state.counts.idleThreads += 1 }
                return (nil, isEnding)
            }
            switch work {
            case .call(let job, let call):
                withExtendedLifetime(call) { job.runSynchronously(on: call.asUnownedTaskExecutor()) }
            case .actor(let job, let executor):
                // The last step of a job may release its actor, and with it its other references to the executor.
                withExtendedLifetime(executor) { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
                noteRun(executor)
            case nil:
                if isEnding || !waitForWork() { return }
            }
        }
    }

    /// Waits until this thread is woken.
    ///
    /// - Returns: False if there was no work for a while: the thread must end.
    private func waitForWork() -> Bool {
        if wake.wait(timeout: .now() + .seconds(idleSeconds)) == .success { return true }
        let isEnding = state.withLock { state in
            // Without an idle thread on the list, this one was woken at the last moment.
            guard state.counts.idleThreads > 0 else { return false }
            state.counts.idleThreads -= 1
            state.counts.threads -= 1
            return true
        }
        if !isEnding { wake.wait() }
        return !isEnding
    }
}
