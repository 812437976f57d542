internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Takes the objects that a migration cannot convert into the quarantine, and knows those that it has taken.
///
/// Rows that a step only looks at stay in their tables until the switch, as the old state has them: whoever walks rows
/// leaves out those that are `contains`. It belongs to the one thread that migrates.
final class QuarantineKeeper {
    private let log: Log
    /// Objects that are taken at most; nil where an object that fails stops the migration.
    private let limit: Int?
    /// The first record of this migration.
    let first: RecordID

    /// Objects that were taken, by table and number.
    private(set) var taken: [UInt16: Set<RecordID>] = [:]
    /// Of each table the entity, and the version that it is of.
    private(set) var origins: [UInt16: Origin] = [:]
    /// Those that the stage under way has taken.
    private(set) var ofStage: [Taken] = []
    private(set) var count = 0
    /// Whether something was made of an object before it was taken, so that the stage has to begin again without it.
    var isLate = false

    private var stage = (from: "", to: "")
    private var source: RowStore?

    struct Origin {
        let entity: String
        let version: String
    }

    /// An object that was taken.
    struct Taken {
        let table: UInt16
        let number: RecordID
        /// Its record in the quarantine.
        let record: RecordID
    }

    /// - Parameters:
    ///   - log: The store.
    ///   - policy: What becomes of objects that fail.
    ///   - resumed: The record of the migration, if it was begun and did not end.
    /// - Throws: What the store says where the quarantine cannot be read.
    init(_ log: Log, _ policy: MigrationOptions.FailurePolicy, resumed: MigrationRecord?) throws {
        self.log = log
        limit =
            switch policy {
            case .stop: nil
            case .quarantine(let limit): max(limit, 0)
            }
        first = resumed?.firstQuarantine ?? log.snapshot().nextID(of: .quarantine)
        try load()
    }

    /// Whether an object that fails is taken, and the migration goes on.
    var isOn: Bool { limit != nil }
    var isEmpty: Bool { count == 0 }
    /// Objects that can still be taken, and the one that is too many; nil where none is taken.
    var room: Int? { limit.map { max($0 - count, 0) + 1 } }

    func contains(_ number: RecordID, in table: UInt16) -> Bool {
        !taken.isEmpty && taken[table]?.contains(number) == true
    }

    private func load() throws {
        taken = [:]
        origins = [:]
        ofStage = []
        count = 0
        try QuarantineEntry.forEach(in: log.snapshot(), from: first) { number, entry in
            if case .object(let row) = entry {
                note(row, Taken(table: row.table, number: row.object, record: number))
            }
            return true
        }
    }

    private func note(_ row: QuarantinedRow, _ object: Taken) {
        taken[object.table, default: []].insert(object.number)
        origins[object.table] = Origin(entity: row.entity, version: row.from)
        if row.from == stage.from, row.to == stage.to { ofStage.append(object) }
        count += 1
    }

    // MARK: Stages

    /// Begins a stage, or goes on with it.
    ///
    /// - Parameters:
    ///   - step: The stage.
    ///   - catalog: What it reads.
    /// - Throws: What the store says where the quarantine cannot be read.
    func begin(_ step: MigrationSteps.Step, reading catalog: StoredCatalog) throws {
        stage = ("\(step.from.version)", "\(step.to.version)")
        isLate = false
        guard isOn || !isEmpty else { return }
        source = try RowStore(log: log, catalog: catalog)
        try load()
    }

    /// Looks again at what there is.
    func reload() throws { try load() }

    /// Deletes the records of the quarantine from one on.
    static func delete(from record: RecordID, in transaction: inout Transaction) throws(LogError) {
        let end = transaction.nextID(in: .quarantine)
        guard record < end else { return }
        for number in record..<end where try !transaction.location(of: number, in: .quarantine).isAbsent {
            try transaction.delete(number, in: .quarantine)
        }
    }

    // MARK: Objects

    /// Why an object is taken.
    struct Reason {
        let rule: MigrationReport.Failure.Rule
        var property: String?
        let text: String

        /// The text, with a full stop.
        var sentence: String { text.hasSuffix(".") ? text : text + "." }

        init(_ rule: MigrationReport.Failure.Rule, _ text: String, property: String? = nil) {
            self.rule = rule
            self.property = property
            self.text = text
        }

        /// What was thrown, or the store has refused a save for.
        init(_ error: any Error, refusal: StoreError.Code?) {
            let cause = (error as? MigrationError)?.cause ?? error
            rule = MigrationReport.Failure.Rule(cause, refusal: refusal)
            text = (cause as? StoreError)?.message ?? "\(cause)"
        }
    }

    /// Takes an object: its values, its relationships by number, and why.
    ///
    /// One that was taken already stays as it is.
    ///
    /// - Parameters:
    ///   - number: The object.
    ///   - entity: Its entity in the version that the stage reads.
    ///   - reason: Why.
    ///   - addition: Written in the same transaction.
    /// - Throws: `MigrationError` of code `quarantineFull` if as many as may be were taken; what the store says where
    ///   the object cannot be read: such a one is damaged, and not for the quarantine.
    func take(
        _ number: RecordID, of entity: String, _ reason: Reason,
        adding addition: (inout Transaction) throws -> Void = { _ in }
    ) throws {
        guard let source, let storage = source.storage.entity(named: entity) else {
            throw MigrationError(
                .stageFailed, "Object \(number) of \(entity) cannot be kept: the version does not have the entity.",
                stage: "\(stage.from) → \(stage.to)", entity: entity)
        }
        let table = storage.table.rawValue
        guard !contains(number, in: table) else { return }
        guard count < limit ?? 0 else {
            throw MigrationError(
                .quarantineFull,
                "More than \(limit ?? 0) objects cannot be converted, the last one being \(entity) \(number): \(reason.sentence) The store is in its old state. Mend the stage, or allow more with onFailure: .quarantine(limit:).",
                stage: "\(stage.from) → \(stage.to)", entity: entity, property: reason.property)
        }
        let snapshot = log.snapshot()
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(number, in: storage.table, into: &buffer) else {
            throw MigrationError(
                .stageFailed,
                "Object \(number) of \(entity) breaks a rule, and is not in the version before: \(reason.sentence)",
                stage: "\(stage.from) → \(stage.to)", entity: entity, property: reason.property)
        }
        let row = QuarantinedRow(
            from: stage.from, to: stage.to, entity: entity, object: number, rule: reason.rule.rawValue,
            property: reason.property, reason: reason.text,
            values: QuarantinedValueRecord.all(
                of: try source.view(record, of: storage), storage, source.storage.schema),
            table: table)
        let place = try log.write(author: nil) { transaction in
            let place = try QuarantineEntry.object(row).add(in: &transaction)
            try self.addMembers(of: number, storage, owner: place, snapshot, source, &transaction)
            try addition(&transaction)
            return place
        }.value
        note(row, Taken(table: table, number: number, record: place))
    }

    private func addMembers(
        of number: RecordID, _ entity: EntityStorage, owner: RecordID, _ snapshot: Snapshot, _ source: RowStore,
        _ transaction: inout Transaction
    ) throws {
        let schema = source.storage.schema
        for (slot, storage) in entity.slots.enumerated() {
            guard case .toMany(let relationship) = storage else { continue }
            var members = QuarantinedNumbers(
                owner: owner, entity: schema.entities[relationship.destination].name,
                name: schema.entities[entity.ordinal].properties[slot].name, refer: false, numbers: [])
            // Its memory is one record's, so that a large collection is no trouble.
            var found: [RecordID] = []
            try snapshot.forEachMember(of: number, in: relationship.members.index) { member, _ in
                found.append(member)
                guard found.count == QuarantineEntry.numbersMax else { return }
                members.numbers = found
                try QuarantineEntry.numbers(members).add(in: &transaction)
                found.removeAll(keepingCapacity: true)
            }
            guard !found.isEmpty else { continue }
            members.numbers = found
            try QuarantineEntry.numbers(members).add(in: &transaction)
        }
    }
}

extension QuarantineKeeper {
    /// Removes the rows of objects that were taken from tables that the new version shares with the old one, and links
    /// to objects that were taken, in the transaction that switches.
    ///
    /// Their values out of the row stay: the quarantine has them.
    ///
    /// - Parameters:
    ///   - target: What the migration leads to.
    ///   - steps: Its stages, by which entities that were renamed are found.
    ///   - transaction: The one that switches.
    /// - Throws: What the store says where a row cannot be read.
    func removeRows(_ target: StoredCatalog, _ steps: MigrationSteps, in transaction: inout Transaction) throws {
        guard !isEmpty else { return }
        let store = try RowStore(log: log, catalog: target, isMigrationTarget: true)
        var numbers: [String: Set<RecordID>] = [:]
        for (table, origin) in origins {
            guard let name = steps.lastName(of: origin.entity, from: origin.version) else { continue }
            numbers[name, default: []].formUnion(taken[table] ?? [])
        }
        try store.unlink(numbers, in: &transaction, log.snapshot())
        var writer = RowWriter(store, keepingBlobsBelow: .max)
        var restored: [SharedKey] = []
        for (table, numbers) in taken.sorted(by: { $0.key < $1.key }) {
            let table = TableID(rawValue: table)
            let entity = store.storage.entities.first { $0.table == table }
            for number in numbers.sorted() {
                if let entity {
                    restored += try sharedKeys(of: number, entity, store, transaction)
                    try writer.delete(id: number, entity, in: &transaction)
                } else if try !transaction.location(of: number, in: table).isAbsent {
                    // The table goes, perhaps with the values of its rows: not with those of this one.
                    try transaction.delete(number, in: table)
                }
            }
        }
        try restore(restored, in: &transaction)
    }

    /// A unique value that an object keeps, and that a row had too which goes.
    private struct SharedKey {
        let index: IndexDefinition
        let bytes: [UInt8]
        let holder: RecordID
        let table: TableID
    }

    private func sharedKeys(
        of number: RecordID, _ entity: EntityStorage, _ store: RowStore, _ transaction: borrowing Transaction
    ) throws -> [SharedKey] {
        var keys: [SharedKey] = []
        _ = try transaction.record(number, in: entity.table) { record in
            let row = try store.view(record, of: entity)
            for index in entity.uniqueIndexes {
                guard let bytes = try RowKeys.key(of: row, number, entity, index),
                    let holder = try bytes.withUnsafeBytes({ try transaction.firstID(in: index.definition, key: $0) }),
                    !contains(holder, in: entity.table.rawValue)
                else { continue }
                keys.append(SharedKey(index: index.definition, bytes: bytes, holder: holder, table: entity.table))
            }
        }
        return keys
    }

    /// Gives values that went with a row back to the objects that have them too.
    ///
    /// Their rows are written again, so that a replay of the log comes to the same.
    private func restore(_ keys: [SharedKey], in transaction: inout Transaction) throws {
        for key in keys {
            let row = try transaction.record(key.holder, in: key.table) { record in
                (Array(record.row), record.layout, record.flags.intersection(.hasExtension))
            }
            guard let (bytes, layout, flags) = row else { continue }
            try transaction.put(
                key.holder, in: key.table, layout: layout, changed: SlotMask.all, flags: flags, byteCount: bytes.count
            ) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
            try key.bytes.withUnsafeBytes { try transaction.insertEntry(key.index, key: $0, id: key.holder) }
        }
    }

    /// How many objects the migration has taken, by stage, entity and rule, in the order in which they were met.
    func counts() throws -> [MigrationReport.Quarantined] {
        var counts: [MigrationReport.Quarantined] = []
        guard !isEmpty else { return counts }
        try QuarantineEntry.forEach(in: log.snapshot(), from: first) { _, entry in
            if case .object(let row) = entry { counts.add(row.to, row.entity, row.rule) }
            return true
        }
        return counts
    }
}

extension [MigrationReport.Quarantined] {
    /// Counts an object.
    mutating func add(_ stage: String, _ entity: String, _ rule: String) {
        guard let rule = MigrationReport.Failure.Rule(rawValue: rule) else { return }
        if let place = firstIndex(where: { $0.stage == stage && $0.entity == entity && $0.rule == rule }) {
            self[place].objects += 1
        } else {
            append(MigrationReport.Quarantined(stage: stage, entity: entity, rule: rule, objects: 1))
        }
    }
}

extension MigrationSteps {
    /// The name that an entity of a version has in the end; nil if it is gone.
    fileprivate func lastName(of entity: String, from version: String) -> String? {
        var name: String? = entity
        for step in all.drop(while: { "\($0.from.version)" != version }) {
            let oldNames = SchemaDifference(from: step.from, to: step.to).oldEntityNames
            name = oldNames.first { $0.value == name }?.key
        }
        return name
    }
}

extension Snapshot {
    /// Calls `body` with the members that a relationship index has for an owner, in their order, and with the record of
    /// the link where it is one.
    func forEachMember(
        of owner: RecordID, in index: IndexDefinition, _ body: (_ member: RecordID, _ record: RecordID) throws -> Void
    ) throws {
        try MemberKey.withPrefix(owner: owner) { prefix in
            try forEachEntry(in: index, prefix: prefix) { key, id in
                if let member = MemberKey.member(key, id: id) { try body(member, id) }
                return true
            }
        }
    }
}
