package import FaultlineModel

/// A migration under way, as the catalog keeps it: where it is going and how far it is.
///
/// Written in the same transaction as the objects it speaks of, so it is never ahead of them or behind.
package struct MigrationRecord: Codable, Sendable {
    /// Tells this plan's stages from another's: a migration is resumed only by the plan that began it.
    package var planDigest: String
    /// Position of the stage among the steps of this migration.
    package var stage: Int
    /// Position of the entity within the stage.
    package var entity: Int
    /// The last source object that was done.
    package var lastDone: UInt64
    /// Source objects of the entity that are done.
    package var entityDone: Int
    /// What the stage reads.
    package var sourceSchema: Schema
    package var sourceMap: EntityMap
    /// What the stage writes.
    package var targetSchema: Schema
    package var targetMap: EntityMap
    /// Catalog records so far of what is to be deleted after the switch.
    package var leftBehindCount: Int
    /// Blobs from here on were written by the migration.
    package var firstBlob: UInt64
    /// Tables that earlier stages wrote.
    package var intermediateTables: [UInt16]
    /// Tables of entities that earlier stages left out without reading their objects.
    package var unreadTables: [UInt16]
    package var report: MigrationCounts
    /// What a custom or mapped stage has to take back before it begins again; nil for other stages.
    package var restart: StageRestart?
    /// Of a dry run, the numbers that were unused before it; its tables and layouts give theirs back with it.
    package var unusedNumbers: NumberCounters?
    /// Records of the quarantine from here on were written by the migration; nil in records of releases without one.
    package var firstQuarantine: UInt64?
    /// How far a mapped stage is; nil for one that begins again, and for other stages.
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
    /// What the digest of a preview begins with: nobody goes on with one.
    package static let previewMark = "preview "

    /// Whether the migration was only tried out: whoever opens the store next gives it up.
    package var isPreview: Bool { planDigest.hasPrefix(Self.previewMark) }
}

/// Where a custom stage began: it is not resumed, but begun again.
package struct StageRestart: Codable, Sendable, Equatable {
    /// Every table that the stage writes.
    package var tables: [UInt16]
    /// Blobs from here on were written by the stage.
    package var firstBlob: UInt64
    /// Catalog records of what is to be deleted after the switch, as many as there were when the stage began.
    package var leftBehindCount: Int
    /// What had been counted when the stage began; nil in records of releases that did not keep it.
    package var counts: MigrationCounts?
    /// Records of the quarantine from here on were written by the stage; nil in records of releases without one.
    package var firstQuarantine: UInt64?

    package init(
        tables: [UInt16], firstBlob: UInt64, leftBehindCount: Int, counts: MigrationCounts? = nil,
        firstQuarantine: UInt64? = nil
    ) {
        self.tables = tables
        self.firstBlob = firstBlob
        self.leftBehindCount = leftBehindCount
        self.counts = counts
        self.firstQuarantine = firstQuarantine
    }
}
