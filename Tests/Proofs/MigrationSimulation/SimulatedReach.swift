internal import FaultlineDisk
internal import Synchronization

/// The states that the closures of a simulated migration have come to.
final class SimulatedReach: Sendable {
    @TaskLocal static var current: SimulatedReach?

    private let count = Guarded(0)

    /// New objects that a context had let go before it saved.
    var spilledCount: Int { count.withLock { $0 } }

    func note(spilledCount: Int) { count.withLock { $0 += spilledCount } }
}
