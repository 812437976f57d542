import FaultlineLog
import FaultlineTestSupport

// Operations on rows and tables in a transaction.

extension ModelLife {
    /// The number of objects in a table above which inserts delete instead, so that the store stays small.
    static let rowCountMax = 60

    /// Runs an operation of a transaction.
    func change(_ operation: ModelOperation, _ transaction: inout Transaction) throws {
        var random = Seed(operation.seed)
        let table = random.pick(draft.tableNumbers)
        let kind = operation.kind
        switch kind {
        case .insert, .insertNothing, .insertOneByte, .insertPage, .insertMany, .insertHuge:
            try insert(kind, in: table, &random, &transaction)
        case .update, .updateKeepingKey, .grow, .overwriteTwice:
            try update(kind, in: table, &random, &transaction)
        case .delete, .deleteMany: try delete(kind, in: table, &random, &transaction)
        case .insertAndDelete:
            did()
            let id = draft[table].nextID
            try insert(row(in: table, &random), in: table, &transaction)
            try delete(id, in: table, &transaction)
        case .restore: try restore(in: table, &random, &transaction)
        case .spill: try spill(in: table, &random, &transaction)
        case .makeTable:
            guard draft.tables.count < 7 else { return }
            did()
            draft.tables[draft.nextTable] = ModelTable()
            draft.nextTable += 1
            try insert(row(in: draft.nextTable - 1, &random), in: draft.nextTable - 1, &transaction)
        case .dropTable: try dropTable(&random, &transaction)
        case .putBlob, .putSmallBlob, .putLargeBlob, .putCompressibleBlob, .streamBlob, .streamAnnouncedBlob,
            .failStream, .miscountStream, .copyBlob, .deleteBlob, .replaceBlob:
            try changeBlobs(kind, &random, &transaction)
        case .lookUpInTransaction, .scanIndexInTransaction, .readOwnWrites, .countInTransaction:
            try look(kind, in: table, &random, transaction)
        default: try changeKeys(kind, &random, &transaction)
        }
    }

    // MARK: Values

    /// Returns one of few keys, so that collisions are frequent.
    ///
    /// Some keys are long, and one is empty.
    func key(_ random: inout Seed) -> [UInt8] {
        let number = random.below(48)
        switch number {
        case 0: return []
        case 1..<4: return [UInt8](repeating: 7, count: 300 * number) + [UInt8(number)]
        default: return (0..<1 + number % 9).map { UInt8(truncatingIfNeeded: number * (37 + $0)) }
        }
    }

    /// Returns a key for an object that does not violate the unique index, if the table has one.
    func freeKey(for id: RecordID?, in table: UInt16, _ random: inout Seed) -> [UInt8]? {
        guard ModelTableKind(of: table).hasUnique else { return key(&random) }
        for _ in 0..<4 {
            let key = key(&random)
            let holder = draft.holder(of: key, in: table)
            if holder == nil || holder == id { return key }
        }
        return nil
    }

    /// Returns the row of a new object.
    private func row(in table: UInt16, _ random: inout Seed) -> ModelRow {
        let key = random.oneIn(6) ? nil : freeKey(for: nil, in: table, &random)
        return ModelRow(key: key, payload: random.bytes(random.below(50)))
    }

    // MARK: Rows

    /// Gives a new object the number of a deleted one, as an undo does.
    private func restore(in table: UInt16, _ random: inout Seed, _ transaction: inout Transaction) throws {
        let id = 1 + RecordID(random.below(Int(draft[table].nextID)))
        guard id < draft[table].nextID, draft[table][id] == nil, draft[table].count < Self.rowCountMax else { return }
        did()
        try put(row(in: table, &random), id, in: table, &transaction)
    }

    private func insert(
        _ kind: ModelKind, in table: UInt16, _ random: inout Seed, _ transaction: inout Transaction
    ) throws {
        if draft[table].count >= Self.rowCountMax {
            for id in draft[table].ids.prefix(5) { try delete(id, in: table, &transaction) }
        }
        did()
        switch kind {
        case .insertNothing: try insert(ModelRow(bytes: []), in: table, &transaction)
        case .insertOneByte: try insert(ModelRow(bytes: [9]), in: table, &transaction)
        case .insertPage: try insert(ModelRow(key: nil, payload: random.bytes(3_992)), in: table, &transaction)
        case .insertHuge:
            let byteCount = random.pick([20_000, 66_000, 140_000])
            try insert(ModelRow(key: nil, payload: random.bytes(byteCount)), in: table, &transaction)
        case .insertMany:
            for _ in 0..<10 + random.below(10) { try insert(row(in: table, &random), in: table, &transaction) }
        default: try insert(row(in: table, &random), in: table, &transaction)
        }
    }

    private func update(
        _ kind: ModelKind, in table: UInt16, _ random: inout Seed, _ transaction: inout Transaction
    ) throws {
        guard draft[table].count > 0 else { return }
        did()
        let id = random.pick(draft[table].ids)
        let key = draft[table][id]?.key.map { Array($0) }
        switch kind {
        case .updateKeepingKey:
            try put(ModelRow(key: key, payload: random.bytes(random.below(60))), id, in: table, &transaction)
        case .grow:
            let payload = random.bytes(200 + random.below(2_000))
            try put(ModelRow(key: key, payload: payload), id, in: table, &transaction)
        case .overwriteTwice:
            for _ in 0..<2 {
                let key = freeKey(for: id, in: table, &random)
                try put(ModelRow(key: key, payload: random.bytes(9)), id, in: table, &transaction)
            }
        default:
            let key = random.oneIn(2) ? key : freeKey(for: id, in: table, &random)
            try put(ModelRow(key: key, payload: random.bytes(random.below(60))), id, in: table, &transaction)
        }
    }

    private func delete(
        _ kind: ModelKind, in table: UInt16, _ random: inout Seed, _ transaction: inout Transaction
    ) throws {
        let ids = draft[table].ids
        guard !ids.isEmpty else {
            // Deleting a missing object is refused, and the transaction continues.
            do throws(LogError) {
                try transaction.delete(draft[table].nextID, in: TableID(rawValue: table))
            } catch {
                if error.code == .missing { return }
                throw error
            }
            throw ModelViolation("an object that does not exist was deleted")
        }
        did()
        guard kind == .deleteMany else { return try delete(random.pick(ids), in: table, &transaction) }
        let first = random.below(ids.count)
        for id in ids[first..<min(ids.count, first + 20)] { try delete(id, in: table, &transaction) }
    }

    /// Writes more than a small budget holds, and deletes most of it, so that pages and entries spill to files.
    private func spill(in table: UInt16, _ random: inout Seed, _ transaction: inout Transaction) throws {
        did()
        let first = draft[table].nextID
        let filler = random.bytes(40)
        for number in 0..<150 {
            let key = filler + [UInt8(number), 1]
            try insert(ModelRow(key: key, payload: random.bytes(20)), in: table, &transaction)
        }
        let number = TableID(rawValue: table)
        guard transaction.recordCount(of: number) == draft[table].count else {
            throw ModelViolation("a large transaction counts \(transaction.recordCount(of: number)) objects")
        }
        if ModelTableKind(of: table).hasUnique {
            let found = try (filler + [3, 1]).withUnsafeBytes {
                try transaction.firstID(in: ModelTableKind.unique(of: table), key: $0)
            }
            guard found == first + 3 else { throw ModelViolation("a large transaction does not find its own keys") }
        }
        for id in first..<first + 145 { try delete(id, in: table, &transaction) }
    }

    private func dropTable(_ random: inout Seed, _ transaction: inout Transaction) throws {
        // The first tables are kept.
        let made = draft.tableNumbers.filter { $0 >= 20 }
        guard !made.isEmpty else { return }
        did()
        let table = random.pick(made)
        // The log drops the indexes after the transaction, so removing their entries before is optional.
        if random.oneIn(2) { for (id, row) in draft[table].entries { try unindex(row, id, table, &transaction) } }
        try transaction.dropTable(TableID(rawValue: table))
        draft.tables[table] = nil
    }
}
