public import Dispatch
internal import FaultlineMigration
public import Foundation

extension StoreOptions.Migration {
    /// Where a `Progress` has the `MigrationProgress` that was shown last, in its `userInfo`: pass, stage, entity.
    public static let progressKey = ProgressUserInfoKey("FaultlineMigrationProgress")

    /// A `Progress` of Foundation's for the opening that these options are given to: it can be watched, cancelled,
    /// paused, and be a child of another.
    ///
    /// It counts the objects of the pass over one entity, as `MigrationProgress` does, and one more, which is done when the
    /// container is made, or refused: only then it is finished. It begins anew with the next pass or entity, so that its
    /// fraction, and a parent's share of it, goes back then; `userInfo` names them under `progressKey`, and it is
    /// indeterminate where nobody knows how many there are. Cancelling and pausing are those of `control`, which is made if there is none: set
    /// yours before.
    ///
    /// - Parameter queue: Where it is changed, and should be read, because Foundation does not lock it; nil for the thread
    ///   that opens the container.
    /// - Returns: One that is indeterminate until a migration begins.
    public mutating func makeProgress(on queue: DispatchQueue? = nil) -> Progress {
        let control = control ?? MigrationControl()
        self.control = control
        let progress = Progress.discreteProgress(totalUnitCount: -1)
        progress.cancellationHandler = { control.cancel() }
        progress.isPausable = true
        progress.pausingHandler = { control.pause() }
        progress.resumingHandler = { control.resume() }
        let target = ProgressTarget(progress: progress, control: control)
        watchers.append { update in
            if let queue { queue.async { target.show(update) } } else { target.show(update) }
        }
        return progress
    }
}

/// Holds what is shown.
// Safe because it is changed on one queue, or on the one thread that opens a container.
private final class ProgressTarget: @unchecked Sendable {
    private let progress: Progress
    private let control: MigrationControl
    private static let key = StoreOptions.Migration.progressKey

    init(progress: Progress, control: MigrationControl) {
        self.progress = progress
        self.control = control
    }

    func show(_ update: MigrationProgress?) {
        // Foundation calls the handler some time later.
        if progress.isCancelled { control.cancel() }
        guard let update else {
            // Also of what is refused before anything is known.
            progress.totalUnitCount = max(progress.totalUnitCount, 1)
            progress.completedUnitCount = progress.totalUnitCount
            return
        }
        // One more than the objects: a pass that has ended is not the end of the migration.
        progress.totalUnitCount = update.total > 0 ? Int64(update.total) + 1 : -1
        progress.completedUnitCount = Int64(update.done)
        progress.setUserInfoObject(update, forKey: Self.key)
        if let rate = update.objectsPerSecond {
            progress.setUserInfoObject(Int(min(rate, 1e15)), forKey: .throughputKey)
        }
        if let left = update.timeLeft {
            progress.setUserInfoObject(Double(left.components.seconds), forKey: .estimatedTimeRemainingKey)
        }
    }
}
