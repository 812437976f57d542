import FaultlineDisk

/// The health of a log: read in a few instructions, without waiting for a disk or a writer.
package struct LogHealth: Sendable {
    /// The findings and actions of the opening.
    package let opening: OpenReport
    package let isClosed: Bool
    /// The error of the first failed write: nothing more is written.
    package let failure: LogError?
    /// The error of the last operation refused for lack of space; nil once there is space again.
    package let fullDisk: LogError?
    /// The error of the newest checkpoint or compaction, if it failed.
    package let maintenanceFailure: LogError?
    /// The first places of damage found.
    package let rotPlaces: [RotPlace]
    package let rotCount: Int
    package let space: SpaceFigures
    /// Whether segments hold more dead bytes than live ones, and more than one segment of them.
    package let isCompactionBehind: Bool
}

/// A log's work since it was opened, and its size; read without waiting for a disk or a writer.
package struct LogFigures: Sendable, Equatable {
    package var commitCount: UInt64 = 0
    /// Bytes of log that commits wrote; of blobs, only their placements.
    package var writtenByteCount: UInt64 = 0
    /// Transactions that waited for compaction, because segments took more than they may.
    package var spaceWaitCount: UInt64 = 0
    /// The total time that they waited.
    package var spaceWaitNanoseconds: UInt64 = 0
    /// Bytes of the memory budget in use.
    package var memoryByteCount = 0
    /// Open files of all stores of the process; 0 if the disk does not count them.
    package var openFileCount = 0
    package var space = SpaceFigures()

    package init() {}
}

extension Log {
    /// The observer of the log's events: that of the first opening.
    package var observer: (any LogObserver)? { options.observer }

    /// Adds names of tables, so that messages about damage name entities.
    package func addTableNames(_ names: [TableID: String]) { directory.watch.addTableNames(names) }

    /// The health of the log.
    ///
    /// - Complexity: O(1): some locks that are held only briefly, and no system call.
    package var health: LogHealth {
        let watch = directory.watch
        let space = watch.space
        let rot = watch.rotMet
        // The segments of a kept state cannot be compacted.
        let neededByteCount = space.liveByteCount + space.keptByteCount
        let deadByteCount = space.segmentByteCount - min(neededByteCount, space.segmentByteCount)
        return LogHealth(
            opening: openReport, isClosed: hasEnded, failure: failure, fullDisk: watch.fullDisk,
            maintenanceFailure: watch.maintenanceFailure, rotPlaces: rot.places, rotCount: rot.count, space: space,
            isCompactionBehind: deadByteCount > max(space.liveByteCount, UInt64(options.segmentByteCount)))
    }

    /// The log's work and size.
    ///
    /// - Complexity: O(1), as `health`.
    package var figures: LogFigures {
        var figures = LogFigures()
        figures.commitCount = publisher.snapshot.sequence - min(openedSequence, publisher.snapshot.sequence)
        figures.writtenByteCount = writing?.committer.writtenByteCount ?? 0
        figures.spaceWaitCount = writing?.waits.count ?? 0
        figures.spaceWaitNanoseconds = writing?.waits.nanoseconds ?? 0
        figures.memoryByteCount = budget.used
        figures.openFileCount = directory.disk.openFiles?.open ?? 0
        figures.space = directory.watch.space
        return figures
    }

    /// Bytes of log and of blobs that transactions wrote since the log was opened, without compaction's copies.
    ///
    /// - Complexity: Two loads.
    package var writtenByteCount: UInt64 {
        guard let committer = writing?.committer else { return 0 }
        return committer.writtenByteCount &+ committer.writtenBlobByteCount
    }
}
