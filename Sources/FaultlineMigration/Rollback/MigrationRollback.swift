package import FaultlineLog
internal import FaultlineStore

/// Returns a store to the state before the switch of its newest migration.
package struct MigrationRollback {
    private let log: Log

    /// - Parameter log: The store, open for writing, and not open elsewhere.
    package init(_ log: Log) { self.log = log }

    /// Restores the state before the migration, and closes the log.
    ///
    /// If it throws a `RollbackError`, or `LogError` with `.lockedByAnother`, the log is still open. The output of the
    /// migration is part of that state, as it was just before the switch: the next opening under the old schema drops
    /// it (`finish`).
    /// - Parameters:
    ///   - discardsCommits: Whether saves after the migration may be lost.
    ///   - now: The clock, in nanoseconds since 1970.
    /// - Returns: The versions, and how many saves were discarded.
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

    /// Drops the unfinished migration of the current state, with its output.
    ///
    /// Call it after the store was opened again. If it is interrupted the next opening does it.
    package func finish() throws {
        guard let stored = try StoredCatalog.read(log.snapshot()) else { return }
        let abandoned = try MigrationAbandonment(log: log).run(stored)
        try LeftBehindCleaning(log: log, layouts: abandoned.layouts).run()
    }
}

/// The state before a switch, while it is kept.
struct SwitchKeeping {
    let log: Log

    /// Keeps the current state, which the switch is about to replace.
    ///
    /// - Returns: The record that the switch has to write; nil if nothing is kept.
    func begin(_ options: MigrationOptions, from: String, to: String) throws -> SwitchRecord? {
        guard let nanoseconds = options.graceNanoseconds else { return nil }
        try log.keepState(for: nanoseconds)
        return try log.keptState().map { SwitchRecord(sequence: $0.sequence, from: from, to: to) }
    }

    /// The kept state; its bytes are counted from the tables if dropping one has left the count open.
    func period() throws -> GracePeriod? {
        try log.keptState(countsLive: log.hasUncountedDead).map { GracePeriod($0) }
    }

    /// Releases the kept state if its switch did not happen, or its time is over.
    func settle(now: Int64) throws {
        guard let kept = try log.keptState() else { return }
        let record = try SwitchRecord.read(of: kept, in: log.snapshot())
        if record == nil || now >= kept.untilNanoseconds { try log.releaseKeptState() }
    }
}
