internal import Dispatch
internal import FaultlineLog
internal import FaultlineObjects
package import FaultlineStore
internal import Synchronization

/// Writes rows of older layouts anew while nobody saves: the idle job of a container.
///
/// It waits until nothing was committed for a while, does a piece, and rests ten times as long as that took. It stands
/// back where others in the process have the store open, whose schema may be an older one, and where a context is pinned
/// or the state before a migration is kept: its rows would be there twice, and a rollback would meet transactions behind
/// it. There is no job where no row can be of an older layout. What fails is tried again much later; what is left is left
/// to the next opening.
// Safe because what varies is atomic or used on the queue only.
package final class IdleRewriting: @unchecked Sendable {
    private let store: RowStore
    private let queue = DispatchQueue(label: "faultline.rewrite", qos: .background)
    private let isStopped = Atomic<Bool>(false)
    private let patience: Int
    private var job: RowRewriting
    /// The newest transaction when it was looked last.
    private var seen: UInt64 = 0

    /// What failed is tried again after so many times the patience.
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
    /// Nobody waits for the piece that is under way: it writes nothing any more, or is one transaction like another.
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
