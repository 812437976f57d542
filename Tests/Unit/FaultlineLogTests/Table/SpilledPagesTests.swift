import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Pages that a transaction of several frames changes, with and without enough memory in the budget.
struct SpilledPagesTests {
    /// A hundred pages of 4 KiB.
    private static let objectCount = 33_600

    /// A log of `objectCount` objects whose transactions have frames of 20 kB, with a checkpoint just made.
    private func log(_ store: Store, memoryBudget: Int) throws -> Log {
        var options = Store.options
        options.memoryBudget = memoryBudget
        options.frameByteCount = 20_000
        let log = try store.open(options, deriver: NoIndexes())
        try log.insert((0..<Self.objectCount).map { row($0) }, in: plainTable)
        try log.checkpoint()
        return log
    }

    /// Changes every page in one transaction.
    private func update(_ log: Log, _ round: Int) throws {
        _ = try log.write(author: nil) { transaction in
            for id in stride(from: 1, through: Self.objectCount, by: 30) {
                try transaction.put(UInt64(id), row(id + round), in: plainTable)
            }
        }
    }

    @Test func `stay in memory where there is room for those of two versions`() throws {
        let store = Store()
        let log = try log(store, memoryBudget: 2 << 20)
        let before = store.disk.synchronizationCounts["spill.content"] ?? 0
        for round in 1...10 { try update(log, round) }
        #expect(store.disk.synchronizationCounts["spill.content"] ?? 0 == before)
        #expect(log.budget.used < 2 << 20)
        try log.close()
    }

    @Test func `are read to where they are changed, and not held as they were too`() throws {
        let store = Store()
        try log(store, memoryBudget: 2 << 20).close()
        var options = Store.options
        options.memoryBudget = 2 << 20
        let log = try store.open(options, deriver: NoIndexes())
        let old = log.snapshot()
        let before = log.budget.used(for: .pages)

        // Nothing is read before it is written: looking up an object would make its page resident.
        _ = try log.write(author: nil) { transaction in
            for id in stride(from: 1, through: Self.objectCount, by: 30) {
                let new = row(id + 1)
                try transaction.put(
                    UInt64(id), in: plainTable, layout: 1, changed: nil, flags: [], byteCount: new.count
                ) { $0.copyBytes(from: new) }
            }
        }

        #expect(log.budget.used(for: .pages) - before <= 101 * 4_096)
        #expect(try old.row(1, in: plainTable) == row(0))
        #expect(try log.snapshot().row(1, in: plainTable) == row(2))
        try log.close()
    }

    @Test func `leave no unneeded file behind`() throws {
        let store = Store()
        let log = try log(store, memoryBudget: 700_000)
        var most = 0
        for round in 1...20 {
            try update(log, round)
            most = max(most, store.files(.tableCheckpoint).count)
        }
        #expect(store.disk.synchronizationCounts["spill.content"] ?? 0 >= 20)
        // The checkpoint's file, those of the current spill, and of the previous one.
        #expect(most <= 5)
        #expect(try log.snapshot().row(1, in: plainTable) == row(21))
        #expect(try log.findings().isEmpty)
        try log.close()
    }
}
