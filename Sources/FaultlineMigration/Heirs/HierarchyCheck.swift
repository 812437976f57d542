package import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
package import FaultlineStore

/// Checks the stored objects of hierarchies whose classes change: one bounded pass a table.
///
/// It runs when a step begins, so that a migration is refused before it writes, and again in the transaction of the
/// switch, because others may have saved meanwhile.
package struct HierarchyCheck {
    let log: Log
    /// The state that the step reads.
    let catalog: StoredCatalog
    let step: MigrationSteps.Step
    /// Whether values may be lost.
    let allowsLosses: Bool

    private static let readAheadByteCount = 128 << 10

    /// Makes the check of one step over the state that it reads.
    package init(_ log: Log, _ catalog: StoredCatalog, _ step: MigrationSteps.Step, _ options: MigrationOptions) {
        self.log = log
        self.catalog = catalog
        self.step = step
        allowsLosses =
            switch options.unhandledData {
            case .drop: true
            case .byPlan: step.stage != nil || options.allowsOlderSchema
            case .fail: false
            }
    }

    /// A condition, with the places in the old table that it names.
    private struct Condition {
        let demand: HierarchyChange.Demand
        let place: Int
        let slot: Int
    }

    /// The conditions on the rows of one table.
    private struct Table {
        let store: RowStore
        let entity: EntityStorage
        let conditions: [Condition]
    }

    /// Visits the entries of an index whose keys begin so, until the closure returns false.
    private typealias Entries = (
        _ index: IndexDefinition, _ prefix: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, RecordID) throws -> Bool
    ) throws -> Void

    /// Checks the newest state.
    ///
    /// - Throws: `MigrationError` of code `unhandledData` with the class and the object; the log's error if the store
    ///   cannot be read.
    /// - Complexity: O(n) for the n rows of changed hierarchies with conditions; memory for one read.
    func run() throws { try run(log.snapshot()) }

    /// Checks the state that a transaction begins with: saves may be queued that no snapshot has yet.
    ///
    /// - Throws: As above.
    /// - Complexity: As above; if a save is queued, rows are read one by one.
    package func run(in transaction: borrowing Transaction) throws {
        let snapshot = log.snapshot()
        if snapshot.sequence + 1 == transaction.sequence { return try run(snapshot) }
        for table in try tables() {
            let end = transaction.nextID(in: table.entity.table)
            var id: RecordID = 1
            while id < end {
                _ = try transaction.record(id, in: table.entity.table) { record in
                    try check(record, table) { try transaction.forEachEntry(in: $0, prefix: $1, $2) }
                }
                id += 1
            }
        }
    }

    private func run(_ snapshot: Snapshot) throws {
        for table in try tables() {
            try snapshot.scan(
                table.entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
            ) { records in
                for record in records {
                    try check(record, table) { try snapshot.forEachEntry(in: $0, prefix: $1, $2) }
                }
                return true
            }
        }
    }

    private func tables() throws -> [Table] {
        let difference = step.to.difference(from: step.from)
        guard !difference.hierarchyChanges.isEmpty else { return [] }
        let store = try RowStore(log: log, catalog: catalog)
        return difference.hierarchyChanges.sorted(by: { $0.key < $1.key }).compactMap { name, change in
            guard let oldName = difference.oldEntityNames[name], let entity = store.storage.entity(named: oldName)
            else { return nil }
            let conditions = conditions(change, entity, catalog.schema.entities[entity.ordinal])
            return conditions.isEmpty ? nil : Table(store: store, entity: entity, conditions: conditions)
        }
    }

    private func check(_ record: RecordView, _ table: Table, _ entries: Entries) throws {
        let row = try table.store.view(record, of: table.entity)
        let place = table.entity.hierarchy?.place(of: row) ?? 0
        for condition in table.conditions where condition.place == place {
            if try breaks(condition, row, record.id, table.entity, entries) {
                throw refusal(condition.demand, record.id)
            }
        }
    }

    private func conditions(
        _ change: HierarchyChange, _ entity: EntityStorage, _ schema: Schema.Entity
    ) -> [Condition] {
        change.demands.compactMap { demand in
            let place = entity.hierarchy.map { $0.place(of: demand.className) } ?? 0
            guard let place else { return nil }
            switch demand.kind {
            case .noObjects: return Condition(demand: demand, place: place, slot: -1)
            case .lostValue where allowsLosses: return nil
            case .noValue(let column), .aValue(let column), .lostValue(let column):
                guard let slot = schema.properties.firstIndex(where: { $0.name == column }) else { return nil }
                return Condition(demand: demand, place: place, slot: slot)
            }
        }
    }

    private func breaks(
        _ condition: Condition, _ row: RowView, _ id: RecordID, _ entity: EntityStorage, _ entries: Entries
    ) throws -> Bool {
        switch condition.demand.kind {
        case .noObjects: return true
        case .aValue: return try !has(condition.slot, row, id, entity, entries)
        case .noValue: return try has(condition.slot, row, id, entity, entries)
        // A default that the row lacks is no value of its own.
        case .lostValue:
            return try !row.isDefault(condition.slot) && has(condition.slot, row, id, entity, entries)
        }
    }

    private func has(
        _ slot: Int, _ row: RowView, _ id: RecordID, _ entity: EntityStorage, _ entries: Entries
    ) throws -> Bool {
        switch entity.slots[slot] {
        case .attribute: return !row.isNil(slot)
        case .toOne: return row.toOne(slot) != 0
        case .toMany(let relationship):
            return try MemberKey.withPrefix(owner: id) { prefix in
                var hasMember = false
                try entries(relationship.members.index, prefix) { _, _ in
                    hasMember = true
                    return false
                }
                return hasMember
            }
        }
    }

    private func refusal(_ demand: HierarchyChange.Demand, _ id: RecordID) -> MigrationError {
        let remedy =
            switch demand.kind {
            case .noObjects: "Delete the objects of the class by the version before, or give the property a default"
            case .noValue: "Clear the property by the version before"
            case .aValue: "Give every object a value by the version before"
            case .lostValue: "Take the values over by the version before, or allow it with unhandledData: .drop"
            }
        return MigrationError(
            .unhandledData,
            "The class \(demand.className) \(demand.reason), and object \(id) of it is in the store. \(remedy). The store is in its old state.",
            stage: step.title, entity: demand.className, object: id)
    }
}
