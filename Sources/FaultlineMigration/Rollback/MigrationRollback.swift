package import FaultlineLog
internal import FaultlineStore

/// Returns a store to the state before the switch of its newest migration.
package struct MigrationRollback {
    private let log: Log

    /// - Parameter log: The store, open for writing, and nowhere else.
    package init(_ log: Log) { self.log = log }

    /// Puts the state before the migration in force again, and closes the log.
    ///
    /// Where it throws a `RollbackError`, or `LogError` with `.lockedByAnother`, the log is still open. What the
    /// migration had written is part of that state, as it was in the moment before the switch: whoever opens the store
    /// under its old schema gives it up (`finish`).
    ///
    /// - Parameters:
    ///   - discardsCommits: Whether saves that followed may be lost.
    ///   - now: The clock, in nanoseconds since 1970.
    /// - Returns: The versions, and how many saves are gone.
    /// - Throws: `RollbackError`, `LogError`, `StoreError`.
    package func run(discardsCommits: Bool, now: Int64) throws -> RollbackReport {
        let kept = try log.keptState()
        let snapshot = log.snapshot()
        guard let kept, let record = try SwitchRecord.read(of: kept, in: snapshot) else {
            throw RollbackError(
                .nothingKept,
                "The store keeps no state to return to: its newest migration was given no grace period, or that has ended. Restore a backup."
            )
        }
        guard now < kept.untilNanoseconds else {
            let (late, isTooLong) = now.subtractingReportingOverflow(kept.untilNanoseconds)
            let seconds = (isTooLong ? Int64.max : late) / 1_000_000_000
            throw RollbackError(
                .graceOver, "The grace period has ended \(seconds) seconds ago. Restore a backup.")
        }
        let commits = Int(clamping: record.followerCount(in: snapshot))
        guard commits == 0 || discardsCommits else {
            throw RollbackError(
                .commitsFollowed,
                "\(commits) \(commits == 1 ? "save" : "saves") followed the migration, which a rollback would lose. Say that they may be discarded, or keep the store as it is.",
                commits: commits)
        }
        try log.returnToKeptState()
        return RollbackReport(from: record.to, to: record.from, commitsDiscarded: commits)
    }

    /// Gives the migration up that the state in force has under way, and deletes what it wrote.
    ///
    /// To be called when the store was opened again. Where it is cut short the next opening does it.
    package func finish() throws {
        guard let stored = try StoredCatalog.read(log.snapshot()) else { return }
        let abandoned = try MigrationAbandonment(log: log).run(stored)
        try LeftBehindCleaning(log: log, layouts: abandoned.layouts).run()
    }
}

/// The state before a switch, while it is kept.
struct SwitchKeeping {
    let log: Log

    /// Keeps the state as it is: the one that the switch is about to put out of force.
    ///
    /// - Returns: What the switch has to write down; nil where nothing is kept.
    func begin(_ options: MigrationOptions, from: String, to: String) throws -> SwitchRecord? {
        guard let nanoseconds = options.graceNanoseconds else { return nil }
        try log.keepState(for: nanoseconds)
        return try log.keptState().map { SwitchRecord(sequence: $0.sequence, from: from, to: to) }
    }

    /// What is kept, counted from the tables where dropping one has left that open.
    func period() throws -> GracePeriod? {
        try log.keptState(countsLive: log.hasUncountedDead).map { GracePeriod($0) }
    }

    /// Ends what is kept for a switch that did not come, or whose time is over.
    func settle(now: Int64) throws {
        guard let kept = try log.keptState() else { return }
        let record = try SwitchRecord.read(of: kept, in: log.snapshot())
        if record == nil || now >= kept.untilNanoseconds { try log.releaseKeptState() }
    }
}
