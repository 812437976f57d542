internal import FaultlineLog
internal import FaultlineStore

// Whether a migration resumes an unfinished one.

extension Migrator {
    /// The start of a new or resumed migration.
    struct Begun {
        var stored: StoredCatalog
        let digest: String
        /// The record of the migration, if it was begun and did not end.
        var resumed: MigrationRecord?

        /// The numbers that were unused before the migration; nil if an older release began it.
        var unusedNumbers: NumberCounters? {
            guard let resumed else { return stored.map.counters }
            return resumed.unusedNumbers
        }
    }

    /// Decides whether an unfinished migration is resumed, and drops it if not.
    ///
    /// - Parameters:
    ///   - stored: The current catalog.
    ///   - steps: The way to the requested schema.
    ///   - digest: The identity of the migration.
    ///   - fence: Is raised already, and stays so if an earlier migration is dropped; nil for none.
    /// - Returns: The state to begin at.
    /// - Throws: The store's error if it cannot be read or written.
    func begin(
        _ stored: StoredCatalog, _ steps: MigrationSteps, digest: String, fence: MigrationFence? = nil
    ) throws -> Begun {
        var begun = Begun(stored: stored, digest: digest)
        if let migration = stored.migration {
            if migration.planDigest == digest, migration.stage < steps.all.count, !migration.isPreview,
                steps.all[migration.stage].goesOn(from: migration),
                !beginsAnew(steps.all[migration.stage], migration)
            {
                begun.resumed = migration
            } else {
                begun.stored = try MigrationAbandonment(log: log).run(stored, leaving: fence)
            }
        }
        // An earlier migration may have left records: this one begins its own at 0.
        if begun.resumed == nil {
            try LeftBehindCleaning(log: log, layouts: begun.stored.layouts).run()
            if stored.migration != nil { try dropIndexes(notIn: begun.stored.map) }
            if let first = steps.all.first { begun.stored = try takeOver(first.from, begun.stored) }
        }
        return begun
    }

    /// Whether an unfinished migration is dropped, although its record matches.
    ///
    /// Objects that were streamed before another one was quarantined may have to be undone, and a record from within
    /// the stage is not enough for that.
    private func beginsAnew(_ step: MigrationSteps.Step, _ migration: MigrationRecord) -> Bool {
        guard !step.streamedEntities.isEmpty else { return false }
        if case .quarantine = options.onFailure { return true }
        return migration.restart != nil
    }
}
