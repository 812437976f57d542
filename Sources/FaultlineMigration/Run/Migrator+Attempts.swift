internal import FaultlineLog
internal import FaultlineStore

// A stage that is resumed in vain again and again is stopped: under a supervisor it would never end.

extension Migrator {
    /// Counts a resume of an unfinished stage, before any code of the stage runs.
    ///
    /// Durability: the count is durable when the call returns, so it survives a kill of the run.
    ///
    /// - Parameters:
    ///   - record: The record of the unfinished stage.
    ///   - step: The stage.
    /// - Returns: The record as written.
    /// - Throws: `MigrationError` of code `noProgress` if the stage was resumed in vain too often; the log's error if it
    ///   cannot be written.
    func countResume(of record: MigrationRecord, _ step: MigrationSteps.Step) throws -> MigrationRecord {
        var record = record
        var attempts = record.attempts ?? StageAttempts()
        let limit = options.vainResumesMax
        let isStuck = attempts.resumes >= limit || attempts.failures > limit
        if isStuck, !options.resumesAnyway { throw stuck(step, record, attempts, limit) }
        attempts.resumes += 1
        record.attempts = attempts
        _ = try log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        return record
    }

    /// Prepares the run of a migration that was begun; an error does not count as a vain resume, because no code of
    /// the stage has run.
    ///
    /// - Throws: `MigrationError` of code `fullDisk`; the store's error if the quarantine cannot be read.
    func prepare(
        _ begun: Begun, _ steps: MigrationSteps, replacing earlier: MigrationRecord?
    ) throws -> MigrationCourse {
        do {
            // A new migration was checked before anything was written.
            if options.checksSpace, begun.resumed == nil, earlier != nil {
                try SpaceCheck(log: log, stored: begun.stored, steps: steps.all).run()
            }
            let course = try MigrationCourse(log, options, stageCount: steps.all.count, resumed: begun.resumed)
            course.restartedStage = begun.restartedStage
            return course
        } catch {
            noteEnd(of: begun, steps, by: error, countsAsFailure: false)
            throw error
        }
    }

    /// Records the error that a run has ended with, for the decision at the next resume.
    ///
    /// An error that neither code nor an object has caused, such as a full disk or a cancellation, does not count.
    ///
    /// - Parameters:
    ///   - begun: The beginning of the run.
    ///   - steps: Its steps.
    ///   - error: The error.
    ///   - countsAsFailure: Whether the stage may have failed: its code has run, and has not cancelled the migration.
    func noteEnd(of begun: Begun, _ steps: MigrationSteps, by error: any Error, countsAsFailure: Bool) {
        // If the record cannot be read or written, the resume was counted, and the object is not known.
        guard
            var record = try? StoredCatalog.entry(
                MigrationRecord.self, StoredCatalog.RecordNumber.migration, in: log.snapshot()),
            !record.isNeverResumed, steps.all.indices.contains(record.stage)
        else { return }
        let before = record.attempts ?? StageAttempts()
        var attempts = before
        let counted = begun.resumed.map { $0.stage == record.stage ? $0.attempts?.resumes ?? 0 : 0 } ?? 0
        let isFull = (error as? MigrationError)?.code == .quarantineFull
        if countsAsFailure, isFull || PreviewFindings.isOfObject(error) {
            // The saves of the run are dropped.
            if steps.all[record.stage].beginsAgain(record) { attempts.resumes = counted }
            if let failure = error as? MigrationError { attempts.noteFailure(at: failure.entityName, failure.object) }
        } else if counted > 0, attempts.resumes == counted {
            attempts.resumes -= 1
        }
        guard attempts != before else { return }
        record.attempts = attempts
        _ = try? log.write(author: nil) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
    }

    private func stuck(
        _ step: MigrationSteps.Step, _ record: MigrationRecord, _ attempts: StageAttempts, _ limit: Int
    ) -> MigrationError {
        let hasFailed = attempts.failures > limit
        let saved = step.lastSaved(record)
        let entity = hasFailed ? attempts.entity : saved?.entity ?? attempts.entity
        let object = hasFailed ? attempts.object : saved.map(\.object) ?? attempts.object
        let name = entity.flatMap { entity in object.map { "\(entity) \($0)" } }
        let problem =
            if hasFailed, let name {
                "has failed at \(name) in \(attempts.failures) runs, one after the other"
            } else {
                "was resumed \(attempts.resumes) times without progress"
                    + (name.map { ", the last object being \($0)" } ?? "")
            }
        let remedy =
            step.isHeavy
            ? "Correct its code and raise the stage's `revision`, which begins the stage again; or begin the whole migration again by `restarts` in the options, or `--restart`."
            : "Begin the whole migration again by `restarts` in the options, or `--restart`."
        return MigrationError(
            .noProgress,
            "The stage \(step.title) \(problem), and is not run again. \(remedy) If the process was killed, give it the time and the memory that it needs; `migrate --resume` then goes on where the stage was. The store is in its old state.",
            stage: step.title, entity: entity, object: object)
    }
}

extension MigrationRecord {
    /// The same record for a stage that begins again with other code.
    var withoutAttempts: MigrationRecord {
        var record = self
        record.attempts = nil
        return record
    }
}

extension StageAttempts {
    /// Counts a failure at an object; does nothing if the error names none.
    fileprivate mutating func noteFailure(at entity: String?, _ object: UInt64?) {
        guard let entity, let object else { return }
        failures = failures > 0 && self.entity == entity && self.object == object ? min(failures, .max - 1) + 1 : 1
        self.entity = entity
        self.object = object
    }
}

extension MigrationSteps.Step {
    /// Whether the next resume drops the saves of the unfinished stage.
    fileprivate func beginsAgain(_ record: MigrationRecord) -> Bool {
        if closures != nil { return true }
        if !mappingModels.isEmpty { return record.mapped == nil }
        return !streamedEntities.isEmpty && record.restart.map { $0.goesOn != true } ?? false
    }

    /// The last object whose result the unfinished stage has saved, and keeps when it is resumed.
    ///
    /// In the second pass of a mapped stage it may be known by its entity only.
    fileprivate func lastSaved(_ record: MigrationRecord) -> (entity: String, object: UInt64?)? {
        if streamedEntities.indices.contains(record.entity), record.lastDone > 0 {
            return (streamedEntities[record.entity].entityName, record.lastDone)
        }
        let mappings = mappingModels.flatMap(\.entityMappings)
        guard let mapped = record.mapped, mappings.indices.contains(mapped.mapping), mapped.lastDone > 0 else {
            return nil
        }
        if mapped.pass == .make {
            return mappings[mapped.mapping].sourceEntityName.map { ($0, mapped.lastDone) }
        }
        return mappings[mapped.mapping].destinationEntityName.map { ($0, nil) }
    }
}
