/// Runs the jobs of one actor on the threads of a pool, one after the other: an actor that reads the store has no thread
/// of its own.
// Safe because the pool's lock guards what changes.
package final class PoolSerialExecutor: SerialExecutor, @unchecked Sendable {
    let pool: ExecutorPool
    /// Jobs that follow the one that waits or runs.
    var jobs = Fifo<UnownedJob>()
    /// Whether a job waits or runs.
    var isBusy = false

    package init(_ pool: ExecutorPool) { self.pool = pool }

    /// Puts a job behind the actor's others; returns at once.
    package func enqueue(_ job: consuming ExecutorJob) { pool.enqueue(UnownedJob(job), self) }

    /// This executor, not retained: its actor keeps it alive.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
