internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Enters existing rows into indexes that a lightweight step adds: one bounded pass an entity, before the switch.
///
/// The migration is recorded before, so that no other save can add a row that the pass would miss; during an online one
/// such saves enter their rows themselves (`IndexMirror`). The entries belong to index numbers that the current catalog
/// does not name, so they are invisible before the switch; a stopped pass is repeated, and enters the same entries.
struct IndexBuilding {
    let log: Log
    let catalog: StoredCatalog
    let course: MigrationCourse
    /// The state that the step reads, for quarantining failed objects.
    var source: StoredCatalog?

    /// Enters the rows that others save meanwhile; nil if they cannot save.
    var mirror: IndexMirror?

    /// Bytes of keys and entries of one transaction: bounds its memory.
    private static let batchByteCount = 2 << 20

    func run(_ indexes: [EntityMapPlan.IndexToBuild], record: MigrationRecord) throws {
        let store = try RowStore(log: log, catalog: catalog)
        for name in Set(indexes.map(\.entity)).sorted() {
            guard let entity = store.storage.entity(named: name) else { continue }
            let total = log.snapshot().recordCount(of: entity.table)
            try course.begin(.indexes, of: name, total: total)
            let built = BuiltIndexes(store, entity, Set(indexes.filter { $0.entity == name }.map(\.index)))
            if let mirror {
                try OnlineIndexBuilding(log: log, built: built, mirror: mirror, course: course).run()
            } else {
                try build(built, record)
            }
        }
        // Entries without records of their own are durable only in runs.
        try log.checkpoint()
    }

    private func build(_ built: BuiltIndexes, _ record: MigrationRecord) throws {
        var batch = IndexBatch(store: built.store, entity: built.entity)
        let table = built.entity.table
        try log.snapshot().scan(table, from: 1, through: (1 << 48) - 1, readAhead: 128 << 10) { records in
            for row in records where !course.quarantine.contains(row.id, in: table.rawValue) {
                try built.forEachKey(of: built.store.view(row, of: built.entity), row.id, refuse: { throw $0 }) {
                    batch.add($0, $1, row.id)
                }
                if batch.byteCount >= Self.batchByteCount { try enter(&batch, record) }
                try course.advance()
            }
            return true
        }
        if !batch.isEmpty { try enter(&batch, record) }
    }

    /// Enters a batch in one transaction, then quarantines, or lists for a dry run, the objects that were refused.
    private func enter(_ batch: inout IndexBatch, _ record: MigrationRecord) throws {
        let entity = batch.entity
        _ = try log.write(author: nil) { transaction in
            // A transaction needs a record to be one.
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
            try batch.enter(in: &transaction, quarantine: course.quarantine, refuses: refusesObjects)
        }
        for (number, duplicate) in batch.takeDuplicates() {
            if let findings = course.findings {
                try findings.note(entity.name, number, stage: course.stageName, duplicate)
            } else if let old = source?.entityName(ofTable: entity.table.rawValue) {
                try course.quarantine.take(number, of: old, .init(duplicate, refusal: nil))
            }
        }
    }

    /// Whether an object with a used key is left out; else it ends the migration.
    private var refusesObjects: Bool { course.findings != nil || course.quarantine.isOn && source != nil }
}
