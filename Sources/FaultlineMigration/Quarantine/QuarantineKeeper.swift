internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Moves the objects that a migration cannot convert to the quarantine, and knows those that it has taken.
///
/// Rows that a step only checks stay in their tables of the old state until the switch: code that walks rows skips
/// those that are `contains`. It belongs to the one thread that migrates.
final class QuarantineKeeper {
    private let log: Log
    /// The greatest number of objects to take; nil if a failed object stops the migration.
    private let limit: Int?
    /// The first record of this migration.
    let first: RecordID

    /// Objects that were taken, by table and number.
    private(set) var taken: [UInt16: Set<RecordID>] = [:]
    /// The entity of each table, and its version.
    private(set) var origins: [UInt16: Origin] = [:]
    /// The objects that the current stage has taken.
    private(set) var ofStage: [Taken] = []
    private(set) var count = 0
    /// Whether an object was used before it was taken, so that the stage must restart without it.
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
    ///   - policy: The treatment of objects that fail.
    ///   - resumed: The record of the migration, if it was begun and did not end.
    /// - Throws: The store's error if the quarantine cannot be read.
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

    /// Whether a failed object is quarantined, and the migration continues.
    var isOn: Bool { limit != nil }
    var isEmpty: Bool { count == 0 }
    /// Objects that can still be taken, and the first one too many; nil if none is taken.
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

    /// Begins or resumes a stage.
    ///
    /// - Parameters:
    ///   - step: The stage.
    ///   - catalog: The state that the stage reads.
    /// - Throws: The store's error if the quarantine cannot be read.
    func begin(_ step: MigrationSteps.Step, reading catalog: StoredCatalog) throws {
        stage = ("\(step.from.version)", "\(step.to.version)")
        isLate = false
        guard isOn || !isEmpty else { return }
        source = try RowStore(log: log, catalog: catalog)
        try load()
    }

    /// Reads the quarantine's records again.
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

    /// Why an object is quarantined.
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

        /// The reason of an error, or of the store's refusal of a save.
        init(_ error: any Error, refusal: StoreError.Code?) {
            let cause = (error as? MigrationError)?.cause ?? error
            rule = MigrationReport.Failure.Rule(cause, refusal: refusal)
            text = (cause as? StoreError)?.message ?? "\(cause)"
        }
    }

    /// Takes an object: its values, its relationships by number, and the reason.
    ///
    /// An object that was taken already does not change.
    ///
    /// - Parameters:
    ///   - number: The object.
    ///   - entity: Its entity in the version that the stage reads.
    ///   - reason: The reason.
    ///   - addition: Writes in the same transaction.
    /// - Throws: `MigrationError` of code `quarantineFull` if the limit is reached; the store's error if the object
    ///   cannot be read: such an object is damaged, and cannot be quarantined.
    func take(
        _ number: RecordID, of entity: String, _ reason: Reason,
        adding addition: (inout Transaction) throws -> Void = { _ in }
    ) throws {
        guard let source, let storage = source.storage.entity(named: entity) else {
            throw MigrationError(
                .stageFailed, "Object \(number) of \(entity) cannot be kept: the version does not have the entity.",
                stage: "\(stage.from) → \(stage.to)", entity: entity, property: reason.property, object: number)
        }
        let table = storage.table.rawValue
        guard !contains(number, in: table) else { return }
        guard count < limit ?? 0 else {
            throw MigrationError(
                .quarantineFull,
                "More than \(limit ?? 0) objects cannot be converted, the last one being \(entity) \(number): \(reason.sentence) The store is in its old state. Mend the stage, or allow more with onFailure: .quarantine(limit:).",
                stage: "\(stage.from) → \(stage.to)", entity: entity, property: reason.property, object: number)
        }
        let snapshot = log.snapshot()
        var buffer = RecordBuffer()
        guard let record = try snapshot.read(number, in: storage.table, into: &buffer) else {
            throw MigrationError(
                .stageFailed,
                "Object \(number) of \(entity) breaks a rule, and is not in the version before: \(reason.sentence)",
                stage: "\(stage.from) → \(stage.to)", entity: entity, property: reason.property, object: number)
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
            // Holds one record, so that memory does not grow with the collection.
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
    /// In the transaction that switches, removes the rows of quarantined objects from tables that the new version
    /// shares with the old one, and links to quarantined objects.
    ///
    /// Their large values stay: the quarantine owns them.
    ///
    /// - Parameters:
    ///   - target: The target state of the migration.
    ///   - steps: Its stages, which tell the new names of renamed entities.
    ///   - transaction: The one that switches.
    /// - Throws: The store's error if a row cannot be read.
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
                    // Dropping the table may delete the large values of its rows, but not those of this one.
                    try transaction.delete(number, in: table)
                }
            }
        }
        try restore(restored, in: &transaction)
    }

    /// A unique value of a remaining object that a deleted row had too.
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

    /// Enters unique values that were deleted with a row again for the remaining objects.
    ///
    /// Their rows are written again, so that a replay of the log has the same result.
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

    /// How many objects the migration has quarantined, by stage, entity and rule, in the order in which they were met.
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
    /// The final name of an entity of a version; nil if it was dropped.
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
    /// the link if it is one.
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
