import CFaultline
import FaultlineDisk
import Glibc
import Synchronization

/// A thread that makes durable what a log with `.async` has committed: not later than a set time after the first commit
/// that is not durable yet.
///
/// It sleeps where there is nothing to do. What goes wrong stops the log, as with any synchronization.
// Safe because what varies is atomic, and the thread is joined before the object goes.
final class BackgroundSynchronizer: @unchecked Sendable {
    private let committer: Committer
    private let delayMilliseconds: Int
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let isStopping = Atomic<Bool>(false)
    private let isDue = Atomic<Bool>(false)
    private var thread = pthread_t()
    private var isRunning = false

    init(_ committer: Committer, delayMilliseconds: Int) {
        self.committer = committer
        self.delayMilliseconds = delayMilliseconds
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func start() {
        let box = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<BackgroundSynchronizer>.fromOpaque(argument).takeRetainedValue().loop()
                return nil
            }, box.toOpaque())
        if result == 0 { isRunning = true } else { box.release() }
    }

    /// To be called when a commit has returned that is not durable.
    func noteCommit() {
        guard !isDue.load(ordering: .relaxed), !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        sem_post(semaphore)
    }

    /// Ends the thread and waits for it; what is not durable then is left to who closes the log.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        isStopping.store(true, ordering: .releasing)
        sem_post(semaphore)
        pthread_join(thread, nil)
    }

    private func loop() {
        while true {
            sem_wait(semaphore)
            if isStopping.load(ordering: .acquiring) { return }
            guard isDue.load(ordering: .acquiring) else { continue }
            pause()
            if isStopping.load(ordering: .acquiring) { return }
            // Whoever commits from here on asks anew.
            isDue.store(false, ordering: .sequentiallyConsistent)
            _ = committer.synchronizeAll()
        }
    }

    /// Waits for the set time, or until the thread is to end.
    private func pause() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let nanoseconds = now.tv_nsec + delayMilliseconds % 1_000 * 1_000_000
        let end = (
            seconds: now.tv_sec + delayMilliseconds / 1_000 + nanoseconds / 1_000_000_000,
            nanoseconds: nanoseconds % 1_000_000_000
        )
        // A signal interrupts the wait.
        while fl_semaphore_wait(semaphore, Int64(end.seconds), Int64(end.nanoseconds)) == -EINTR {}
    }
}
