import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A random workload with the expected content of the store: objects of two tables, and blobs.
final class CompactionModel {
    var rows: [TableID: [RecordID: [UInt8]]] = [testTable: [:], plainTable: [:]]
    var blobs: [RecordID: [UInt8]] = [:]
    private var random: Seed
    private var nextNumber = 1

    init(seed: UInt64) {
        random = Seed(seed)
    }

    func below(_ count: Int) -> Int { random.below(count) }

    /// One transaction of some puts, updates and deletes, or a dropped table.
    func commit(_ log: Log, usesBlobs: Bool) throws {
        if random.oneIn(40) { return try dropTable(log) }
        let count = 1 + random.below(6)
        _ = try log.write(author: nil) { transaction in
            for _ in 0..<count {
                if usesBlobs, random.oneIn(4) { try changeBlob(&transaction) } else { try changeRow(&transaction) }
            }
        }
    }

    /// An abandoned transaction.
    func giveUp(_ log: Log) throws {
        let (rows, blobs) = (rows, blobs)
        do {
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<(1 + random.below(random.oneIn(3) ? 90 : 12)) { try changeRow(&transaction) }
                transaction.abandon()
            }
        } catch let error as LogError where error.code == .abandoned {
            (self.rows, self.blobs) = (rows, blobs)
        }
    }

    private func dropTable(_ log: Log) throws {
        _ = try log.write(author: nil) { transaction in
            try transaction.dropTable(plainTable)
            try transaction.put(1, row(7), in: plainTable)
        }
        rows[plainTable] = [1: row(7)]
    }

    private func changeRow(_ transaction: inout Transaction) throws {
        let table = random.oneIn(2) ? testTable : plainTable
        let ids = (rows[table] ?? [:]).keys.sorted()
        if !ids.isEmpty, random.oneIn(4) || ids.count > 40 {
            let id = random.pick(ids)
            if table == testTable { try transaction.erase(id) } else { try transaction.delete(id, in: table) }
            rows[table]?[id] = nil
            return
        }
        nextNumber += 1
        let new = row(nextNumber, byteCount: 10 + random.below(random.oneIn(9) ? 900 : 90))
        let id = ids.isEmpty || random.oneIn(3) ? try transaction.allocateIDs(1, in: table) : random.pick(ids)
        try transaction.put(id, new, in: table)
        rows[table]?[id] = new
    }

    private func changeBlob(_ transaction: inout Transaction) throws {
        if let old = blobs.keys.sorted().first, blobs.count > 3 || random.oneIn(3) {
            try transaction.deleteBlob(old)
            blobs[old] = nil
        }
        let byteCount = random.pick([0, 10, 700, 4_000, 70_000, 140_000])
        let bytes =
            random.oneIn(2) ? random.bytes(byteCount) : [UInt8](repeating: UInt8(random.below(256)), count: byteCount)
        let owner = BlobOwner(table: testTable, slot: 2, id: 5)
        let id = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        blobs[id] = bytes
    }

    /// The first difference between a snapshot and its expected content.
    func difference(_ snapshot: Snapshot) throws -> String? {
        for (table, rows) in rows {
            guard snapshot.recordCount(of: table) == rows.count else {
                return "table \(table.rawValue) has \(snapshot.recordCount(of: table)) objects, not \(rows.count)"
            }
            for (id, row) in rows where try snapshot.row(id, in: table) != row {
                return "object \(id) of table \(table.rawValue) is another version"
            }
        }
        for (_, row) in rows[testTable] ?? [:] where try snapshot.firstID(row) == nil { return "a key is not found" }
        guard snapshot.recordCount(of: .blobs) == blobs.count else { return "there are other blobs" }
        for (id, bytes) in blobs where try snapshot.blob(id) != bytes { return "blob \(id) has other bytes" }
        return nil
    }

    /// A copy that does not change.
    func copy() -> CompactionModel {
        let copy = CompactionModel(seed: 0)
        (copy.rows, copy.blobs) = (rows, blobs)
        return copy
    }
}
