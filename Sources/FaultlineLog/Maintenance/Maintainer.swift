import FaultlineDisk
import Glibc
import Synchronization

/// A thread that makes checkpoints when they are due, and compacts behind them; where snapshots are behind, it looks
/// after them now and then.
///
/// It holds the checkpointer and not the log, so that a log nobody holds can go.
// Safe because what varies is atomic, and the thread is joined before the object goes.
final class Maintainer: @unchecked Sendable {
    private let checkpointer: Checkpointer
    private let compacts: Bool
    private let semaphore: UnsafeMutablePointer<sem_t>
    private let isStopping = Atomic<Bool>(false)
    private let isAsked = Atomic<Bool>(false)
    private var thread = pthread_t()
    private var isRunning = false

    init(_ checkpointer: Checkpointer, compacts: Bool) {
        self.checkpointer = checkpointer
        self.compacts = compacts
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
                Unmanaged<Maintainer>.fromOpaque(argument).takeRetainedValue().loop()
                return nil
            }, box.toOpaque())
        if result == 0 { isRunning = true } else { box.release() }
    }

    /// Asks for a checkpoint; returns at once.
    ///
    /// - Returns: False if there is no thread to make it.
    func ask() -> Bool {
        guard isRunning else { return false }
        if !isAsked.exchange(true, ordering: .acquiringAndReleasing) { sem_post(semaphore) }
        return true
    }

    /// Lets the thread look after snapshots; to be called when others than it have made a checkpoint.
    func look() {
        if isRunning { sem_post(semaphore) }
    }

    /// Ends the thread and waits for it.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        isStopping.store(true, ordering: .releasing)
        sem_post(semaphore)
        pthread_join(thread, nil)
    }

    /// Seconds between two looks at snapshots that are behind.
    private static let patience = 10

    private func loop() {
        var isLeft = false
        while true {
            wait(isLeft ? Self.patience : nil)
            if isStopping.load(ordering: .acquiring) { return }
            if isAsked.exchange(false, ordering: .acquiringAndReleasing) {
                checkpointer.note(maintain())
            }
            do throws(LogError) { isLeft = try checkpointer.release() } catch { isLeft = false }
        }
    }

    private func maintain() -> LogError? {
        do throws(LogError) {
            try checkpointer.run()
            if compacts {
                try checkpointer.compactDue(isPaced: true) { isStopping.load(ordering: .acquiring) }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Waits until somebody asks, for so many seconds at most.
    private func wait(_ seconds: Int?) {
        guard let seconds else {
            sem_wait(semaphore)
            return
        }
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += seconds
        sem_timedwait(semaphore, &deadline)
    }
}
