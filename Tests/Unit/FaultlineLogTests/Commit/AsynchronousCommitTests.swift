import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Commits that do not wait for the disk, and waiting for them.
struct AsynchronousCommitTests {
    private static var options: LogOptions {
        var options = Store.options
        options.durability = .async
        return options
    }

    private func synchronizationCount(_ store: Store) -> Int { store.disk.synchronizationCounts["log.commit"] ?? 0 }

    /// The least number of objects after a power cut.
    private func durableCount(_ store: Store) throws -> Int {
        let log = try Store(store.disk.withOnlyWhatIsDurable()).open(Self.options)
        defer { log.abandonForTests() }
        return log.snapshot().recordCount(of: testTable)
    }

    @Test func isDurableOnceItWasWaitedFor() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 0..<5 { try log.insert([row(number)]) }
        #expect(try durableCount(store) == 0)
        try log.waitUntilDurable(through: 2)
        #expect(try durableCount(store) == 5)
        try log.insert([row(5)])
        #expect(try durableCount(store) == 5)
        try log.waitUntilDurable()
        #expect(try durableCount(store) == 6)
        try log.close()
    }

    @Test func waitsOnceForAllThatIsThere() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 0..<5 { try log.insert([row(number)]) }
        #expect(synchronizationCount(store) == 0)
        for sequence in UInt64(1)...5 { try log.waitUntilDurable(through: sequence) }
        try log.waitUntilDurable()
        try log.waitUntilDurable(through: .max)
        #expect(synchronizationCount(store) == 1)
        try log.close()
    }

    @Test func waitsForNothingWhereCommitsWait() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        let count = synchronizationCount(store)
        try log.waitUntilDurable()
        try log.waitUntilDurable(through: 1)
        #expect(synchronizationCount(store) == count)
        try log.close()
    }

    @Test func waitsAcrossSegments() throws {
        let store = Store()
        var options = Self.options
        options.segmentByteCount = 500
        let log = try store.open(options)
        for number in 0..<20 {
            let sequence = try log.write(author: nil) { try $0.insert(row(number)) }.receipt.sequence
            if number.isMultiple(of: 3) {
                try log.waitUntilDurable(through: sequence)
                #expect(try durableCount(store) == number + 1)
            }
        }
        #expect(store.files(.hotSegment).count > 3)
        try log.close()
    }

    @Test func saysThatTheOutcomeIsUnknownWhereTheDiskFails() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        let log = try store.open(Self.options, on: failing)
        try log.insert([row(1)])
        try log.waitUntilDurable()
        try log.insert([row(2)])
        failing.arm(DiskFault { $0.site == "log.commit" })
        #expect(code { try log.waitUntilDurable() } == .outcomeUnknown)
        // Nothing is retried, and transactions that were durable before still are.
        #expect(code { try log.waitUntilDurable(through: 2) } == .outcomeUnknown)
        #expect(code { try log.waitUntilDurable(through: 1) } == nil)
        #expect(code { try log.insert([row(3)]) } == .poisoned)
        #expect(failing.hitCount == 1)
        try log.close()
    }

    @Test func answersWhenItIsClosedOrCannotWrite() throws {
        let store = Store()
        let log = try store.open(Self.options)
        try log.insert([row(1)])
        try log.close()
        // Closing made it durable.
        #expect(code { try log.waitUntilDurable() } == nil)

        let killed = try store.open(Self.options)
        try killed.insert([row(2)])
        killed.abandonForTests()
        #expect(code { try killed.waitUntilDurable() } == .closed)

        var options = Self.options
        options.access = .reading
        let reader = try store.killed.open(options)
        #expect(code { try reader.waitUntilDurable() } == .readOnly)
        try reader.close()
    }

    @Test func isMadeDurableUnasked() throws {
        let store = Store()
        var options = Self.options
        options.maintenance = .thread
        options.synchronizationDelayMilliseconds = 1
        let log = try store.open(options)
        for number in 0..<3 {
            try log.insert([row(number)])
            var waits = 0
            while synchronizationCount(store) <= number, waits < 20_000 {
                usleep(1_000)
                waits += 1
            }
            #expect(try durableCount(store) == number + 1)
        }
        // Once for each: it sleeps when there is nothing to do.
        #expect(synchronizationCount(store) == 3)
        try log.close()
    }

    private func code(_ body: () throws -> Void) -> LogError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? LogError)?.code
        }
    }
}
