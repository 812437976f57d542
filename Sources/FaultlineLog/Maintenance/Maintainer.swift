import Synchronization

/// A thread that makes checkpoints when they are due, and compacts behind them; where snapshots are behind, it looks
/// after them now and then.
///
/// It holds the checkpointer and not the log, so that a log nobody holds can go.
final class Maintainer: Sendable {
    private let checkpointer: Checkpointer
    private let compacts: Bool
    private let thread = SleepingThread()
    private let isAsked = Atomic<Bool>(false)

    init(_ checkpointer: Checkpointer, compacts: Bool) {
        self.checkpointer = checkpointer
        self.compacts = compacts
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

    /// Ends the thread and waits for it.
    func stop() { thread.stop() }

    /// Milliseconds between two looks at snapshots that are behind.
    private static let patience = 10_000

    private func loop() {
        var isLeft = false
        while true {
            if isLeft { thread.sleep(milliseconds: Self.patience) } else { thread.sleep() }
            if thread.isStopping { return }
            if isAsked.exchange(false, ordering: .acquiringAndReleasing) { checkpointer.note(maintain()) }
            do throws(LogError) { isLeft = try checkpointer.release() } catch { isLeft = false }
        }
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
