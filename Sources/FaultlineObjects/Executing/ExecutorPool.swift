internal import Dispatch
internal import FaultlineDisk
internal import Glibc
internal import Synchronization

/// Runs calls that block on a bounded number of threads, so that they never block Swift's shared threads.
///
/// Threads are made when there is work for them, at most `threadCountMax`, and end when they were idle for a while. As
/// many run as there are processors, and further ones where these wait for something (`PoolThreads`). A call begins when
/// a thread may run it. A suspended call has no thread; it keeps its place among the calls under way, of which there are
/// at most 32 for each thread.
package final class ExecutorPool: Sendable {
    /// The numbers of calls and threads at one moment.
    package struct Counts: Equatable {
        /// Threads that live, and those of them that wait for work.
        package var threads = 0
        package var idleThreads = 0
        /// Calls that have begun and are not over, without nested ones.
        package var underWay = 0
        /// Calls that wait in the queue, and calls that wait for a place in it.
        package var queued = 0
        package var overflow = 0
    }

    typealias CallJob = (UnownedJob, PoolCall)

    struct State {
        /// Jobs of calls that have begun.
        var ready = Fifo<CallJob>()
        /// Jobs of nested calls.
        var nested = Fifo<CallJob>()
        /// Jobs of actors, at most one of each.
        var actors = Fifo<(UnownedJob, PoolSerialExecutor)>()
        /// Whether it is the turn of an actor rather than of a call that waits.
        var isTurnOfActor = true
        var queue: CallQueue
        var threads: PoolThreads
        /// Calls that have begun and are not over, without nested ones.
        var underWay = 0
        /// Why no call may begin; nil if calls may.
        var refusal: (any Error)?
        /// When the timer for deadlines fires; nil if it is not set.
        var alarm: ContinuousClock.Instant?
        /// Tasks that wait until no call is under way.
        var drains: [PoolDrain] = []

        /// Whether jobs wait besides the calls in the queue.
        var hasFurtherJobs: Bool { nested.count > 0 || ready.count > 0 || actors.count > 0 }

        /// Whether a job waits for a thread.
        func hasWork(_ underWayMax: Int) -> Bool { hasFurtherJobs || underWay < underWayMax && queue.count > 0 }
    }

    /// The name of its threads in the system's lists.
    package let threadName: String
    package let threadCountMax: Int
    package let underWayMax: Int
    let idleSeconds: Int
    private static let number = Atomic(0)
    let state: Guarded<State>
    let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - threadCount: The number of threads; nil for two for each processor. At least 1.
    ///   - queueLimit: Calls that wait by priority; further ones wait behind them.
    ///   - idleSeconds: The time after which a thread without work ends.
    package init(threadCount: Int?, queueLimit: Int, idleSeconds: Int = 10) {
        let processorCount = max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1)
        threadCountMax = max(threadCount ?? 2 * processorCount, 1)
        underWayMax = threadCountMax * 32
        self.idleSeconds = idleSeconds
        threadName = "perform-\(Self.number.add(1, ordering: .relaxed).newValue % 10_000)"
        state = Guarded(
            State(
                queue: CallQueue(limit: queueLimit),
                threads: PoolThreads(countMax: threadCountMax, runningCountMax: processorCount)))
    }

    package var counts: Counts {
        state.withLock { state in
            Counts(
                threads: state.threads.count, idleThreads: state.threads.idleCount, underWay: state.underWay,
                queued: state.queue.queuedCount, overflow: state.queue.overflowCount)
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
            return (state.threads.takeAll(), waiting.compactMap { Self.refuse($0, error, &state) })
        }
        for _ in 0..<wakes { wake.signal() }
        Self.runRefused(jobs)
    }

    /// Waits until no call is under way, or the calling task is cancelled.
    package func drain() async {
        let drain = PoolDrain()
        let isIdle = state.withLock { state in
            if state.underWay > 0 { state.drains.append(drain) }
            return state.underWay == 0
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
            if !call.isNested { state.underWay -= 1 }
            guard state.underWay == 0 else { return [] }
            defer { state.drains = [] }
            return state.drains
        }
        for drain in drains { drain.end() }
        // This thread may have other work.
        provideThread()
    }

    func refuse(_ call: PoolCall, _ error: any Error) {
        if let job = state.withLock({ Self.refuse(call, error, &$0) }) { Self.runRefused([job]) }
    }

    /// Makes a call throw an error, unless it has begun.
    ///
    /// - Returns: The job that throws it, if the call was waiting.
    static func refuse(_ call: PoolCall, _ error: any Error, _ state: inout State) -> CallJob? {
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
    static func runRefused(_ jobs: [CallJob]) {
        guard !jobs.isEmpty else { return }
        DispatchQueue.global().async {
            for (job, call) in jobs { job.runSynchronously(on: call.asUnownedTaskExecutor()) }
        }
    }
}
