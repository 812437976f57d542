import Synchronization

/// A thread that makes checkpoints when they are due, and compacts after them.
///
/// It checks old snapshots from time to time. If segments take more than they may and no writer comes that would wait
/// for less, it compacts them after a while.
///
/// It holds the checkpointer and not the log, so that an unreferenced log can be deinitialized.
final class Maintainer: Sendable {
    private let checkpointer: Checkpointer
    private let compacts: Bool
    /// Milliseconds between two checks of old snapshots, and of segments that take too much.
    private let patience: Int
    private let thread = SleepingThread()
    private let isAsked = Atomic<Bool>(false)

    private let isWatching = Atomic<Bool>(false)

    init(_ checkpointer: Checkpointer, compacts: Bool, patienceMilliseconds: Int) {
        self.checkpointer = checkpointer
        self.compacts = compacts
        patience = patienceMilliseconds
    }

    func start() { thread.start { [self] in loop() } }

    /// Requests a checkpoint; returns at once.
    ///
    /// - Returns: False if there is no thread to make it.
    func ask() -> Bool {
        guard thread.isRunning else { return false }
        if !isAsked.exchange(true, ordering: .acquiringAndReleasing) { thread.wake() }
        return true
    }

    /// Has the thread check snapshots; to be called after another thread made a checkpoint.
    func look() {
        if thread.isRunning { thread.wake() }
    }

    /// Has the thread check segments that take more than they may, after a while; returns at once.
    func watchSpace() {
        guard compacts, thread.isRunning, !isWatching.exchange(true, ordering: .acquiringAndReleasing) else { return }
        thread.wake()
    }

    /// Ends the thread and waits for it.
    func stop() { thread.stop() }

    private func loop() {
        var isLeft = false
        while true {
            let watches = isWatching.load(ordering: .acquiring)
            var hasRested = false
            if isLeft || watches { hasRested = !thread.sleep(milliseconds: patience) } else { thread.sleep() }
            if thread.isStopping { return }
            if isAsked.exchange(false, ordering: .acquiringAndReleasing) { checkpointer.note(maintain()) }
            if hasRested, watches { reduceSpace() }
            do throws(LogError) { isLeft = try checkpointer.release() } catch { isLeft = false }
        }
    }

    /// Compacts; if nothing more can be freed, the next commit allows another check.
    private func reduceSpace() {
        isWatching.store(false, ordering: .releasing)
        guard checkpointer.hasExcess else { return }
        do throws(LogError) {
            try checkpointer.reduceSpace { thread.isStopping }
            checkpointer.note(nil)
        } catch { checkpointer.note(error) }
    }

    private func maintain() -> LogError? {
        do throws(LogError) {
            try checkpointer.run()
            if compacts { try checkpointer.compactDue(isPaced: true) { thread.isStopping } }
            return nil
        } catch {
            return error
        }
    }
}
