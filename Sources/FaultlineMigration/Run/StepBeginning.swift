internal import FaultlineLog
internal import FaultlineStore

/// Writes down that a step is under way: from then on nobody writes under the old schema.
struct StepBeginning {
    let log: Log
    let planDigest: String
    /// Position of the step.
    let place: Int
    /// The entity map in force.
    let mapInForce: EntityMap

    /// An old table and the new one whose identifiers begin behind its own, so that objects can keep theirs.
    typealias Successor = (old: UInt16, new: UInt16)

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
        record.report = progress.counts
        var bumped = mapInForce
        bumped.counters = counters
        _ = try log.write(author: nil) { transaction in
            let nextBlob = transaction.nextID(in: .blobs)
            record.firstBlob = progress.firstBlob ?? nextBlob
            if let ownTables {
                record.restart = StageRestart(
                    tables: ownTables, firstBlob: nextBlob, leftBehindCount: record.leftBehindCount)
            }
            try StoredCatalog.register(progress.newLayouts, in: &transaction)
            try StoredCatalog.put(bumped, StoredCatalog.RecordNumber.entityMap, in: &transaction)
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            for (old, new) in successors {
                let used = transaction.nextID(in: TableID(rawValue: old)) - 1
                if used > 0 { _ = try transaction.allocateIDs(Int(used), in: TableID(rawValue: new)) }
            }
        }
        return record
    }
}
