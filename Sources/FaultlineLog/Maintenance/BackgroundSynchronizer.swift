import Synchronization

/// A thread that makes commits of a log with `.async` durable, not later than a set time after the first commit that is
/// not durable yet.
///
/// It sleeps while there is nothing to do. A failure stops the log, as with any synchronization.
final class BackgroundSynchronizer: Sendable {
    private let committer: Committer
    private let delayMilliseconds: Int
    private let thread = SleepingThread()
    private let isDue = Atomic<Bool>(false)

    init(_ committer: Committer, delayMilliseconds: Int) {
        self.committer = committer
        self.delayMilliseconds = delayMilliseconds
    }

    func start() { thread.start { [self] in loop() } }

    /// To be called after a commit that is not durable.
    func noteCommit() {
        guard !isDue.load(ordering: .relaxed), !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
        thread.wake()
    }

    /// Ends the thread and waits for it; closing the log makes the rest durable.
    func stop() { thread.stop() }

    private func loop() {
        while true {
            thread.sleep()
            if thread.isStopping { return }
            guard isDue.load(ordering: .acquiring) else { continue }
            thread.sleep(milliseconds: delayMilliseconds)
            if thread.isStopping { return }
            // Later commits set the flag again.
            isDue.store(false, ordering: .sequentiallyConsistent)
            _ = committer.synchronizeAll()
        }
    }
}
