internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Enters existing rows into indexes that a lightweight step adds: one bounded pass an entity, before the switch.
///
/// The migration is recorded before, so that no other save can add a row that the pass would miss. The entries belong
/// to index numbers that the current catalog does not name, so they are invisible before the switch; a stopped pass is
/// repeated, and enters the same entries.
struct IndexBuilding {
    let log: Log
    let catalog: StoredCatalog
    let course: MigrationCourse
    /// The state that the step reads, for quarantining failed objects.
    var source: StoredCatalog?

    /// Bytes of keys and entries of one transaction: bounds its memory.
    private static let batchByteCount = 2 << 20

    func run(_ indexes: [EntityMapPlan.IndexToBuild], record: MigrationRecord) throws {
        let store = try RowStore(log: log, catalog: catalog)
        for name in Set(indexes.map(\.entity)).sorted() {
            guard let entity = store.storage.entity(named: name) else { continue }
            let total = log.snapshot().recordCount(of: entity.table)
            try course.begin(.indexes, of: name, total: total)
            let numbers = Set(indexes.filter { $0.entity == name }.map(\.index))
            try build(store, entity, numbers, record)
        }
        // Entries without records of their own are durable only in runs.
        try log.checkpoint()
    }

    /// The new indexes of an entity.
    private struct Wanted {
        let unique: [UniqueIndex]
        let hasSecondary: Bool
        let members: [MemberIndex]
        let numbers: Set<UInt32>

        init(_ entity: EntityStorage, _ numbers: Set<UInt32>) {
            self.numbers = numbers
            unique = entity.uniqueIndexes.filter { numbers.contains($0.definition.id.rawValue) }
            hasSecondary = entity.secondaryIndexes.contains { numbers.contains($0.definition.id.rawValue) }
            members = entity.memberIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        }
    }

    private func build(_ store: RowStore, _ entity: EntityStorage, _ numbers: Set<UInt32>, _ record: MigrationRecord)
        throws
    {
        let wanted = Wanted(entity, numbers)
        var batch = IndexBatch(store: store, entity: entity)
        let table = entity.table
        try log.snapshot().scan(table, from: 1, through: (1 << 48) - 1, readAhead: 128 << 10) { records in
            for row in records where !course.quarantine.contains(row.id, in: table.rawValue) {
                try addEntries(of: store.view(row, of: entity), row.id, wanted, to: &batch)
                if batch.byteCount >= Self.batchByteCount { try enter(&batch, record) }
                try course.advance()
            }
            return true
        }
        if !batch.isEmpty { try enter(&batch, record) }
    }

    private func addEntries(
        of view: borrowing RowView, _ id: RecordID, _ wanted: Wanted, to batch: inout IndexBatch
    ) throws {
        let (store, entity) = (batch.store, batch.entity)
        for index in wanted.unique {
            guard let key = try RowKeys.key(of: view, id, entity, index) else { continue }
            batch.add(index.definition, key, id)
        }
        if wanted.hasSecondary {
            for (index, key) in zip(entity.secondaryIndexes, store.secondaryKeys(of: view, entity))
            where wanted.numbers.contains(index.definition.id.rawValue) {
                batch.add(index.definition, key, id)
            }
        }
        for index in wanted.members {
            let owner = view.toOne(index.slot)
            guard owner != 0 else { continue }
            let order = view.orderKey(index.slot) ?? MemberKey.defaultOrder(of: id)
            MemberKey.with(owner: owner, order: order) { batch.add(index.definition, Array($0), id) }
        }
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
