import CFaultline
import Glibc
import Synchronization

/// A thread of the log, which sleeps until it is woken.
///
/// The thread retains its closure, and releases it when the closure returns.
// Safe because the changing properties are atomic, or changed by `start` and `stop` alone, and the thread is joined
// before the object is deinitialized.
final class SleepingThread: @unchecked Sendable {
    /// The thread's closure, in a box that can be passed to it.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let semaphore: UnsafeMutablePointer<sem_t>
    private let isToEnd = Atomic<Bool>(false)
    private var thread = pthread_t()
    /// Whether there is a thread: the system may have refused one.
    private(set) var isRunning = false

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
        let box = Unmanaged.passRetained(Body(run))
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        if result == 0 { isRunning = true } else { box.release() }
    }

    /// Ends the thread's current sleep, or its next one.
    func wake() { sem_post(semaphore) }

    /// Ends the thread and waits for it.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        isToEnd.store(true, ordering: .releasing)
        wake()
        pthread_join(thread, nil)
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
