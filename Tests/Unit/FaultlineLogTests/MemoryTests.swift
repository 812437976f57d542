import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct MemoryTests {
    /// On the real file system: a simulated one is memory itself.
    private func withStore(_ body: (String) throws -> Void) throws {
        let directory = TemporaryDirectory()
        try body(directory.path + "/store")
    }

    private var options: LogOptions {
        var options = LogOptions()
        options.memoryBudget = 6 << 20
        options.maintenance = .inline
        options.frameByteCount = 200_000
        return options
    }

    /// The largest count of the budget while `body` ran step by step.
    private func peak(_ log: Log, _ steps: Int, _ body: (Int) throws -> Void) rethrows -> Int {
        var peak = 0
        for step in 0..<steps {
            try body(step)
            peak = max(peak, log.budget.used)
        }
        return peak
    }

    @Test func staysInsideItsBudgetInATransactionOfAnySize() throws {
        try withStore { path in
            let log = try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: WholeRowDeriver())
            var peak = 0
            // An object takes 12 bytes of table pages, and 100 of index entries.
            let count = TestSize.of(200_000, unoptimized: 120_000)
            _ = try log.write(author: nil) { transaction in
                for number in 0..<count {
                    let id = try transaction.allocateIDs(1, in: testTable)
                    let key = row(number &* 7_919 & 0xFFFFF, byteCount: 24)
                    if number % 1_000 == 0 {
                        peak = max(peak, log.budget.used)
                        #expect(try transaction.firstID(key) == nil)
                    }
                    try transaction.put(id, in: testTable, layout: 1, changed: nil, flags: [], byteCount: 24) {
                        $0.copyBytes(from: key)
                    }
                    try key.withUnsafeBytes { try transaction.insertEntry(WholeRowDeriver.index, key: $0, id: id) }
                    if number % 50_000 == 49_999 {
                        #expect(
                            try transaction.firstID(row((number - 40_000) &* 7_919 & 0xFFFFF, byteCount: 24))
                                == UInt64(number - 40_000 + 1))
                    }
                }
            }
            #expect(peak < 12 << 20, "\(peak) bytes at the most")
            #expect(log.snapshot().recordCount(of: testTable) == count)
            for number in stride(from: 0, to: count, by: 9_973) {
                #expect(try log.snapshot().firstID(row(number &* 7_919 & 0xFFFFF, byteCount: 24)) == UInt64(number + 1))
            }
            #expect(try log.findings().isEmpty)
            log.abandonForTests()

            // Its recovery, too.
            let again = try Log.open(
                path, on: PosixDisk(), clock: .system, options: options, deriver: WholeRowDeriver())
            #expect(again.budget.used < 12 << 20)
            #expect(again.snapshot().recordCount(of: testTable) == count)
            #expect(try again.findings().isEmpty)
            try again.close()
            let last = try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: WholeRowDeriver())
            #expect(last.openReport.wasClean)
            #expect(try last.findings().isEmpty)
            try last.close()
        }
    }

    @Test func leavesNothingOfALargeTransactionThatIsGivenUp() throws {
        struct GivenUp: Error {}
        try withStore { path in
            let log = try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: WholeRowDeriver())
            try log.insert((0..<10).map { row($0, byteCount: 24) })
            #expect(throws: GivenUp.self) {
                try log.write(author: nil) { transaction in
                    for number in 0..<60_000 { _ = try transaction.insert(row(number + 100, byteCount: 24)) }
                    throw GivenUp()
                }
            }
            #expect(log.snapshot().recordCount(of: testTable) == 10)
            #expect(try log.snapshot().firstID(row(200, byteCount: 24)) == nil)
            try log.insert([row(200, byteCount: 24)])
            #expect(try log.findings().isEmpty)
            try log.checkpoint()
            #expect(try log.findings().isEmpty)
            try log.close()
            let again = try Log.open(
                path, on: PosixDisk(), clock: .system, options: options, deriver: WholeRowDeriver())
            #expect(try again.findings().isEmpty)
            #expect(again.snapshot().recordCount(of: testTable) == 11)
            try again.close()
        }
    }

    @Test func readsTablesLargerThanItsBudget() throws {
        try withStore { path in
            var options = options
            options.memoryBudget = 3 << 20
            let log = try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
            // 1,200,000 objects: 14 MB of table pages.
            for _ in 0..<120 {
                _ = try log.write(author: nil) { transaction in
                    let first = try transaction.allocateIDs(10_000, in: plainTable)
                    for id in first..<first + 10_000 {
                        try transaction.put(id, in: plainTable, layout: 1, changed: nil, flags: [], byteCount: 8) {
                            $0.storeBytes(of: id, as: UInt64.self)
                        }
                    }
                }
            }
            #expect(log.budget.used < 6 << 20)
            let snapshot = log.snapshot()
            var random = Seed(1)
            var buffer = RecordBuffer()
            for _ in 0..<20_000 {
                let id = UInt64(1 + random.below(1_200_000))
                let view = try #require(try snapshot.read(id, in: plainTable, into: &buffer))
                #expect(view.row.load(as: UInt64.self) == id)
            }
            #expect(log.budget.used < 5 << 20)
            try log.close()
        }
    }
}

struct MemoryBudgetTests {
    @Test func asksThoseAboveTheirHalfFirst() {
        // Safe because one thread uses it.
        final class Asked: @unchecked Sendable {
            var uses: [MemoryBudget.Use] = []
        }
        let asked = Asked()
        let budget = MemoryBudget(byteCount: 1_000)
        let rows = budget.register(.rows) { wanted in
            asked.uses.append(.rows)
            budget.release(wanted, for: .rows)
            return wanted
        }
        let pages = budget.register(.pages) { wanted in
            asked.uses.append(.pages)
            return 0
        }
        budget.reserve(300, for: .pages)
        budget.reserve(650, for: .rows)
        #expect(asked.uses.isEmpty)
        budget.reserve(200, for: .pages)
        #expect(asked.uses == [.rows])
        #expect(budget.used == 1_000)
        #expect(budget.used(for: .rows) == 500)
        withExtendedLifetime((rows, pages)) {}
    }

    @Test func forgetsWhoIsNoLongerRegistered() {
        let budget = MemoryBudget(byteCount: 10)
        do {
            let registration = budget.register(.rows) { _ in
                Issue.record("a client that has ended was asked")
                return 0
            }
            withExtendedLifetime(registration) {}
        }
        budget.reserve(100, for: .blocks)
        #expect(budget.used == 100)
        budget.release(100, for: .blocks)
        #expect(budget.used == 0)
    }
}
