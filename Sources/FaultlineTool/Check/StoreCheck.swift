import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineRepair
import FaultlineStore

/// The whole check of a store: the log's own check, then rows against their layouts, references against rows, large
/// values against blobs.
final class StoreCheck {
    /// A to-one slot, and its destination's table.
    private struct Reference {
        let slot: Int
        let table: TableID
        var dangling: DanglingReferences
    }

    let store: OpenedStore
    private let found: (StoreFinding) -> Void
    /// References to deleted objects, which the schema may allow: not among the findings.
    private(set) var dangling: [DanglingReferences] = []
    /// Blobs that nothing refers to: not among the findings either.
    var orphans = OrphanedBlobs()
    /// The blobs that were met.
    var search: OrphanSearch
    /// Rows that were looked at.
    private(set) var objectCount = 0

    /// Prepares a check.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - found: Called with each finding at once.
    init(_ store: OpenedStore, found: @escaping (StoreFinding) -> Void) {
        self.store = store
        self.found = found
        search = OrphanSearch(end: store.snapshot.nextID(of: .blobs))
    }

    /// Runs the check.
    ///
    /// - Parameter progress: Called with the bytes done so far, and the bytes in all.
    /// - Throws: Only if the disk does not answer.
    func run(progress: (_ done: Int, _ total: Int) -> Void) throws {
        let rowCount = store.rows.storage.entities.reduce(0) { $0 + store.snapshot.recordCount(of: $1.table) }
        // The rows are about a third of the bytes that the log's own check reads: it reads them twice, and blobs.
        var logByteCount = 0
        try store.log.verify(
            { found(StoreFinding($0)) },
            progress: { done, total in
                logByteCount = Int(clamping: total)
                progress(Int(clamping: done), logByteCount + logByteCount / 3)
            }
        )
        for entity in store.rows.storage.entities {
            try scan(entity) {
                let share = Double(objectCount) / Double(max(rowCount, 1))
                progress(logByteCount + Int(share * Double(logByteCount / 3)), logByteCount + logByteCount / 3)
            }
        }
        try checkHistory()
        try countOrphans()
    }

    /// Decodes every record of the history.
    private func checkHistory() throws {
        // The log's own check has named those that do not verify.
        try store.snapshot.scanPastDamage(.history, readAhead: 256 << 10) { _ in
        } _: { records in
            for record in records {
                if let error = store.snapshot.historyDamage(in: record) { found(StoreFinding(error)) }
            }
            return true
        }
    }

    /// Checks every row of an entity that can be read.
    private func scan(_ entity: EntityStorage, progress: () -> Void) throws {
        var references = references(of: entity)
        try store.snapshot.scanPastDamage(entity.table, readAhead: 256 << 10) { _ in
            // The log's own check has named every such record.
            orphans.unreadableCount += 1
        } _: { records in
            for record in records { try check(record, entity, &references) }
            progress()
            return true
        }
        dangling += references.map(\.dangling).filter { $0.count > 0 }
    }

    private func references(of entity: EntityStorage) -> [Reference] {
        let entities = store.rows.storage.entities
        let properties = store.rows.storage.schema.entities[entity.ordinal].properties
        return entity.slots.enumerated().compactMap { slot, storage in
            guard case .toOne(let toOne) = storage else { return nil }
            return Reference(
                slot: slot, table: entities[toOne.destination].table,
                dangling: DanglingReferences(entity: entity.name, property: properties[slot].name))
        }
    }

    private func check(_ record: RecordView, _ entity: EntityStorage, _ references: inout [Reference]) throws {
        objectCount += 1
        guard let row = view(record, entity) else { return }
        for place in references.indices { try check(row, &references[place], record.id, entity) }
        for slot in entity.variableSlots where !row.isNil(slot) {
            guard let blob = row.blobReference(slot) else { continue }
            search.mark(blob.identifier)
            guard let fault = try fault(of: blob) else { continue }
            found(
                StoreFinding(
                    .contradiction,
                    "Object \(record.id) of \(entity.name) has its value of slot \(slot) in blob \(blob.identifier), \(fault).",
                    object: record.id
                )
            )
        }
    }

    /// The record's row; nil, and a finding, if it does not fit its layout.
    private func view(_ record: RecordView, _ entity: EntityStorage) -> RowView? {
        do {
            return try store.rows.view(record, of: entity)
        } catch {
            orphans.unreadableCount += 1
            found(StoreFinding(.damage, CommandFailure.sentence(for: error), object: record.id))
            return nil
        }
    }

    private func check(_ row: RowView, _ reference: inout Reference, _ id: RecordID, _ entity: EntityStorage) throws {
        let target = row.toOne(reference.slot)
        guard target != 0, try store.snapshot.location(of: target, in: reference.table).isAbsent else { return }
        // An object of that number was there once, and was deleted under a rule that leaves references alone.
        if target < store.snapshot.nextID(of: reference.table) { return reference.dangling.add() }
        found(
            StoreFinding(
                .contradiction,
                "Object \(id) of \(entity.name) refers to object \(target) by slot \(reference.slot), and there never was one.",
                object: id
            )
        )
    }

    /// The fault of the blob that a row names; nil if it has none.
    private func fault(of reference: BlobReference) throws -> String? {
        do {
            let byteCount = try store.snapshot.blobByteCount(reference.identifier)
            return byteCount == reference.byteCount
                ? nil : "which has \(byteCount) bytes instead of \(reference.byteCount)"
        } catch {
            guard error.code == .missing else { throw error }
            return "which does not exist"
        }
    }
}

/// References of one property that lead to deleted objects: they read as nil, and are no damage.
struct DanglingReferences: CustomStringConvertible {
    let entity: String
    let property: String
    private(set) var count = 0

    init(entity: String, property: String) {
        self.entity = entity
        self.property = property
    }

    mutating func add() { count += 1 }

    var description: String {
        "dangling: \(Quantity.count(count)) objects of \(entity) refer by \(property) to objects that are gone."
    }
}
