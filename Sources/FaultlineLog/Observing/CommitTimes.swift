import FaultlineDisk

/// Times commits and syncs.
///
/// It exists only if an observer requests the times.
///
/// Concurrency: a lock guards the state. The thread that committed calls the observer without the lock.
// Safe because mutable state is guarded by the lock.
final class CommitTimes: @unchecked Sendable {
    private static let syncCountMax = 1_024

    private let observer: any LogObserver
    private let clock: Clock
    private let lock = EngineLock()
    private var syncs: [UInt64] = []

    init?(_ observer: (any LogObserver)?, clock: Clock) {
        guard let observer, observer.timesCommits else { return nil }
        self.observer = observer
        self.clock = clock
    }

    /// The present time, in nanoseconds.
    func now() -> UInt64 { clock.monotonicNanoseconds() }

    /// Records the time of a synchronization of the log.
    func noteSync(since begin: UInt64) {
        let end = now()
        lock.withLock { if syncs.count < Self.syncCountMax { syncs.append(end > begin ? end - begin : 0) } }
    }

    /// Reports a commit to the observer; to be called without a lock.
    func tellCommit(since begin: UInt64) {
        let end = now()
        let taken = lock.withLock {
            defer { syncs.removeAll(keepingCapacity: true) }
            return syncs
        }
        observer.committed(nanoseconds: end > begin ? end - begin : 0, syncs: taken)
    }
}
