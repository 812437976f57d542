import FaultlineLog
import FaultlineTestSupport
import Testing

/// Transactions whose index entries do not fit into memory.
struct SpilledEntriesTests {
    /// Of a key's entries in one transaction the last one counts, in any run.
    @Test(arguments: [20_000, 24_000, 28_000, 32_000, 40_000, 60_000])
    func `a transaction that takes entries back is the same after opening`(memoryBudget: Int) throws {
        var options = Store.options
        options.memoryBudget = memoryBudget
        options.frameByteCount = 700
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1_000)])
        try log.checkpoint()
        try log.insert([row(1_001)])
        _ = try log.write(author: nil) { transaction in
            let first = try transaction.insert(row(0, byteCount: 40))
            for number in 1..<150 { _ = try transaction.insert(row(number, byteCount: 40)) }
            for id in first..<first + 145 { try transaction.erase(id) }
        }
        let expected = (145..<150).map { row($0, byteCount: 40) } + [row(1_000), row(1_001)]
        #expect(try keys(log.snapshot()) == expected)
        for _ in 0..<3 { try log.checkpoint() }
        #expect(try keys(log.snapshot()) == expected)
        #expect(store.files(.indexRun).count > 1)
        try log.close()

        let again = try store.open(options)
        #expect(try keys(again.snapshot()) == expected)
        for number in 0..<150 {
            #expect(
                try again.snapshot().firstID(row(number, byteCount: 40)) == (number < 145 ? nil : RecordID(number + 3)))
        }
        #expect(try again.findings().isEmpty)
    }

    private func keys(_ snapshot: Snapshot) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try snapshot.forEachEntry(in: WholeRowDeriver.index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) {
            key, _ in
            keys.append(Array(key))
            return true
        }
        return keys
    }
}
