import Synchronization

/// A thread that makes checkpoints when they are due, and compacts behind them.
///
/// Where snapshots are behind, it looks after them now and then; where segments take more than they may and no writer
/// comes who would wait for less, it sees to that after a while.
///
/// It holds the checkpointer and not the log, so that a log nobody holds can go.
final class Maintainer: Sendable {
    private let checkpointer: Checkpointer
    private let compacts: Bool
    /// Milliseconds between two looks at snapshots that are behind, and at segments that take too much.
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

    /// Asks for a checkpoint; returns at once.
    ///
    /// - Returns: False if there is no thread to make it.
    func ask() -> Bool {
        guard thread.isRunning else { return false }
        if !isAsked.exchange(true, ordering: .acquiringAndReleasing) { thread.wake() }
        return true
    }

    /// Lets the thread look after snapshots; to be called when others than it have made a checkpoint.
    func look() {
        if thread.isRunning { thread.wake() }
    }

    /// Lets the thread look after segments that take more than they may, after a while; returns at once.
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

    /// Where nothing more can be given back, the next commit lets it be looked at again.
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
