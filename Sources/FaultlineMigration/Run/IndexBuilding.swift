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
    /// Approximate bytes of an entry beside its key.
    private static let entryByteCount = 96

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

    private func build(_ store: RowStore, _ entity: EntityStorage, _ numbers: Set<UInt32>, _ record: MigrationRecord)
        throws
    {
        let snapshot = log.snapshot()
        let unique = entity.uniqueIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        let secondary = entity.secondaryIndexes.contains { numbers.contains($0.definition.id.rawValue) }
        let members = entity.memberIndexes.filter { numbers.contains($0.definition.id.rawValue) }
        var batch: [(index: IndexDefinition, key: [UInt8], id: RecordID)] = []
        var batchByteCount = 0
        func add(_ index: IndexDefinition, _ key: [UInt8], _ id: RecordID) {
            batch.append((index, key, id))
            batchByteCount += key.count + Self.entryByteCount
        }
        // Objects that a dry run has listed, or that are quarantined when the transaction has ended.
        var refused: Set<RecordID> = []
        func flush() throws {
            var duplicates: [(number: RecordID, error: StoreError)] = []
            _ = try log.write(author: nil) { transaction in
                // A transaction needs a record to be one.
                try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
                for entry in batch where !refused.contains(entry.id) {
                    try entry.key.withUnsafeBytes { key in
                        if entry.index.isUnique, let other = try transaction.firstID(in: entry.index, key: key),
                            other != entry.id
                        {
                            let isFree =
                                refused.contains(other)
                                || course.quarantine.contains(other, in: entity.table.rawValue)
                            guard isFree else {
                                let duplicate = store.duplicate(other, entry.id, entity, entry.index)
                                guard course.findings != nil || course.quarantine.isOn && source != nil else {
                                    throw duplicate
                                }
                                refused.insert(entry.id)
                                duplicates.append((entry.id, duplicate))
                                return
                            }
                            // The holder breaks another rule, and leaves the table.
                            try transaction.removeEntry(entry.index, key: key, id: other)
                        }
                        try transaction.insertEntry(entry.index, key: key, id: entry.id)
                    }
                }
            }
            batch.removeAll(keepingCapacity: true)
            batchByteCount = 0
            for (number, duplicate) in duplicates {
                if let findings = course.findings {
                    try findings.note(entity.name, number, stage: course.stageName, duplicate)
                } else if let old = source?.entityName(ofTable: entity.table.rawValue) {
                    try course.quarantine.take(number, of: old, .init(duplicate, refusal: nil))
                }
            }
        }
        try snapshot.scan(entity.table, from: 1, through: (1 << 48) - 1, readAhead: 128 << 10) { records in
            for record in records where !course.quarantine.contains(record.id, in: entity.table.rawValue) {
                let view = try store.view(record, of: entity)
                for index in unique {
                    guard let key = try RowKeys.key(of: view, record.id, entity, index) else { continue }
                    add(index.definition, key, record.id)
                }
                if secondary {
                    for (index, key) in zip(entity.secondaryIndexes, store.secondaryKeys(of: view, entity))
                    where numbers.contains(index.definition.id.rawValue) {
                        add(index.definition, key, record.id)
                    }
                }
                for index in members {
                    let owner = view.toOne(index.slot)
                    guard owner != 0 else { continue }
                    let order = view.orderKey(index.slot) ?? MemberKey.defaultOrder(of: record.id)
                    MemberKey.with(owner: owner, order: order) {
                        add(index.definition, Array($0), record.id)
                    }
                }
                if batchByteCount >= Self.batchByteCount { try flush() }
                try course.advance()
            }
            return true
        }
        if !batch.isEmpty { try flush() }
    }
}
