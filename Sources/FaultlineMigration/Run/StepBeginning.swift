internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Records that a step is under way: from then on saves under the old schema are refused.
struct StepBeginning {
    let log: Log
    let planDigest: String
    /// Position of the step.
    let place: Int
    /// The current entity map.
    let mapInForce: EntityMap
    let course: MigrationCourse
    /// The first quarantine record of the stage, if it restarts without its quarantined objects.
    var firstQuarantine: UInt64?

    /// An old table and the new one whose new identifiers begin after the old ones, so that objects can keep theirs.
    typealias Successor = (old: UInt16, new: UInt16)

    /// The old tables of entities whose objects are rewritten, with the new ones.
    ///
    /// - Parameters:
    ///   - rewritten: Names of entities of the new version.
    ///   - current: The state that the step reads.
    ///   - target: The state that it writes.
    /// - Returns: A pair for each entity that both versions have.
    static func successors(
        of rewritten: Set<String>, from current: StoredCatalog, to target: StoredCatalog
    ) -> [Successor] {
        let oldNames = SchemaDifference(from: current.schema, to: target.schema).oldEntityNames
        return target.map.entities.filter { rewritten.contains($0.name) }.compactMap { entity in
            oldNames[entity.name].flatMap { current.map.entity(named: $0) }.map { ($0.table, entity.table) }
        }
    }

    /// Writes the record of a step.
    ///
    /// - Parameters:
    ///   - progress: The result of the steps before; `newLayouts` has the layouts of this one.
    ///   - target: The state that the step writes.
    ///   - counters: The first free numbers after those of the step.
    ///   - successors: Pairs of old and new tables.
    ///   - ownTables: The tables that a stage without resume writes; nil for one that is resumed.
    /// - Returns: The record as written.
    /// - Throws: The log's error if it cannot be written.
    func write(
        _ progress: StepProgress, target: StoredCatalog, counters: NumberCounters, successors: [Successor],
        ownTables: [UInt16]? = nil
    ) throws -> MigrationRecord {
        var record = MigrationRecord(
            planDigest: planDigest, stage: place, sourceSchema: progress.current.schema,
            sourceMap: progress.current.map, targetSchema: target.schema, targetMap: target.map)
        record.leftBehindCount = progress.leftBehindCount
        record.intermediateTables = progress.intermediateTables.sorted()
        record.unreadTables = progress.unreadTables.sorted()
        let before = course.countsBefore
        record.report = course.settledCounts
        record.firstQuarantine = course.quarantine.first
        var bumped = mapInForce
        bumped.counters = counters
        if record.isPreview { record.unusedNumbers = mapInForce.counters }
        _ = try log.write(author: nil) { transaction in
            let nextBlob = transaction.nextID(in: .blobs)
            record.firstBlob = progress.firstBlob ?? nextBlob
            if let ownTables {
                record.restart = StageRestart(
                    tables: ownTables, firstBlob: nextBlob, leftBehindCount: record.leftBehindCount, counts: before,
                    firstQuarantine: firstQuarantine ?? transaction.nextID(in: .quarantine))
            }
            try StoredCatalog.register(progress.newLayouts, in: &transaction)
            try StoredCatalog.put(bumped, StoredCatalog.RecordNumber.entityMap, in: &transaction)
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            try Self.reserve(successors, in: &transaction)
        }
        return record
    }

    /// Reserves the identifiers of old tables in new ones, so that records of the same identifiers can be put there.
    static func reserve(_ successors: [Successor], in transaction: inout Transaction) throws {
        for (old, new) in successors {
            let used = transaction.nextID(in: TableID(rawValue: old)) - 1
            if used > 0 { _ = try transaction.allocateIDs(Int(used), in: TableID(rawValue: new)) }
        }
    }

    /// Drops the output of a stopped stage.
    ///
    /// Its blobs are dropped last, when no row names them any more; if that is interrupted, it is repeated.
    ///
    /// - Parameters:
    ///   - stopped: The record of the stage.
    ///   - progress: The result of the steps before.
    ///   - keepsQuarantine: Whether objects that it quarantined stay there.
    /// - Throws: The log's error if it cannot be written.
    func takeBack(_ stopped: MigrationRecord, _ progress: inout StepProgress, keepsQuarantine: Bool = false) throws {
        // Numbers are never reused: those of the stopped run are skipped.
        progress.current = progress.current.under(
            progress.current.schema,
            EntityMap(
                entities: progress.current.map.entities, links: progress.current.map.links,
                counters: mapInForce.counters))
        guard let restart = stopped.restart else { return }
        course.takeBack(to: restart.counts)
        progress.leftBehindCount = restart.leftBehindCount
        var record = stopped
        record.leftBehindCount = restart.leftBehindCount
        record.restart?.tables = []
        // The dropped work cannot be resumed, also not by the next opening.
        record.mapped = nil
        _ = try log.write(author: nil) { transaction in
            for table in restart.tables { try transaction.dropTable(TableID(rawValue: table)) }
            for place in restart.leftBehindCount..<max(restart.leftBehindCount, stopped.leftBehindCount) {
                try transaction.delete(StoredCatalog.RecordNumber.leftBehind + RecordID(place), in: .catalog)
            }
            if !keepsQuarantine, let first = restart.firstQuarantine {
                try QuarantineKeeper.delete(from: first, in: &transaction)
            }
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        if !keepsQuarantine { try course.quarantine.reload() }
        try LeftBehindCleaning(log: log, layouts: progress.current.layouts)
            .deleteBlobs(from: restart.firstBlob, to: log.snapshot().nextID(of: .blobs))
    }

    /// Drops the stage's output, so that it restarts without its quarantined objects.
    ///
    /// - Parameter progress: The result of the steps before.
    /// - Returns: The new beginning of the stage: numbers are never reused.
    /// - Throws: The log's error if it cannot be read or written.
    func again(_ progress: inout StepProgress) throws -> StepBeginning {
        guard let now = try StoredCatalog.read(log.snapshot()), let record = now.migration else {
            throw MigrationError(.storage, "The migration's record is gone while it runs. Run `faultline verify`.")
        }
        var beginning = StepBeginning(
            log: log, planDigest: planDigest, place: place, mapInForce: now.map, course: course)
        beginning.firstQuarantine = record.restart?.firstQuarantine
        try beginning.takeBack(record, &progress, keepsQuarantine: true)
        course.quarantine.isLate = false
        return beginning
    }
}
