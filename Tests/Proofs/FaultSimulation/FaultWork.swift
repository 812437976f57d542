import CrashSimulation
import FaultlineLog
import FaultlineTestSupport

/// The changes of transactions, drawn from a seed.
struct FaultWork {
    private var random: Seed

    init(_ random: Seed) { self.random = random }

    /// Inserts, updates and deletes in three tables.
    mutating func change(_ count: Int, _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        for _ in 0..<count {
            let table = TableID(rawValue: UInt16(16 + random.below(3)))
            let ids = state.rows[table]?.keys.sorted() ?? []
            if !ids.isEmpty, random.oneIn(5) {
                try state.delete(random.pick(ids), in: table, &transaction)
            } else if !ids.isEmpty, random.oneIn(2) {
                try state.put(random.pick(ids), row(table), in: table, &transaction)
            } else {
                try insert(1, in: table, &state, &transaction)
            }
        }
    }

    mutating func insert(
        _ count: Int, in table: TableID, _ state: inout CrashModel, _ transaction: inout Transaction
    ) throws {
        let first = try transaction.allocateIDs(count, in: table)
        for id in first..<first + UInt64(count) { try state.put(id, row(table), in: table, &transaction) }
    }

    /// Puts a row of a size into the table without indexes.
    mutating func putRow(_ byteCount: Int, _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        try state.put(1, bytes(byteCount), in: TableID(rawValue: 18), &transaction)
    }

    /// Drops a table without indexes, and writes to it again.
    mutating func replaceTable(_ state: inout CrashModel, _ transaction: inout Transaction) throws {
        let table = TableID(rawValue: 18)
        try transaction.dropTable(table)
        state.rows[table] = nil
        try state.put(1, row(table), in: table, &transaction)
    }

    /// Writes blobs, every other one of compressible bytes; deletes the oldest if there are many.
    mutating func putBlobs(_ sizes: [Int], _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        for (place, size) in sizes.enumerated() {
            try state.putBlob(place % 2 == 0 ? bytes(size) : random.bytes(size), &transaction)
        }
        if state.blobs.count > 4, let oldest = state.blobs.keys.min() {
            try transaction.deleteBlob(oldest)
            state.blobs[oldest] = nil
        }
    }

    /// Writes a blob in pieces, without its size beforehand.
    mutating func streamBlob(_ byteCount: Int, _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        let bytes = random.bytes(byteCount)
        var rest = bytes[...]
        let owner = BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1)
        let id = try transaction.putBlob(byteCount: nil, owner: owner) { target in
            let piece = rest.prefix(min(target.count, 5_000))
            target.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
        state.blobs[id] = bytes
    }

    private mutating func row(_ table: TableID) -> [UInt8] {
        var row = random.bytes(8 + random.below(random.oneIn(8) ? 300 : 40))
        if table.rawValue == 17 { row[0] &= 3 }
        return row
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(random.below(256)), count: count)
    }
}
