internal import FaultlineLog
internal import FaultlineStore

// Whether there is a migration to run, and whether it resumes an unfinished one.

extension Migrator {
    /// Whether `run` would migrate the store; reads its catalog, and writes nothing.
    ///
    /// - Throws: `MigrationError` if there is no way to the schema, as `run` would; the store's error if it cannot be
    ///   read.
    package func isDue() throws -> Bool {
        guard let stored = try StoredCatalog.read(log.snapshot()) else { return false }
        let steps = try MigrationSteps(
            from: stored.schema, stored.map, to: schema, plan: plan, mapping: options.mapping)
        guard !steps.all.isEmpty else { return false }
        try MigrationConsent(log, stored, steps, self).checkVersion()
        return true
    }

    /// The start of a new or resumed migration.
    struct Begun {
        var stored: StoredCatalog
        let digest: String
        /// The record of the migration, if it was begun and did not end.
        var resumed: MigrationRecord?
        /// Whether the work of the unfinished stage is dropped; that of the stages before stays.
        var dropsStage = false
        /// The step whose work was dropped for its revision; the first one if all work was dropped.
        var restartedStage: Int?

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
    /// - Throws: `MigrationError` of code `noProgress` if the unfinished stage was resumed in vain too often; the store's
    ///   error if it cannot be read or written.
    func begin(
        _ stored: StoredCatalog, _ steps: MigrationSteps, digest: String, fence: MigrationFence? = nil
    ) throws -> Begun {
        var begun = Begun(stored: stored, digest: digest)
        if let migration = stored.migration {
            switch continuation(of: migration, steps, digest) {
            case .goesOn: begun.resumed = try countResume(of: migration, steps.all[migration.stage])
            case .stageAgain:
                begun.restartedStage = steps.firstChanged(since: migration)
                begun.resumed =
                    try begun.restartedStage.map { _ in migration.withoutAttempts }
                    ?? countResume(of: migration, steps.all[migration.stage])
                begun.dropsStage = true
            case .migrationAgain:
                if isOf(steps, digest, migration) { begun.restartedStage = 0 }
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

    /// Takes text indexes out of the map in force that this release does not keep, before it writes a row.
    ///
    /// The release whose tokenizer they have builds them anew: it would take them as whole otherwise.
    func withoutUnknownTexts(_ stored: StoredCatalog) throws -> StoredCatalog {
        let map = stored.map.withoutUnknownTexts
        if map == stored.map { return stored }
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.write(stored.schema, map, newLayouts: [], in: &transaction)
        }
        try dropIndexes(notIn: map)
        return stored.under(stored.schema, map)
    }

    /// The treatment of an unfinished migration.
    private enum Continuation {
        case goesOn
        /// The stages before stay done.
        case stageAgain
        case migrationAgain
    }

    private func continuation(
        of migration: MigrationRecord, _ steps: MigrationSteps, _ digest: String
    ) -> Continuation {
        guard isOf(steps, digest, migration), !options.restarts else { return .migrationAgain }
        let step = steps.all[migration.stage]
        guard step.goesOn(from: migration) else { return .migrationAgain }
        let changed = steps.firstChanged(since: migration)
        if let changed, changed < migration.stage { return .migrationAgain }
        guard changed != nil || beginsAgain(step, migration) else { return .goesOn }
        return migration.restart == nil ? .migrationAgain : .stageAgain
    }

    /// Whether an unfinished migration is one by these steps.
    private func isOf(_ steps: MigrationSteps, _ digest: String, _ migration: MigrationRecord) -> Bool {
        migration.planDigest == digest && steps.all.indices.contains(migration.stage) && !migration.isNeverResumed
    }

    /// Whether the unfinished stage cannot be resumed, although its record and its revision match.
    ///
    /// Objects that were streamed before another one was quarantined may have to be undone, and a record from within
    /// the stage is not enough for that.
    private func beginsAgain(_ step: MigrationSteps.Step, _ migration: MigrationRecord) -> Bool {
        guard !step.streamedEntities.isEmpty else { return false }
        if case .quarantine = options.onFailure { return true }
        return migration.restart.map { $0.goesOn != true } ?? false
    }
}
