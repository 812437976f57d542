import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Compaction on a separate thread beside writers and readers.
struct ConcurrentCompactionTests {
    private static let objectCount = 30
    private static let stepCount = 400

    /// The work of one thread of the test: a writer changes only its own objects.
    private final class Work: Sendable {
        let log: Log
        let first: RecordID
        let blob: RecordID

        init(_ log: Log, first: RecordID, blob: RecordID) {
            self.log = log
            self.first = first
            self.blob = blob
        }

        /// Changes one object after the other, and reads each back.
        func write() throws {
            for step in 1...stepCount {
                let id = first + UInt64(step % objectCount)
                let new = row(step * 100_000 + Int(id), byteCount: 60)
                let receipt = try log.write(author: nil) { try $0.put(id, new) }.receipt
                let seen = try receipt.snapshot.row(id)
                // No other thread changes it; a snapshot shows whole transactions.
                precondition(seen == new, "Object \(id) differs from the one just written.")
                if step % 50 == 0 {
                    let snapshot = log.snapshot()
                    let bytes = try snapshot.blob(blob)
                    precondition(bytes == [UInt8](repeating: 9, count: 3_000), "The blob has other bytes.")
                }
            }
        }
    }

    @Test func `writers and readers go on while segments are compacted`() throws {
        var options = Store.options
        options.segmentByteCount = 8_000
        options.checkpointByteCount = 10_000
        options.maintenance = .thread
        let store = Store()
        let log = try store.open(options)
        let count = Self.objectCount
        let ids = try log.insert((0..<(4 * count)).map { row($0, byteCount: 60) })
        let owner = BlobOwner(table: testTable, slot: 1, id: 1)
        var blobs: [RecordID] = []
        for _ in 0..<30 {
            blobs += [
                try log.write(author: nil) { transaction in
                    try [UInt8](repeating: 9, count: 3_000).withUnsafeBytes {
                        try transaction.putBlob($0, owner: owner)
                    }
                }.value
            ]
        }
        _ = try log.write(author: nil) { for blob in blobs.dropFirst().dropLast() { try $0.deleteBlob(blob) } }

        let threads = try (0..<4).map { number in
            let work = Work(log, first: ids[number * count], blob: blobs[0])
            return try #require(
                SystemThread {
                    do { try work.write() } catch { preconditionFailure("\(error)") }
                })
        }
        // The maintenance thread and this thread both compact.
        for _ in 0..<20 { try log.compact() }
        for thread in threads { thread.join() }
        try log.compact()

        let usage = try log.usage()
        let total = usage.segments.reduce(0) { $0 + $1.byteCount }
        // 1,600 versions were written, of which 120 are left.
        #expect(total < 60_000, "\(usage.segments)")
        #expect(!store.files(.coldSegment).isEmpty)
        #expect(try log.findings().isEmpty)
        try log.close()
        let again = try store.open(options)
        for number in 0..<4 {
            for step in (Self.stepCount - count + 1)...Self.stepCount {
                let id = ids[number * count] + UInt64(step % count)
                #expect(try again.snapshot().row(id) == row(step * 100_000 + Int(id), byteCount: 60))
            }
        }
        try again.close()
    }
}
