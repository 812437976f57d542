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
    /// The numbers that were unused before the migration; nil if an older release began it.
    let unusedNumbers: NumberCounters?
    /// The revisions of the code of the steps up to this one.
    let revisions: [Int]
    /// Whether the work of a stopped run is dropped, also if the stage could resume it.
    var beginsAgain = false
    /// The first quarantine record of the stage, if it restarts without its quarantined objects.
    var firstQuarantine: UInt64?
    /// The resumes in vain of the stage; nil if it has not begun before.
    var attempts: StageAttempts?
    /// Whether others save meanwhile.
    var isOnline = false

    private var recordedRevisions: [Int]? { revisions.allSatisfy { $0 == 0 } ? nil : revisions }

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
    ///   - ownTables: The tables that the stage writes; nil for one that never begins again.
    ///   - goesOn: Whether the stage is resumed after a stop.
    /// - Returns: The record as written.
    /// - Throws: The log's error if it cannot be written.
    func write(
        _ progress: StepProgress, target: StoredCatalog, counters: NumberCounters, successors: [Successor],
        ownTables: [UInt16]? = nil, goesOn: Bool = false
    ) throws -> MigrationRecord {
        var record = MigrationRecord(
            planDigest: planDigest, stage: place, sourceSchema: progress.current.schema,
            sourceMap: progress.current.map, targetSchema: target.schema, targetMap: target.map)
        record.leftBehindCount = progress.leftBehindCount
        // Stages before the last one have written tables that nothing reads any more; those with values to delete after
        // the switch stay until then.
        let finished = progress.intermediateTables.subtracting(progress.current.map.tables)
            .subtracting(mapInForce.tables).subtracting(progress.unreadTables)
        record.intermediateTables = progress.intermediateTables.subtracting(finished).sorted()
        record.unreadTables = progress.unreadTables.sorted()
        let before = course.countsBefore
        record.report = course.settledCounts
        record.firstQuarantine = course.quarantine.first
        var bumped = mapInForce
        bumped.counters = counters
        record.unusedNumbers = unusedNumbers
        record.revisions = recordedRevisions
        record.attempts = attempts
        _ = try log.write(author: nil) { transaction in
            let nextBlob = transaction.nextID(in: .blobs)
            // Large values that are written while an online migration runs are not its own.
            record.firstBlob = isOnline ? Limits.recordIDMax : progress.firstBlob ?? nextBlob
            if let ownTables {
                record.restart = StageRestart(
                    tables: ownTables, firstBlob: nextBlob, leftBehindCount: record.leftBehindCount, counts: before,
                    firstQuarantine: firstQuarantine ?? transaction.nextID(in: .quarantine),
                    goesOn: goesOn ? true : nil)
            }
            for table in finished.sorted() where transaction.recordCount(of: TableID(rawValue: table)) > 0 {
                try transaction.dropTable(TableID(rawValue: table))
            }
            if counters.layout < mapInForce.counters.layout {
                try FreedNumbers.deleteLayouts(counters.layout..<mapInForce.counters.layout, in: &transaction)
            }
            try StoredCatalog.register(progress.newLayouts, in: &transaction)
            try StoredCatalog.put(bumped, StoredCatalog.RecordNumber.entityMap, in: &transaction)
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            try Self.reserve(successors, in: &transaction)
        }
        return record
    }

    /// Resumes a step: reserves the identifiers of old tables again if the store has lost that.
    ///
    /// - Parameters:
    ///   - record: The record of the step.
    ///   - successors: Pairs of old and new tables.
    /// - Returns: The record.
    /// - Throws: The log's error if it cannot be written.
    func resume(_ record: MigrationRecord, successors: [Successor]) throws -> MigrationRecord {
        let snapshot = log.snapshot()
        let isReserved = successors.allSatisfy { old, new in
            snapshot.nextID(of: TableID(rawValue: old)) <= snapshot.nextID(of: TableID(rawValue: new))
        }
        if isReserved { return record }
        _ = try log.write(author: nil) { transaction in
            // A transaction needs a record to be one.
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            try Self.reserve(successors, in: &transaction)
        }
        return record
    }

    /// Reserves the identifiers of old tables in new ones, so that records of the same identifiers can be put there.
    ///
    /// Only a checkpoint makes that durable; a table whose number an earlier attempt had may have them already.
    static func reserve(_ successors: [Successor], in transaction: inout Transaction) throws {
        for (old, new) in successors {
            let next = transaction.nextID(in: TableID(rawValue: old))
            let reserved = transaction.nextID(in: TableID(rawValue: new))
            if next > reserved { _ = try transaction.allocateIDs(Int(next - reserved), in: TableID(rawValue: new)) }
        }
    }

    /// Drops the output of a stopped stage, and frees its numbers of tables and layouts for its next run.
    ///
    /// Its blobs are dropped last, when no row names them any more; if that is interrupted, it is repeated. The catalog
    /// keeps layouts and counters until the record of the next run replaces the one that names them.
    ///
    /// - Parameters:
    ///   - stopped: The record of the stage.
    ///   - progress: The result of the steps before.
    ///   - keepsQuarantine: Whether objects that it quarantined stay there.
    /// - Throws: The log's error if it cannot be written.
    func takeBack(_ stopped: MigrationRecord, _ progress: inout StepProgress, keepsQuarantine: Bool = false) throws {
        guard let restart = stopped.restart else {
            progress.current = progress.current.counting(from: mapInForce.counters)
            return
        }
        let freed = FreedNumbers(in: mapInForce, to: stopped.sourceMap.counters, keeping: stopped.sourceMap)
        progress.current = progress.current.counting(from: freed.map.counters)
        course.takeBack(to: restart.counts)
        progress.leftBehindCount = restart.leftBehindCount
        var record = stopped
        record.leftBehindCount = restart.leftBehindCount
        record.restart?.tables = []
        // The dropped work cannot be resumed, also not by the next opening.
        record.mapped = nil
        record.entity = 0
        record.lastDone = 0
        record.entityDone = 0
        record.restart?.goesOn = nil
        // The drop is counted now: the next opening finds these revisions.
        record.report = course.settledCounts
        record.revisions = recordedRevisions
        _ = try log.write(author: nil) { transaction in
            try freed.dropTables(and: restart.tables, in: &transaction)
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
        let named = mapInForce.indexes.union(stopped.sourceMap.indexes)
        for index in log.indexIDs where !named.contains(index.rawValue) { try log.dropIndex(index) }
    }

    /// Drops the stage's output, so that it restarts without its quarantined objects.
    ///
    /// - Parameter progress: The result of the steps before.
    /// - Returns: The new beginning of the stage.
    /// - Throws: The log's error if it cannot be read or written.
    func again(_ progress: inout StepProgress) throws -> StepBeginning {
        guard let now = try StoredCatalog.read(log.snapshot()), let record = now.migration else {
            throw MigrationError(.storage, "The migration's record is gone while it runs. Run `faultline verify`.")
        }
        var beginning = StepBeginning(
            log: log, planDigest: planDigest, place: place, mapInForce: now.map, course: course,
            unusedNumbers: unusedNumbers, revisions: revisions)
        beginning.firstQuarantine = record.restart?.firstQuarantine
        beginning.attempts = record.attempts
        try beginning.takeBack(record, &progress, keepsQuarantine: true)
        course.quarantine.isLate = false
        return beginning
    }
}

extension MigrationRecord {
    /// Blobs from here on were written by the stage, which may delete them at once.
    ///
    /// Those below are of the state before the stage, to which it returns if it begins again.
    var firstStageBlob: UInt64 { restart?.firstBlob ?? firstBlob }
}

extension StoredCatalog {
    /// The same catalog with other next numbers, and only layouts below them.
    fileprivate func counting(from counters: NumberCounters) -> StoredCatalog {
        StoredCatalog(
            schema: schema, map: EntityMap(entities: map.entities, links: map.links, counters: counters),
            layouts: layouts.filter { $0.key < counters.layout })
    }
}
