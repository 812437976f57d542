import FaultlineLog
import FaultlineTestSupport

// Reads of committed data and snapshots, also during a transaction.

extension ModelLife {
    private static let snapshotCountMax = 5

    /// Runs an operation that changes nothing.
    func read(_ operation: ModelOperation) throws {
        var random = Seed(operation.seed)
        let table = random.pick(state.tableNumbers)
        let snapshot = log.snapshot()
        switch operation.kind {
        case .takeSnapshot:
            snapshots.append((snapshot, state))
            if snapshots.count > Self.snapshotCountMax { snapshots.removeFirst() }
        case .endSnapshot:
            guard !snapshots.isEmpty else { return }
            snapshots.remove(at: random.below(snapshots.count))
        case .readSnapshot, .iterateSnapshot:
            guard !snapshots.isEmpty else { return }
            let (old, past) = random.pick(snapshots)
            let seen = canary == .movesSnapshots ? snapshot : old
            if operation.kind == .iterateSnapshot {
                try compare(seen, past, "an older snapshot")
            } else {
                let table = random.pick(past.tableNumbers)
                try readRow(in: table, seen, past, &random)
                try lookUp(in: table, seen, past, &random)
            }
        case .holdBlob:
            guard !state.blobs.ids.isEmpty else { return }
            let id = random.pick(state.blobs.ids)
            heldBlobs.append((try snapshot.hold(id), state.blobs[id] ?? []))
            if heldBlobs.count > 2 { heldBlobs.removeFirst() }
        case .upload: return try upload(&random)
        case .readHeldBlob:
            guard let (blob, bytes) = heldBlobs.first else { return }
            var found = [UInt8](repeating: 0, count: bytes.count)
            try found.withUnsafeMutableBytes { try blob.read(0..<UInt64(bytes.count), into: $0) }
            guard found == bytes else { throw ModelViolation("a blob that is held has other bytes") }
            heldBlobs.removeFirst()
        case .readBlob, .readBlobRange: try readBlob(operation.kind, snapshot, &random)
        case .readRow: try readRow(in: table, snapshot, state, &random)
        case .lookUpKey: try lookUp(in: table, snapshot, state, &random)
        case .countTable:
            let count = snapshot.recordCount(of: TableID(rawValue: table))
            let next = snapshot.nextID(of: TableID(rawValue: table))
            guard count == state[table].count, next == state[table].nextID else {
                throw ModelViolation("table \(table) has \(count) objects, and \(next) is next")
            }
            note(count)
        case .scanTable, .scanRange, .scanPart: try scan(operation.kind, table, snapshot, &random)
        default: try scanIndex(operation.kind, table, snapshot, &random)
        }
        did()
    }

    private func readRow(
        in table: UInt16, _ snapshot: Snapshot, _ state: ModelState, _ random: inout Seed
    ) throws {
        var ids = [state[table].nextID + RecordID(random.below(400))]
        for _ in 0..<3 where state[table].count > 0 { ids.append(random.pick(state[table].ids)) }
        ids.append(1 + RecordID(random.below(Int(state[table].nextID))))
        for id in ids {
            let found = try row(id, in: table, of: snapshot)
            guard found == state[table][id]?.bytes else {
                throw ModelViolation(
                    "object \(id) of table \(table) is \(found == nil ? "missing" : "another version")")
            }
            note(found ?? [1])
        }
    }

    private func lookUp(
        in table: UInt16, _ snapshot: Snapshot, _ state: ModelState, _ random: inout Seed
    ) throws {
        guard ModelTableKind(of: table).hasUnique else { return }
        for _ in 0..<4 {
            let key = key(&random)
            let found = try holder(of: key, in: table, of: snapshot)
            guard found == state.holder(of: key, in: table) else {
                throw ModelViolation("key \(key) of table \(table) is \(found.map(String.init) ?? "no object")'s")
            }
            note(found ?? 0)
        }
    }

    private func scan(_ kind: ModelKind, _ table: UInt16, _ snapshot: Snapshot, _ random: inout Seed) throws {
        let end = Int(state[table].nextID) + 2
        let first = kind == .scanTable ? 0 : RecordID(random.below(end))
        let last = kind == .scanRange ? first + RecordID(random.below(end)) : .max
        let limit = kind == .scanPart ? 1 + random.below(5) : .max
        var found: [(id: RecordID, value: ModelRow)] = []
        try snapshot.scan(
            TableID(rawValue: table), from: first, through: last, readAhead: random.pick([1, 9_000, 1 << 20])
        ) { views in
            for view in views where found.count < limit { found.append((view.id, ModelRow(bytes: Array(view.row)))) }
            return found.count < limit
        }
        let expected = state[table].entries.filter { $0.id >= first && $0.id <= last }.prefix(limit)
        try expectRows(found, Array(expected), "a scan of table \(table) from \(first) through \(last)")
    }

    func expectRows(
        _ found: [(id: RecordID, value: ModelRow)], _ expected: [(id: RecordID, value: ModelRow)], _ what: String
    ) throws {
        for (id, row) in found {
            note(id)
            note(row.bytes)
        }
        guard found.map(\.id) == expected.map(\.id) else {
            throw ModelViolation("\(what) gives objects \(found.map(\.id)), expected \(expected.map(\.id))")
        }
        for (one, other) in zip(found, expected) where one.value != other.value {
            throw ModelViolation("\(what) gives another version of object \(one.id)")
        }
    }

    private func scanIndex(_ kind: ModelKind, _ table: UInt16, _ snapshot: Snapshot, _ random: inout Seed) throws {
        guard let index = ModelTableKind.indexes(of: table).last else { return }
        let prefix = kind == .scanIndex ? [] : Array(key(&random).prefix(random.below(3)))
        let limit = kind == .scanIndex ? Int.max : 1 + random.below(20)
        let found = try entries(of: index, prefix: prefix, limit: limit, snapshot)
        let expected = state.entries(of: index, prefix: prefix).prefix(limit)
        try expectEntries(found, Array(expected), "a scan of index \(index.id.rawValue) with prefix \(prefix)")
        if index.isText { try readPostings(of: index, snapshot, &random) }
    }

    /// Reads the objects of a term without their keys, each or some of them.
    private func readPostings(of index: IndexDefinition, _ snapshot: Snapshot, _ random: inout Seed) throws {
        let term = Array(key(&random).prefix(1))
        var expected = state.entries(of: index, prefix: term + [0])[...]
        guard let cursor = try snapshot.postings(in: index, term: term) else { return }
        var target: RecordID = 1
        while true {
            let isThere = try cursor.advance(notBelow: target)
            // Keys of rows may begin like postings.
            if cursor.isMalformed { return }
            guard isThere else { break }
            expected = expected.drop { $0.id < target }
            guard let next = expected.first, next.id == cursor.id, next.key.suffix(1).elementsEqual(cursor.payload)
            else { throw ModelViolation("term \(term) has object \(cursor.id), expected \(expected.map(\.id))") }
            note(cursor.id)
            target = cursor.id + 1 + RecordID(random.below(3))
        }
        guard !expected.contains(where: { $0.id >= target }) else {
            throw ModelViolation("term \(term) lacks object \(expected.last?.id ?? 0)")
        }
    }

    func entries(
        of index: IndexDefinition, prefix: [UInt8] = [], limit: Int = .max, _ snapshot: Snapshot
    ) throws -> [(key: ArraySlice<UInt8>, id: RecordID)] {
        var found: [(key: ArraySlice<UInt8>, id: RecordID)] = []
        try prefix.withUnsafeBytes { prefix in
            try snapshot.forEachEntry(in: index, prefix: prefix) {
                found.append((ArraySlice($0), $1))
                return found.count < limit
            }
        }
        return found
    }

    private func readBlob(_ kind: ModelKind, _ snapshot: Snapshot, _ random: inout Seed) throws {
        guard !state.blobs.ids.isEmpty else {
            do throws(LogError) {
                _ = try snapshot.blobByteCount(state.blobs.nextID)
            } catch {
                if error.code == .missing { return }
                throw error
            }
            throw ModelViolation("a blob exists that no operation wrote")
        }
        let id = random.pick(state.blobs.ids)
        let bytes = state.blobs[id] ?? []
        guard try snapshot.blobByteCount(id) == UInt64(bytes.count) else {
            throw ModelViolation("blob \(id) has another size")
        }
        var range = 0..<bytes.count
        if kind == .readBlobRange, !bytes.isEmpty {
            let first = random.below(bytes.count)
            range = first..<first + random.below(bytes.count - first + 1)
        }
        let found = try self.bytes(range, ofBlob: id, in: snapshot)
        guard found.elementsEqual(bytes[range]) else { throw ModelViolation("blob \(id) has other bytes in \(range)") }
        note(found)
    }
}
