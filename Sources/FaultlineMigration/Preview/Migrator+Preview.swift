internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension Migrator {
    /// Runs the whole migration except its switch, and drops its output.
    ///
    /// The store's objects are as before; containers of the old schema cannot save during the run. After a kill, the
    /// next opening drops the output.
    ///
    /// - Parameters:
    ///   - failureLimit: Failures after which it ends.
    ///   - sample: Objects of each entity to convert; nil for all.
    /// - Returns: The effects of the migration, and the objects that would stop it.
    /// - Throws: `MigrationError` if there is no way to the schema, of code `underWay` if a stopped migration can be
    ///   resumed, of code `fullDisk` if a copy has too little room, of code `notOnline` as the migration, of codes
    ///   `backward`, `unhandledData` and `cancelled`; the store's error if it cannot be read or written.
    package mutating func preview(failureLimit: Int, sample: Int? = nil) throws -> MigrationReport {
        try inTurn { migrator in
            guard let stored = try StoredCatalog.read(migrator.log.snapshot()) else { return .nothingToPreview }
            if let migration = stored.migration, !migration.isNeverResumed, !migrator.options.previewsCopy {
                throw MigrationError(
                    .underWay,
                    "A migration of this store was stopped and can go on: a dry run would drop its progress. Open the store with its plan to finish it, or under the old schema to give it up; a dry run on a copy of the store (onCopy, --copy) drops nothing."
                )
            }
            let steps = try MigrationSteps(
                from: stored.schema, to: migrator.schema, plan: migrator.plan, mapping: migrator.options.mapping)
            guard !steps.all.isEmpty else { return .nothingToPreview }
            let consent = try MigrationConsent(migrator.log, stored, steps, migrator)
            try consent.checkVersion()
            try steps.checkReferences(over: stored)
            if migrator.options.isOnline {
                try OnlineCheck(stored: stored, steps: steps.all, options: migrator.options).run(consent)
            }
            try consent.checkValues()
            // Beside a copy the store is in use: its service needs the room.
            if migrator.options.previewsCopy, migrator.options.checksSpace {
                try SpaceCheck(log: migrator.log, stored: stored, steps: steps.all, isSample: sample != nil).run()
            }
            return try migrator.preview(
                steps, stored, PreviewFindings(limit: failureLimit, sample: sample))
        }
    }

    private func preview(_ steps: MigrationSteps, _ stored: StoredCatalog, _ findings: PreviewFindings) throws
        -> MigrationReport
    {
        let begun = try begin(stored, steps, digest: MigrationRecord.abandonedMark + steps.digest)
        let before = try log.usage(countsLive: false).byteCount
        let course = try MigrationCourse(
            log, options, stageCount: steps.all.count, resumed: nil, findings: findings)
        var isIncomplete = false
        do {
            var progress = StepProgress(stored: begun.stored, resumed: nil)
            try run(steps, begun, course, &progress)
            course.endStages()
        } catch {
            guard findings.isFull || PreviewFindings.isOfObject(error) else {
                // If this fails too, the next opening does it.
                try? giveUp()
                throw error
            }
            isIncomplete = true
            if !findings.isFull {
                try? findings.note((error as? MigrationError)?.entityName ?? "", nil, stage: course.stageName, error)
            }
        }
        let after = try log.usage(countsLive: false).byteCount
        var report = MigrationReport(steps.versions, course.settledCounts, lastPasses: [])
        report.isDryRun = true
        report.sample = findings.sample
        report.failures = findings.failures
        report.isIncomplete = isIncomplete
        if options.onFailure != .stop {
            for failure in findings.failures where failure.object != nil {
                report.quarantined.add(failure.stage, failure.entity, failure.rule.rawValue)
            }
        }
        report.diskBytesNeeded = max(report.bytesWritten, Int(clamping: after > before ? after - before : 0))
        try giveUp()
        return report
    }

    private func giveUp() throws {
        guard let now = try StoredCatalog.read(log.snapshot()) else { return }
        try MigrationAbandonment(log: log).run(now)
        try LeftBehindCleaning(log: log, layouts: now.layouts).run()
        try dropIndexes(notIn: now.map)
    }
}

extension MigrationReport {
    /// The report for a store that has the schema, or none yet.
    fileprivate static var nothingToPreview: MigrationReport {
        var report = MigrationReport()
        report.isDryRun = true
        return report
    }
}
