internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Writes down that a step is under way: from then on nobody writes under the old schema.
struct StepBeginning {
    let log: Log
    let planDigest: String
    /// Position of the step.
    let place: Int
    /// The entity map in force.
    let mapInForce: EntityMap
    let course: MigrationCourse
    /// The first record of the quarantine that the stage has written, where it begins again without what it has taken.
    var firstQuarantine: UInt64?

    /// An old table and the new one whose identifiers begin behind its own, so that objects can keep theirs.
    typealias Successor = (old: UInt16, new: UInt16)

    /// The old tables of entities whose objects are written anew, with the new ones.
    ///
    /// - Parameters:
    ///   - rewritten: Names of entities of the new version.
    ///   - current: What the step reads.
    ///   - target: What it writes.
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
    ///   - progress: What the steps before have come to; `newLayouts` has the layouts of this one.
    ///   - target: What the step writes.
    ///   - counters: The first numbers that are free behind those of the step.
    ///   - successors: Tables that take objects over.
    ///   - ownTables: What a stage that begins again when it was stopped writes; nil for one that is resumed.
    /// - Returns: The record as written.
    /// - Throws: What the log says where it cannot be written.
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

    /// Gives new tables the identifiers of old ones, so that records of the same identifiers can be put there.
    static func reserve(_ successors: [Successor], in transaction: inout Transaction) throws {
        for (old, new) in successors {
            let used = transaction.nextID(in: TableID(rawValue: old)) - 1
            if used > 0 { _ = try transaction.allocateIDs(Int(used), in: TableID(rawValue: new)) }
        }
    }

    /// Drops what the stage had written when it was stopped.
    ///
    /// Its blobs go last, when no row names them any more; should that be stopped, it is done again.
    ///
    /// - Parameters:
    ///   - stopped: The record of the stage.
    ///   - progress: What the steps before have come to.
    ///   - keepsQuarantine: Whether objects that it took into the quarantine stay there.
    /// - Throws: What the log says where it cannot be written.
    func takeBack(_ stopped: MigrationRecord, _ progress: inout StepProgress, keepsQuarantine: Bool = false) throws {
        // Numbers are given once: those of the stopped run are not given again.
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
        // What is there no more cannot be gone on with, whoever opens the store next.
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

    /// Takes back what the stage has written, so that it begins again without the objects that it has taken into the
    /// quarantine.
    ///
    /// - Parameter progress: What the steps before have come to.
    /// - Returns: How the stage begins now: numbers are given once.
    /// - Throws: What the log says where it cannot be read or written.
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
