/// How a log is: read in a few instructions, without waiting for a disk or a writer.
package struct LogHealth: Sendable {
    /// What opening found and did.
    package let opening: OpenReport
    package let isClosed: Bool
    /// Set once a write failed: nothing more is written.
    package let failure: LogError?
    /// Why something was refused for want of space; nil once there is space again.
    package let fullDisk: LogError?
    /// Why the newest checkpoint or compaction failed, if it did.
    package let maintenanceFailure: LogError?
    /// The first places of rot that were met.
    package let rotPlaces: [RotPlace]
    package let rotCount: Int
    package let space: SpaceFigures
    /// Whether segments hold more dead bytes than live ones, and more than one segment of them.
    package let isCompactionBehind: Bool
}

/// What a log has done since it was opened, and what it holds; read without waiting for a disk or a writer.
package struct LogFigures: Sendable, Equatable {
    package var commitCount: UInt64 = 0
    /// Bytes of log that commits wrote: of blobs, only where they lie.
    package var writtenByteCount: UInt64 = 0
    /// Transactions that waited for compaction, because segments took more than they may.
    package var spaceWaitCount: UInt64 = 0
    /// How long these waited in all.
    package var spaceWaitNanoseconds: UInt64 = 0
    /// Of the memory budget.
    package var memoryByteCount = 0
    package var space = SpaceFigures()

    package init() {}
}

extension Log {
    /// Who hears what happens to the log: the observer of the first opening.
    package var observer: (any LogObserver)? { options.observer }

    /// Adds names of tables, so that messages about damage name entities.
    package func addTableNames(_ names: [TableID: String]) { directory.watch.addTableNames(names) }

    /// How the log is.
    ///
    /// - Complexity: O(1): some locks that nobody holds for long, and no call of the system.
    package var health: LogHealth {
        let watch = directory.watch
        let space = watch.space
        let rot = watch.rotMet
        // What a kept state holds cannot be compacted.
        let neededByteCount = space.liveByteCount + space.keptByteCount
        let deadByteCount = space.segmentByteCount - min(neededByteCount, space.segmentByteCount)
        return LogHealth(
            opening: openReport, isClosed: hasEnded, failure: failure, fullDisk: watch.fullDisk,
            maintenanceFailure: watch.maintenanceFailure, rotPlaces: rot.places, rotCount: rot.count, space: space,
            isCompactionBehind: deadByteCount > max(space.liveByteCount, UInt64(options.segmentByteCount)))
    }

    /// What the log has done and holds.
    ///
    /// - Complexity: O(1), as `health`.
    package var figures: LogFigures {
        var figures = LogFigures()
        figures.commitCount = publisher.snapshot.sequence - min(openedSequence, publisher.snapshot.sequence)
        figures.writtenByteCount = writing?.committer.writtenByteCount ?? 0
        figures.spaceWaitCount = writing?.waits.count ?? 0
        figures.spaceWaitNanoseconds = writing?.waits.nanoseconds ?? 0
        figures.memoryByteCount = budget.used
        figures.space = directory.watch.space
        return figures
    }

    /// Bytes of log and of blobs that transactions wrote since the log was opened; what compaction moves is left out.
    ///
    /// - Complexity: Two loads.
    package var writtenByteCount: UInt64 {
        guard let committer = writing?.committer else { return 0 }
        return committer.writtenByteCount &+ committer.writtenBlobByteCount
    }
}
