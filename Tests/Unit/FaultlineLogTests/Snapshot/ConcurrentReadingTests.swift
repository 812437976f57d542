import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct ConcurrentReadingTests {
    /// Objects 1 to 20,000 hold their identifier and a version; a transaction raises the version of a whole stripe.
    @Test func showsWholeTransactionsWhilePagesComeAndGo() throws {
        var options = Store.options
        options.memoryBudget = 400_000
        options.checkpointByteCount = 60_000
        options.segmentByteCount = 300_000
        options.maintenance = .thread
        let log = try Store().open(options)
        for _ in 0..<20 {
            _ = try log.write(author: nil) { transaction in
                let first = try transaction.allocateIDs(1_000, in: plainTable)
                for id in first..<first + 1_000 { try transaction.put(id, row(Int(id), version: 0), in: plainTable) }
            }
        }
        let threads = try (0..<4).map { number in
            try #require(
                SystemThread {
                    do {
                        if number < 2 { try Self.write(log, number) } else { try Self.read(log, number) }
                    } catch {
                        preconditionFailure("\(error)")
                    }
                })
        }
        for thread in threads { thread.join() }
        #expect(try log.findings().isEmpty)
        #expect(log.budget.used < 2_000_000)
        try log.close()
    }

    static func write(_ log: Log, _ number: Int) throws {
        for version in 1...40 {
            _ = try log.write(author: nil) { transaction in
                for id in stride(from: UInt64(number + 1), through: 20_000, by: 400) {
                    try transaction.put(id, row(Int(id), version: version), in: plainTable)
                }
            }
        }
    }

    static func read(_ log: Log, _ number: Int) throws {
        var random = Seed(UInt64(number))
        var buffer = RecordBuffer()
        for _ in 0..<60 {
            let snapshot = log.snapshot()
            for stripe in UInt64(1)...2 {
                var versions: Set<UInt8> = []
                for id in stride(from: stripe, through: 20_000, by: 400) {
                    guard let view = try snapshot.read(id, in: plainTable, into: &buffer) else {
                        preconditionFailure("an object is missing")
                    }
                    precondition(
                        view.row.prefix(8).elementsEqual(row(Int(id)).prefix(8)), "An object holds its own identifier.")
                    versions.insert(view.row[8])
                }
                precondition(versions.count == 1, "A snapshot shows transactions as wholes.")
            }
            let id = UInt64(1 + random.below(20_000))
            let found = try snapshot.read(id, in: plainTable, into: &buffer)?.id
            precondition(found == id, "No object was deleted.")
        }
    }
}

/// A row with a version in byte 8.
private func row(_ number: Int, version: Int) -> [UInt8] {
    var bytes = row(number, byteCount: 16)
    bytes[8] = UInt8(version)
    return bytes
}
