/// One call of an executor pool: the executor that its task prefers, so that the pool knows the call of each job.
///
/// The task's first job waits for its turn; the later ones, which follow a suspension, run before the calls that wait.
// Safe because the pool's lock guards all that changes.
package final class PoolCall: TaskExecutor, @unchecked Sendable {
    enum Phase {
        case new
        case waiting(UnownedJob)
        /// Will not begin, because of the error.
        case refused(any Error)
        case begun
        case over
    }

    /// The call whose code is running.
    @TaskLocal package static var current: PoolCall?

    package let pool: ExecutorPool
    /// Whether its code never suspends.
    package let isBlocking: Bool
    /// Whether the code of another call has made it: then it runs before all that wait.
    let isNested: Bool
    /// How long it waits; nil for no limit.
    let longestWait: Duration?
    /// When it stops waiting; nil for never.
    let deadline: ContinuousClock.Instant?
    var phase = Phase.new
    var priority: UInt8 = 0
    /// Whether it waits for a place in the queue.
    var isInOverflow = false

    init(_ pool: ExecutorPool, isBlocking: Bool, isNested: Bool, longestWait: Duration?) {
        self.pool = pool
        self.isBlocking = isBlocking
        self.isNested = isNested
        self.longestWait = longestWait
        deadline = longestWait.map { ContinuousClock.now + $0 }
    }

    var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    /// Puts a job of the call's task into the pool; returns at once.
    package func enqueue(_ job: consuming ExecutorJob) { pool.enqueue(UnownedJob(job), self) }
}
