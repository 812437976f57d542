internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Work at the end of a stage that has quarantined objects: quarantines objects that require one of them, removes links
/// to them, and records the objects that referred to them.
///
/// It can be repeated after a kill with the same result. Without quarantined objects it costs nothing.
struct QuarantineSettling {
    let log: Log
    let step: MigrationSteps.Step
    /// The states that the stage has read and written.
    let source: StoredCatalog
    let target: StoredCatalog
    /// Entities of the new version that the stage rewrote.
    let rewritten: Set<String>
    let course: MigrationCourse
    /// The old objects of a new one, given by its number in a rewritten entity.
    let makers: (_ entity: String, _ number: RecordID) throws -> [(entity: String, number: RecordID)]

    private static let readAheadByteCount = 128 << 10
    /// The greatest number of references held before they are written.
    private static let referencesMax = 16_384
    /// The greatest number of objects held that require objects behind them.
    private static let waitingMax = 65_536

    private var keeper: QuarantineKeeper { course.quarantine }

    /// Settles the stage.
    ///
    /// - Returns: Whether it must restart without the quarantined objects, because one of them was used before.
    /// - Throws: `MigrationError` of code `quarantineFull` if too many fail, `stageFailed` if the old objects of a new
    ///   one are unknown; the store's error if it cannot be read or written.
    func run() throws -> Bool {
        guard !keeper.isEmpty else { return false }
        let oldNames = SchemaDifference(from: source.schema, to: target.schema).oldEntityNames
        let targetStore = try RowStore(log: log, catalog: target, isMigrationTarget: true)
        var unexplained: MigrationError?
        while try takeDependents(targetStore, oldNames, &unexplained) {}
        if keeper.isLate { return true }
        // New objects of quarantined ones would be missing.
        if let unexplained { throw unexplained }
        try noteReferences()
        let own = Set(target.map.tables).subtracting(source.map.tables)
        _ = try log.write(author: nil) { transaction in
            try unlink(targetStore, oldNames, in: &transaction) { own.contains($0.table.rawValue) }
        }
        return false
    }

    // MARK: Broken rules

    /// Quarantines objects that break rules on relationships.
    ///
    /// - Throws: As `run`.
    func take(_ broken: [BrokenRule]) throws {
        let oldNames = SchemaDifference(from: source.schema, to: target.schema).oldEntityNames
        for broken in broken {
            let reason = QuarantineKeeper.Reason(
                MigrationReport.Failure.Rule(broken.kind), broken.description, property: broken.propertyName)
            guard try take(broken.number, of: broken.entityName, oldNames, reason) else {
                throw MigrationError(
                    .stageFailed,
                    "An object from the stage to \(step.name) breaks a rule of the new version, and its origin is unknown: \(broken.description). The store is in its old state.",
                    stage: step.title, entity: broken.entityName, property: broken.propertyName, object: broken.number)
            }
        }
    }

    // MARK: Dependents

    /// A required relationship to an entity of which objects are quarantined.
    private struct RequiredSlot {
        let slot: Int
        /// The table of its targets in the version before.
        let table: UInt16
        /// Whether its targets are objects of the same entity.
        let isOwn: Bool
    }

    /// An object that requires one behind it, of which it is not known yet whether it will be taken.
    private struct Requirement {
        let number: RecordID
        let target: RecordID
        let slot: RequiredSlot
    }

    /// Quarantines the objects that require a quarantined one.
    ///
    /// - Returns: Whether there were any.
    private func takeDependents(
        _ store: RowStore, _ oldNames: [String: String], _ unexplained: inout MigrationError?
    ) throws -> Bool {
        let before = keeper.count
        for entity in store.storage.entities where !entity.requiredSlots.isEmpty {
            let slots = entity.requiredSlots.compactMap { slot -> RequiredSlot? in
                guard case .toOne(let relationship) = entity.slots[slot],
                    let table = sourceTable(of: store.storage.entities[relationship.destination].name, oldNames),
                    keeper.taken[table] != nil
                else { return nil }
                return RequiredSlot(slot: slot, table: table, isOwn: relationship.destination == entity.ordinal)
            }
            if !slots.isEmpty { try takeDependents(of: entity, slots, store, oldNames, &unexplained) }
        }
        return keeper.count > before
    }

    /// Quarantines the objects of an entity that require a quarantined one.
    ///
    /// A chain of objects of the entity that each require the one before, or each the one behind, is taken in one call:
    /// the rows are read forwards, and those that require objects behind them are then seen again backwards.
    private func takeDependents(
        of entity: EntityStorage, _ slots: [RequiredSlot], _ store: RowStore, _ oldNames: [String: String],
        _ unexplained: inout MigrationError?
    ) throws {
        let snapshot = log.snapshot()
        try course.begin(.validation, of: entity.name, total: snapshot.recordCount(of: entity.table))
        let properties = store.storage.schema.entities[entity.ordinal].properties
        let ownTable = rewritten.contains(entity.name) ? nil : sourceTable(of: entity.name, oldNames)
        var waiting: [Requirement] = []
        func take(_ number: RecordID, requiring target: RecordID, _ slot: RequiredSlot) throws {
            let property = properties[slot.slot].name
            let isExplained = try self.take(
                number, of: entity.name, oldNames,
                .init(
                    .dangling, "the object that it requires, \(target), is in the quarantine", property: property))
            if !isExplained { unexplained = self.unexplained(number, of: entity.name, property) }
        }
        func takeWaiting() throws {
            for object in waiting.reversed() where keeper.contains(object.target, in: object.slot.table) {
                try take(object.number, requiring: object.target, object.slot)
            }
            waiting.removeAll(keepingCapacity: true)
        }
        try snapshot.scan(
            entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
        ) { records in
            for record in records {
                // The row of an object that was taken before is still there.
                if let ownTable, keeper.contains(record.id, in: ownTable) { continue }
                let row = try store.view(record, of: entity)
                // Asks the keeper, which has also taken objects in this pass.
                if let broken = slots.first(where: { keeper.contains(row.toOne($0.slot), in: $0.table) }) {
                    try take(record.id, requiring: row.toOne(broken.slot), broken)
                    continue
                }
                for slot in slots where slot.isOwn && row.toOne(slot.slot) > record.id {
                    if waiting.count == Self.waitingMax { try takeWaiting() }
                    waiting.append(Requirement(number: record.id, target: row.toOne(slot.slot), slot: slot))
                }
            }
            try course.advance(by: records.count)
            return true
        }
        try takeWaiting()
    }

    /// Quarantines an object of the new version, or its old objects.
    ///
    /// - Returns: False if its old objects are unknown.
    private func take(
        _ number: RecordID, of entity: String, _ oldNames: [String: String], _ reason: QuarantineKeeper.Reason
    ) throws -> Bool {
        if !rewritten.contains(entity), let old = oldNames[entity] {
            try keeper.take(number, of: old, reason)
            return true
        }
        let old = try makers(entity, number)
        for object in old {
            try keeper.take(object.number, of: object.entity, reason)
            keeper.isLate = true
        }
        return !old.isEmpty
    }

    private func unexplained(_ number: RecordID, of entity: String, _ property: String) -> MigrationError {
        MigrationError(
            .stageFailed,
            "\(entity) \(number) from the stage to \(step.name) requires an object that is in the quarantine, and its origin is unknown. Make the relationship optional, or mend the stage. The store is in its old state.",
            stage: step.title, entity: entity, property: property, object: number)
    }

    private func sourceTable(of entity: String, _ oldNames: [String: String]) -> UInt16? {
        oldNames[entity].flatMap { source.map.entity(named: $0)?.table }
    }

    // MARK: References

    /// Records the objects of the version before that referred to those that this stage has quarantined.
    private func noteReferences() throws {
        let taken = Dictionary(grouping: keeper.ofStage, by: \.table).mapValues {
            Dictionary(uniqueKeysWithValues: $0.map { ($0.number, $0.record) })
        }
        guard !taken.isEmpty else { return }
        try forgetReferences(to: Set(keeper.ofStage.map(\.record)))
        let store = try RowStore(log: log, catalog: source)
        let snapshot = log.snapshot()
        for entity in store.storage.entities {
            for (slot, storage) in entity.slots.enumerated() {
                let name = store.storage.schema.entities[entity.ordinal].properties[slot].name
                var pass = ReferencePass(log: log, entity: entity.name, property: name, max: Self.referencesMax)
                switch storage {
                case .toOne(let relationship):
                    guard let records = taken[store.storage.entities[relationship.destination].table.rawValue] else {
                        continue
                    }
                    try snapshot.scan(
                        entity.table, from: 1, through: Limits.recordIDMax, readAhead: Self.readAheadByteCount
                    ) { rows in
                        for row in rows {
                            let target = try store.view(row, of: entity).toOne(slot)
                            if target != 0, let record = records[target] { try pass.add(row.id, to: record) }
                        }
                        return true
                    }
                case .toMany(let relationship):
                    guard case .link(let side, _) = relationship.members,
                        let records = taken[store.storage.entities[relationship.destination].table.rawValue]
                    else { continue }
                    for (number, record) in records.sorted(by: { $0.key < $1.key }) {
                        try snapshot.forEachMember(of: number, in: side.otherIndex) { member, _ in
                            try pass.add(member, to: record)
                        }
                    }
                case .attribute: continue
                }
                try pass.flush()
            }
        }
    }

    /// Deletes the records of an earlier run.
    private func forgetReferences(to owners: Set<RecordID>) throws {
        var old: [RecordID] = []
        try QuarantineEntry.forEach(in: log.snapshot(), from: keeper.first) { number, entry in
            if case .numbers(let numbers) = entry, numbers.refer, owners.contains(numbers.owner) { old.append(number) }
            return true
        }
        guard !old.isEmpty else { return }
        _ = try log.write(author: nil) { transaction in
            for number in old { try transaction.delete(number, in: .quarantine) }
        }
    }

    // MARK: Links

    /// Removes links to quarantined objects.
    private func unlink(
        _ store: RowStore, _ oldNames: [String: String], in transaction: inout Transaction,
        where isConcerned: (LinkSide) -> Bool
    ) throws {
        var numbers: [String: Set<RecordID>] = [:]
        for entity in store.storage.entities {
            if let table = sourceTable(of: entity.name, oldNames) { numbers[entity.name] = keeper.taken[table] }
        }
        try store.unlink(numbers, in: &transaction, log.snapshot(), where: isConcerned)
    }
}

extension RowStore {
    /// Removes the links from and to some objects, by entity.
    func unlink(
        _ numbers: [String: Set<RecordID>], in transaction: inout Transaction, _ snapshot: Snapshot,
        where isConcerned: (LinkSide) -> Bool = { _ in true }
    ) throws {
        var writer = RowWriter(self)
        func unlink(_ numbers: Set<RecordID>, _ index: IndexDefinition, _ side: LinkSide) throws {
            for number in numbers.sorted() {
                var links: [RecordID] = []
                try snapshot.forEachMember(of: number, in: index) { links.append($1) }
                for link in links { try writer.unlink(link, side, in: &transaction) }
            }
        }
        for entity in storage.entities {
            for case .toMany(let relationship) in entity.slots {
                guard case .link(let side, _) = relationship.members, isConcerned(side) else { continue }
                let destination = storage.entities[relationship.destination].name
                try unlink(numbers[entity.name] ?? [], side.index, side)
                try unlink(numbers[destination] ?? [], side.otherIndex, side)
            }
        }
    }
}

/// Moves the references of one property to the quarantine, a bounded number at a time.
private struct ReferencePass {
    let log: Log
    let entity: String
    let property: String
    let max: Int
    private var found: [RecordID: [UInt64]] = [:]
    private var count = 0

    init(log: Log, entity: String, property: String, max: Int) {
        self.log = log
        self.entity = entity
        self.property = property
        self.max = max
    }

    mutating func add(_ referrer: RecordID, to record: RecordID) throws {
        found[record, default: []].append(referrer)
        count += 1
        if count >= max { try flush() }
    }

    mutating func flush() throws {
        guard count > 0 else { return }
        let found = found
        _ = try log.write(author: nil) { transaction in
            for (record, numbers) in found.sorted(by: { $0.key < $1.key }) {
                for start in stride(from: 0, to: numbers.count, by: QuarantineEntry.numbersMax) {
                    let end = min(start + QuarantineEntry.numbersMax, numbers.count)
                    try QuarantineEntry.numbers(
                        QuarantinedNumbers(
                            owner: record, entity: self.entity, name: self.property, refer: true,
                            numbers: Array(numbers[start..<end]))
                    ).add(in: &transaction)
                }
            }
        }
        self.found.removeAll()
        count = 0
    }
}
