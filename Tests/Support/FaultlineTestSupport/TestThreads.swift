import FaultlineDisk
import Synchronization

/// Threads of the system that a test starts and waits for.
///
///     let threads = TestThreads()
///     for writer in writers { threads.run { writer.saveUntilTheSwitch() } }
///     threads.join()
///
/// Dispatch's global queues start no further thread while each of theirs runs or waits in a test, so that tests which
/// wait for a closure there may wait forever.
package final class TestThreads: Sendable {
    private let threads = Guarded<[SystemThread]>([])

    package init() {}

    /// Runs the closure on a thread of its own; on the caller's if the system refuses one.
    package func run(_ body: @escaping @Sendable () -> Void) {
        guard let thread = SystemThread(body) else { return body() }
        threads.withLock { $0.append(thread) }
    }

    /// Waits until all closures have returned.
    package func join() {
        while let thread = threads.withLock({ $0.popLast() }) { thread.join() }
    }
}
