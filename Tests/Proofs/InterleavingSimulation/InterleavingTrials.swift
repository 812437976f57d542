import CrashSimulation
import FaultlineDisk

/// All interleavings of two jobs in a small store, numbered, for every pair of jobs.
package struct InterleavingTrials: Sendable {
    /// The outcome of one interleaving.
    package struct Outcome: Sendable {
        /// A description of the violation, or `nil`.
        package var violation: String?
        /// The number of times that a step waited for a lock of the other job.
        package var waitCount = 0
    }

    /// The number of interleavings.
    package static var count: Int { InterleavedJob.pairs.count * StepOrders.count }

    private let origin: InterleavedStore.Origin
    private let leavesVolatile: Bool
    /// The number of disk calls in a step, for each job of each pair.
    private var strides: [[Int]] = []

    /// - Parameter leavesVolatile: Whether the disk fails to make commits durable, which the trials must detect.
    /// - Throws: The violation, if there is one even when the jobs run one after the other.
    package init(leavesVolatile: Bool = false) throws {
        origin = try InterleavedStore.makeOrigin()
        self.leavesVolatile = leavesVolatile
        for pair in InterleavedJob.pairs {
            // Run the jobs one after the other to count their disk calls.
            let (outcome, calls) = try run(pair, [0, 1], strides: [.max, .max], cutsPower: false)
            if let violation = outcome.violation { throw CrashViolation("\(pair): \(violation)") }
            strides.append(calls.map { max(1, ($0 + StepOrders.stepCount - 1) / StepOrders.stepCount) })
        }
    }

    /// Returns a description of the two jobs and the order of their steps.
    package func describe(_ number: Int) -> String {
        let (first, second) = InterleavedJob.pairs[number / StepOrders.count]
        let order = StepOrders.order(number % StepOrders.count).map { $0 == 0 ? "a" : "b" }.joined()
        return "\(first) (a) and \(second) (b), \(order)"
    }

    /// Runs the interleaving with the given number.
    package func outcome(of number: Int) -> Outcome {
        let pair = number / StepOrders.count
        let order = StepOrders.order(number % StepOrders.count)
        do {
            return try run(
                InterleavedJob.pairs[pair], order, strides: strides[pair], cutsPower: !number.isMultiple(of: 2)
            ).outcome
        } catch {
            return Outcome(violation: "\(error)")
        }
    }

    private func run(
        _ pair: (InterleavedJob, InterleavedJob), _ order: [UInt8], strides: [Int], cutsPower: Bool
    ) throws -> (outcome: Outcome, calls: [Int]) {
        let store = try InterleavedStore(
            origin, endsSnapshots: pair.0 == .snapshotEnd || pair.1 == .snapshotEnd, leavesVolatile: leavesVolatile)
        let schedule = StepSchedule(order, strides: strides)
        store.disk.follow(schedule)
        let second = SecondThread(store, pair.1, schedule)
        second.start()
        var failure: (any Error)?
        schedule.run(0) {
            do { try store.run(pair.0) } catch { failure = error }
        }
        let other = second.join()
        store.disk.follow(nil)
        if let failure { throw CrashViolation("\(pair.0): \(failure)") }
        if let other { throw CrashViolation("\(pair.1): \(other)") }
        try store.check(cutsPower: cutsPower)
        return (Outcome(waitCount: schedule.waitCount), schedule.callCounts)
    }
}

/// The thread for the second job.
// Safe because the mutable properties are only read after the thread has ended.
private final class SecondThread: @unchecked Sendable {
    private let store: InterleavedStore
    private let job: InterleavedJob
    private let schedule: StepSchedule
    private var thread: SystemThread?
    private var failure: (any Error)?

    init(_ store: InterleavedStore, _ job: InterleavedJob, _ schedule: StepSchedule) {
        self.store = store
        self.job = job
        self.schedule = schedule
    }

    func start() {
        thread = SystemThread { self.run() }
        precondition(thread != nil, "The system refused to make a thread.")
    }

    private func run() {
        schedule.run(1) {
            do { try store.run(job) } catch { failure = error }
        }
    }

    /// Waits for the end of the thread.
    ///
    /// - Returns: The error of the job, if any.
    func join() -> (any Error)? {
        thread?.join()
        return failure
    }
}
