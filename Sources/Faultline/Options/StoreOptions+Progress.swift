public import Dispatch
internal import FaultlineMigration
public import Foundation

extension StoreOptions.Migration {
    /// The key of the newest `MigrationProgress` (pass, stage, entity) in the `userInfo` of a `Progress`.
    public static let progressKey = ProgressUserInfoKey("FaultlineMigrationProgress")

    /// Makes a `Progress` of Foundation for the opening that gets these options: it can be watched, cancelled, paused,
    /// and be a child of another.
    ///
    /// It counts the objects of the pass over one entity, as `MigrationProgress` does, and one more unit, which is done
    /// when the container is made or refused: only then it is finished. It restarts with the next pass or entity, so
    /// its fraction, and a parent's share of it, goes back then; `userInfo` names pass and entity under `progressKey`.
    /// It is indeterminate while the number of objects is unknown. Cancelling and pausing use `control`, which is made
    /// if there is none: set your own control before.
    ///
    /// - Parameter queue: Where it is changed, and should be read, because Foundation does not lock it; nil for the
    ///   thread that opens the container.
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

/// Updates the `Progress` from the migration's progress.
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
            // Also for an opening that is refused before the number of objects is known.
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
