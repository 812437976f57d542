import FaultlineLog
import FaultlineTestSupport

extension Log {
    /// Writes the rows of the first objects anew, one in a transaction, and compacts: `row(number * 100 + id)` each.
    func churn(_ number: Int, objectCount: Int, byteCount: Int) throws {
        for id in 1...objectCount {
            _ = try write(author: nil) { transaction in
                if snapshot().nextID(of: testTable) <= RecordID(id) {
                    _ = try transaction.allocateIDs(1, in: testTable)
                }
                try transaction.put(RecordID(id), row(number * 100 + id, byteCount: byteCount))
            }
        }
        _ = try compact()
    }
}
