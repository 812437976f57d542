import FaultlineLog
import FaultlineTestSupport

// Operations on index entries, and reads of a transaction's own changes.

extension ModelLife {
    /// Runs an operation on keys.
    func changeKeys(_ kind: ModelKind, _ random: inout Seed, _ transaction: inout Transaction) throws {
        let wantsUnique = kind != .addKey && kind != .removeKey && kind != .moveKey
        let tables = draft.tableNumbers.filter {
            wantsUnique ? ModelTableKind(of: $0).hasUnique : !ModelTableKind.indexes(of: $0).isEmpty
        }
        let table = random.pick(tables)
        let keyed = draft[table].ids.filter { draft[table][$0]?.key != nil }
        let bare = draft[table].ids.filter { draft[table][$0]?.key == nil }
        let payload = random.bytes(random.below(30))
        func give(_ key: [UInt8]?, to id: RecordID, _ transaction: inout Transaction) throws {
            try put(ModelRow(key: key, payload: payload), id, in: table, &transaction)
        }
        switch kind {
        case .addKey:
            guard !bare.isEmpty, let key = freeKey(for: nil, in: table, &random) else { return }
            try give(key, to: random.pick(bare), &transaction)
        case .removeKey:
            guard !keyed.isEmpty else { return }
            try give(nil, to: random.pick(keyed), &transaction)
        case .moveKey:
            guard !keyed.isEmpty, let key = freeKey(for: nil, in: table, &random) else { return }
            try give(key, to: random.pick(keyed), &transaction)
        case .swapKeys, .rotateKeys:
            let count = kind == .swapKeys ? 2 : 3
            guard keyed.count >= count else { return }
            let first = random.below(keyed.count - count + 1)
            try rotate(Array(keyed[first..<first + count]), in: table, &transaction)
        case .takeFreedKey:
            guard !keyed.isEmpty else { return }
            let id = random.pick(keyed)
            let key = draft[table][id]?.key.map { Array($0) }
            try delete(id, in: table, &transaction)
            try insert(ModelRow(key: key, payload: payload), in: table, &transaction)
        case .tryTakenKey:
            guard !keyed.isEmpty else { return }
            let id = random.pick(keyed)
            guard let key = draft[table][id]?.key.map({ Array($0) }) else { return }
            // Before taking a unique key, the object that has it must be found, and must release it.
            try expectHolder(id, of: key, in: table, transaction)
        default:
            let key = key(&random)
            let holder = draft.holder(of: key, in: table)
            try expectHolder(holder, of: key, in: table, transaction)
            let row = ModelRow(key: key, payload: payload)
            if let holder {
                try put(row, holder, in: table, &transaction)
            } else {
                try insert(row, in: table, &transaction)
            }
        }
        did()
    }

    /// Gives each object the key of the next, and the last one the key of the first.
    private func rotate(_ ids: [RecordID], in table: UInt16, _ transaction: inout Transaction) throws {
        let rows = ids.compactMap { draft[table][$0] }
        // Remove all entries first, so that each key is free for its new owner.
        for (id, row) in zip(ids, rows) {
            try put(ModelRow(key: nil, payload: row.bytes), id, in: table, &transaction)
        }
        for (place, id) in ids.enumerated() {
            let key = rows[(place + 1) % rows.count].key.map { Array($0) }
            try put(ModelRow(key: key, payload: [UInt8(place)]), id, in: table, &transaction)
        }
    }

    private func expectHolder(
        _ holder: RecordID?, of key: [UInt8], in table: UInt16, _ transaction: borrowing Transaction
    ) throws {
        let found = try key.withUnsafeBytes {
            try transaction.firstID(in: ModelTableKind.unique(of: table), key: $0)
        }
        note(found ?? 0)
        guard found == holder else {
            throw ModelViolation(
                "in the transaction, key \(key) of table \(table) is \(found.map(String.init) ?? "no object")'s, "
                    + "expected \(holder.map(String.init) ?? "no object")")
        }
    }

    /// Reads the transaction's own records, and the entries after its changes.
    func look(
        _ kind: ModelKind, in table: UInt16, _ random: inout Seed, _ transaction: borrowing Transaction
    ) throws {
        let number = TableID(rawValue: table)
        switch kind {
        case .lookUpInTransaction:
            guard ModelTableKind(of: table).hasUnique else { return }
            for _ in 0..<3 {
                let key = key(&random)
                try expectHolder(draft.holder(of: key, in: table), of: key, in: table, transaction)
            }
        case .scanIndexInTransaction:
            guard let index = ModelTableKind.indexes(of: table).last else { return }
            var found: [(key: ArraySlice<UInt8>, id: RecordID)] = []
            try transaction.forEachEntry(in: index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
                found.append((ArraySlice($0), $1))
                return true
            }
            try expectEntries(found, state.entries(of: index), "a transaction's scan of index \(index.id.rawValue)")
        case .countInTransaction:
            let (count, next) = (transaction.recordCount(of: number), transaction.nextID(in: number))
            guard count == draft[table].count, next == draft[table].nextID else {
                throw ModelViolation("in the transaction, table \(table) has \(count) objects, and \(next) is next")
            }
            note(count)
        default:
            let ids = draft[table].ids
            guard !ids.isEmpty else { return }
            for id in [ids[ids.count - 1], random.pick(ids), draft[table].nextID] {
                let found = try transaction.record(id, in: number) { Array($0.row) }
                guard found == draft[table][id]?.bytes else {
                    throw ModelViolation("in the transaction, object \(id) of table \(table) is another version")
                }
                note(found ?? [1])
            }
        }
        did()
    }

    func expectEntries(
        _ found: [(key: ArraySlice<UInt8>, id: RecordID)], _ expected: [(key: ArraySlice<UInt8>, id: RecordID)],
        _ what: String
    ) throws {
        for (key, id) in found {
            note(id)
            note(key)
        }
        guard found.count == expected.count,
            zip(found, expected).allSatisfy({ $0.id == $1.id && $0.key.elementsEqual($1.key) })
        else {
            throw ModelViolation(
                "\(what) gives \(found.count) entries, objects \(found.map(\.id)); "
                    + "expected \(expected.count), objects \(expected.map(\.id))")
        }
    }
}
