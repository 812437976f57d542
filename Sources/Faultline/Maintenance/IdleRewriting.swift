internal import Dispatch
internal import FaultlineLog
internal import FaultlineObjects
package import FaultlineStore
internal import Synchronization

/// Rewrites rows of older layouts while no saves happen: the idle job of a container.
///
/// It waits until nothing was committed for a while, rewrites some rows, and rests ten times as long as that took. It
/// pauses while other containers in the process have the store open, because their schema may be older. It also pauses
/// while a context is pinned or the state before a migration is kept: the rows would be stored twice, and a rollback
/// would meet transactions after it. There is no job if no row can have an older layout. After a failure it tries
/// again much later; remaining rows wait for the next opening.
// Safe because mutable state is atomic or used on the queue only.
package final class IdleRewriting: @unchecked Sendable {
    private let store: RowStore
    private let queue = DispatchQueue(label: "faultline.rewrite", qos: .background)
    private let isStopped = Atomic<Bool>(false)
    private let patience: Int
    private var job: RowRewriting
    /// The newest transaction at the last check.
    private var seen: UInt64 = 0

    /// The wait after a failure, as a multiple of the patience.
    private static let patienceAfterFailure = 60

    /// Begins the job; nil if there is nothing to do.
    ///
    /// - Parameters:
    ///   - store: The rows, under the schema in force.
    ///   - patience: Milliseconds in which nothing must have been committed.
    package init?(_ store: RowStore, patienceMilliseconds patience: Int = 10_000) {
        guard let job = try? RowRewriting(store, where: \.knowsDefaults), (try? job.isDone()) == false else {
            return nil
        }
        self.store = store
        self.patience = patience
        self.job = job
        seen = store.log.snapshot().sequence
        wait(.milliseconds(patience))
    }

    /// Ends the job.
    ///
    /// It does not wait for the work that is under way, which writes nothing any more, or is one ordinary transaction.
    package func stop() { isStopped.store(true, ordering: .releasing) }

    private var hasStopped: Bool { isStopped.load(ordering: .acquiring) }

    private func wait(_ interval: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in self?.look() }
    }

    private func look() {
        guard !hasStopped else { return }
        let newest = store.log.snapshot().sequence
        let begin = DispatchTime.now()
        do {
            guard newest == seen, try !store.log.isShared(), try store.log.keptState() == nil,
                store.log.pins().allSatisfy(\.isExpired)
            else {
                seen = newest
                return wait(.milliseconds(patience))
            }
            guard try job.step(until: { hasStopped }) else { return }
            seen = job.sequence
            let nanoseconds = DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds
            wait(.nanoseconds(Int(clamping: nanoseconds) * 10))
        } catch {
            wait(.milliseconds(patience * Self.patienceAfterFailure))
        }
    }
}
