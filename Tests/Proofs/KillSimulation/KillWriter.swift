import CrashSimulation
import FaultlineLog
import FaultlineTestSupport

/// One of the writers of the process to be killed.
///
/// It continues after the transaction in its progress record.
struct KillWriter {
    private struct Object {
        var id: RecordID
        var version: UInt64
        var blob: RecordID = 0
    }

    private struct GivenUp: Error {}

    let writer: Int
    private let values: KillValues
    /// The number of committed transactions.
    private(set) var number: UInt64 = 0
    private var progressID: RecordID?
    private var objects: [[Object?]] = KillChange.Kind.allCases.map { .init(repeating: nil, count: $0.slotCount) }

    /// Finds the writer's objects in the store.
    init(_ writer: Int, _ values: KillValues, _ snapshot: Snapshot) throws {
        self.writer = writer
        self.values = values
        try KillCheck.scan(snapshot, KillValues.progressTable) { view in
            guard view.row.count == 9, view.row[0] == writer else { return }
            progressID = view.id
            number = view.row.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
        }
        for kind in KillChange.Kind.allCases {
            try KillCheck.scan(snapshot, KillValues.table(of: kind)) { view in
                guard let origin = KillValues.origin(of: view.row), origin.writer == writer else { return }
                var object = Object(id: view.id, version: origin.version)
                if kind == .owning {
                    object.blob = view.row.loadUnaligned(fromByteOffset: KillValues.headByteCount, as: UInt64.self)
                }
                objects[Int(kind.rawValue)][origin.slot] = object
            }
        }
    }

    /// Commits the next transaction.
    ///
    /// - Parameters:
    ///   - log: The store.
    ///   - isGivenUpFirst: Whether the same changes are first made in a transaction that is rolled back.
    ///   - begun: Called with the transaction's number and digest before anything is written.
    /// - Returns: The digest.
    /// - Throws: Errors of the log. None are expected.
    mutating func commit(
        _ log: Log, isGivenUpFirst: Bool, begun: (_ number: UInt64, _ digest: UInt64) -> Void
    ) throws -> UInt64 {
        let next = number + 1
        let changes = KillChange.all(seed: values.seed, writer: writer, number: next)
        let digest = KillChange.digest(changes)
        begun(next, digest)
        if isGivenUpFirst {
            do {
                _ = try log.write(author: nil) { transaction in
                    // This version is unknown to the model, so the check detects it.
                    var attempt = self
                    try attempt.apply(changes, version: next | 1 << 40, &transaction)
                    throw GivenUp()
                }
            } catch is GivenUp {}
        }
        var attempt = self
        _ = try log.write(author: next % 3 == 0 ? "writer \(writer)" : nil) { transaction in
            try attempt.apply(changes, version: next, &transaction)
        }
        self = attempt
        number = next
        return digest
    }

    private mutating func apply(_ changes: [KillChange], version: UInt64, _ transaction: inout Transaction) throws {
        for change in changes {
            switch change.action {
            case .put: try put(change.kind, change.slot, version, &transaction)
            case .delete: try delete(change.kind, change.slot, &transaction)
            case .exchange(let other):
                try exchange(change.slot, other, &transaction)
                try put(.keyed, change.slot, version, &transaction)
                try put(.keyed, other, version, &transaction)
            }
        }
        let id = try progressID ?? transaction.allocateIDs(1, in: KillValues.progressTable)
        var row = [UInt8(writer)]
        for shift in stride(from: 0, to: 64, by: 8) { row.append(UInt8(truncatingIfNeeded: version >> UInt64(shift))) }
        try transaction.put(id, row, in: KillValues.progressTable, changed: progressID == nil ? nil : 1)
        progressID = id
    }

    /// Lets two objects exchange their slots, so that the next put gives each the key of the other.
    private mutating func exchange(_ slot: Int, _ other: Int, _ transaction: inout Transaction) throws {
        let kind = Int(KillChange.Kind.keyed.rawValue)
        guard let first = objects[kind][slot], let second = objects[kind][other] else { return }
        // Remove the entries with the keys of the former slots.
        try unindex(.keyed, slot, first, &transaction)
        try unindex(.keyed, other, second, &transaction)
        objects[kind][slot] = Object(id: second.id, version: 0)
        objects[kind][other] = Object(id: first.id, version: 0)
    }

    private mutating func put(
        _ kind: KillChange.Kind, _ slot: Int, _ version: UInt64, _ transaction: inout Transaction
    ) throws {
        let table = KillValues.table(of: kind)
        var row = values.row(kind, writer: writer, slot: slot, version: version)
        let old = objects[Int(kind.rawValue)][slot]
        if let old, old.version > 0 { try unindex(kind, slot, old, &transaction) }
        var object = try Object(id: old?.id ?? transaction.allocateIDs(1, in: table), version: version)
        if kind == .owning {
            if let old { try transaction.deleteBlob(old.blob) }
            object.blob = try putBlob(slot, version, object.id, &transaction)
            withUnsafeBytes(of: object.blob.littleEndian) { row += $0 }
        }
        try transaction.put(object.id, row, in: table, changed: old == nil ? nil : 1)
        for (index, key) in CrashDeriver.entries(of: table, id: object.id, row: row) {
            try key.withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: object.id) }
        }
        objects[Int(kind.rawValue)][slot] = object
    }

    private func putBlob(
        _ slot: Int, _ version: UInt64, _ id: RecordID, _ transaction: inout Transaction
    ) throws -> RecordID {
        let bytes = values.blob(writer: writer, slot: slot, version: version)
        let owner = BlobOwner(table: KillValues.owningTable, slot: 1, id: id)
        guard version % 2 == 0 else { return try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) } }
        // The blob is streamed, in pieces that differ from the chunks.
        var done = 0
        let announced = version % 4 == 0 ? UInt64(bytes.count) : nil
        return try transaction.putBlob(byteCount: announced, owner: owner) { target in
            let piece = bytes[done..<min(done + 7_001, bytes.count, done + target.count)]
            target.copyBytes(from: piece)
            done += piece.count
            return piece.count
        }
    }

    private mutating func delete(_ kind: KillChange.Kind, _ slot: Int, _ transaction: inout Transaction) throws {
        guard let old = objects[Int(kind.rawValue)][slot] else { return }
        try unindex(kind, slot, old, &transaction)
        if kind == .owning { try transaction.deleteBlob(old.blob) }
        try transaction.delete(old.id, in: KillValues.table(of: kind))
        objects[Int(kind.rawValue)][slot] = nil
    }

    private func unindex(
        _ kind: KillChange.Kind, _ slot: Int, _ object: Object, _ transaction: inout Transaction
    ) throws {
        let row = values.row(kind, writer: writer, slot: slot, version: object.version)
        for (index, key) in CrashDeriver.entries(of: KillValues.table(of: kind), id: object.id, row: row) {
            try key.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: object.id) }
        }
    }
}
