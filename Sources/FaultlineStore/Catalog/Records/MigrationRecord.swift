package import FaultlineModel

/// A running migration in the catalog: its target and its progress.
///
/// Written in the same transaction as the objects that it describes, so it is never ahead of them or behind.
package struct MigrationRecord: Codable, Sendable {
    /// Identifies the plan: only the plan that began a migration resumes it.
    package var planDigest: String
    /// Position of the stage among the steps of this migration.
    package var stage: Int
    /// Position of the entity within the stage.
    package var entity: Int
    /// The last source object that was done.
    package var lastDone: UInt64
    /// Source objects of the entity that are done.
    package var entityDone: Int
    /// The schema that the stage reads.
    package var sourceSchema: Schema
    package var sourceMap: EntityMap
    /// The schema that the stage writes.
    package var targetSchema: Schema
    package var targetMap: EntityMap
    /// The number so far of catalog records of data to be deleted after the switch.
    package var leftBehindCount: Int
    /// Blobs from here on were written by the migration.
    package var firstBlob: UInt64
    /// Tables that earlier stages wrote.
    package var intermediateTables: [UInt16]
    /// Tables of entities that earlier stages removed without reading their objects.
    package var unreadTables: [UInt16]
    package var report: MigrationCounts
    /// The state that a custom, mapped or streamed stage returns to before it begins again; nil for other stages.
    package var restart: StageRestart?
    /// The numbers that were unused before the migration: tables and layouts return theirs when it is dropped.
    ///
    /// Nil in records of releases that returned only those of a dry run.
    package var unusedNumbers: NumberCounters?
    /// The revisions of the code of the steps up to this one; 0 for those that are missing, and nil if all are 0.
    package var revisions: [Int]?
    /// The resumes in vain of the unfinished stage; nil for none, and in records of releases that did not count them.
    package var attempts: StageAttempts?
    /// Records of the quarantine from here on were written by the migration; nil in records of releases without one.
    package var firstQuarantine: UInt64?
    /// The progress of a mapped stage; nil for one that begins again, and for other stages.
    package var mapped: MappedProgress?

    package init(
        planDigest: String, stage: Int, sourceSchema: Schema, sourceMap: EntityMap, targetSchema: Schema,
        targetMap: EntityMap
    ) {
        self.planDigest = planDigest
        self.stage = stage
        self.sourceSchema = sourceSchema
        self.sourceMap = sourceMap
        entity = 0
        lastDone = 0
        entityDone = 0
        self.targetSchema = targetSchema
        self.targetMap = targetMap
        firstBlob = 1
        intermediateTables = []
        unreadTables = []
        leftBehindCount = 0
        report = MigrationCounts()
    }
}

extension MigrationRecord {
    /// The beginning of the digest of a migration that is never resumed: a dry run, a fence, an online one.
    package static let abandonedMark = "preview "

    /// Whether the migration is never resumed: the next opening of the store abandons it.
    package var isNeverResumed: Bool { planDigest.hasPrefix(Self.abandonedMark) }

    /// Whether continuing from the record's counts cannot overflow.
    package var isPlausible: Bool {
        [stage, entity, entityDone, leftBehindCount, restart?.leftBehindCount ?? 0].allSatisfy {
            $0 >= 0 && $0 <= 1 << 56
        } && attempts?.isPlausible ?? true
    }

    /// Records that the stage has saved work: the count of resumes in vain begins again.
    ///
    /// Call it only for work that a later resume keeps.
    ///
    /// - Parameter isOnRequest: Whether the run was resumed on request: then the count of failures begins again too. It
    ///   does not otherwise, because an object that was saved may still fail at the stage's end.
    package mutating func noteProgress(isOnRequest: Bool) {
        attempts?.resumes = 0
        if isOnRequest { attempts?.failures = 0 }
    }
}

/// The beginning of a stage, to which it returns before it begins again.
package struct StageRestart: Codable, Sendable, Equatable {
    /// Every table that the stage writes.
    package var tables: [UInt16]
    /// Blobs from here on were written by the stage.
    package var firstBlob: UInt64
    /// The number of catalog records of data to be deleted after the switch, when the stage began.
    package var leftBehindCount: Int
    /// The counts when the stage began; nil in records of releases that did not keep them.
    package var counts: MigrationCounts?
    /// Records of the quarantine from here on were written by the stage; nil in records of releases without one.
    package var firstQuarantine: UInt64?
    /// Whether a streamed stage is resumed after a stop, and returns here only if it must begin again; nil for false,
    /// and for other stages.
    package var goesOn: Bool?

    package init(
        tables: [UInt16], firstBlob: UInt64, leftBehindCount: Int, counts: MigrationCounts? = nil,
        firstQuarantine: UInt64? = nil, goesOn: Bool? = nil
    ) {
        self.tables = tables
        self.firstBlob = firstBlob
        self.leftBehindCount = leftBehindCount
        self.counts = counts
        self.firstQuarantine = firstQuarantine
        self.goesOn = goesOn
    }
}
