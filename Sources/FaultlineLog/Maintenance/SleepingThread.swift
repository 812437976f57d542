import CFaultline
import FaultlineDisk
import Glibc
import Synchronization

/// A thread of the log, which sleeps until it is woken.
///
/// The thread releases its closure when it ends.
// Safe because the changing properties are atomic, or changed by `start` and `stop` alone, and the thread is joined
// before the object is deinitialized.
final class SleepingThread: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let isToEnd = Atomic<Bool>(false)
    private var thread: SystemThread?

    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Starts the thread, whose closure must return once `isStopping` is true.
    func start(_ run: @escaping @Sendable () -> Void) {
        thread = SystemThread(run)
    }

    /// Whether there is a thread: the system may have refused one.
    var isRunning: Bool { thread != nil }

    /// Ends the thread's current sleep, or its next one.
    func wake() { sem_post(semaphore) }

    /// Ends the thread and waits for it.
    func stop() {
        guard let thread else { return }
        self.thread = nil
        isToEnd.store(true, ordering: .releasing)
        wake()
        thread.join()
    }

    // MARK: Called on the thread

    /// Whether the closure must return.
    var isStopping: Bool { isToEnd.load(ordering: .acquiring) }

    /// Sleeps until it is woken; a signal may wake it too.
    func sleep() { sem_wait(semaphore) }

    /// Sleeps until it is woken, at most for a number of milliseconds.
    ///
    /// - Returns: Whether it was woken.
    @discardableResult
    func sleep(milliseconds: Int) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let nanoseconds = now.tv_nsec + milliseconds % 1_000 * 1_000_000
        let end = (
            seconds: now.tv_sec + milliseconds / 1_000 + nanoseconds / 1_000_000_000,
            nanoseconds: nanoseconds % 1_000_000_000
        )
        // A signal interrupts the wait.
        while true {
            let result = fl_semaphore_wait(semaphore, Int64(end.seconds), Int64(end.nanoseconds))
            if result != -EINTR { return result == 0 }
        }
    }
}
