import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Synchronization
import Testing

/// How old transactions leave the history, and how much space it takes.
@Suite struct HistoryRetentionTests {
    private final class Ticking: Sendable {
        let seconds = Atomic<Int64>(1_000_000)
    }

    private func makeContainer(_ time: Ticking) throws -> ModelContainer {
        var options = LogOptions()
        options.maintenance = .manual
        options.seed = 1
        return try ModelContainer(
            for: [Stamp.self, Passport.self], directory: "/d/store", on: SimulatedDisk(directories: ["/d"]),
            clock: Clock { time.seconds.load(ordering: .relaxed) * 1_000_000_000 }, options: options,
            recordsHistory: true)
    }

    /// Saves once a day.
    private func save(_ days: Int, _ container: ModelContainer, _ time: Ticking) throws {
        let context = ModelContext(container)
        for day in 0..<days {
            context.insert(Stamp("\(day)"))
            try context.save()
            time.seconds.add(86_400, ordering: .relaxed)
        }
    }

    @Test func whatIsOlderThanTheLimitGoes() throws {
        let time = Ticking()
        let container = try makeContainer(time)
        try save(40, container, time)
        let context = ModelContext(container)
        let all = try context.history()
        #expect(all.count == 40)
        let now = UInt64(time.seconds.load(ordering: .relaxed)) * 1_000_000
        let retention = HistoryRetention(container.rowStore, age: .seconds(30 * 86_400))
        try retention.run(nowMicroseconds: now)
        #expect(try context.history() == Array(all.suffix(30)))
        let usage = try container.historyUsage()
        #expect(usage.recordCount == 30)
        #expect(usage.byteCount > 0 && usage.byteCount < 30 * 100)
        #expect(usage.oldest == all[10].timestamp)

        // The newest transaction stays, so a token of a reader that has seen all of them stays valid.
        let token = try #require(all.last).token
        try retention.run(nowMicroseconds: now + 1_000 * 86_400 * 1_000_000)
        #expect(try context.history() == [try #require(all.last)])
        let behind = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        #expect(try context.fetchHistory(behind).isEmpty)
        let old = all[5].token
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > old }))
        }
        // Numbers are not used twice.
        try save(1, container, time)
        #expect(try context.fetchHistory(behind).count == 1)
    }

    @Test func withoutALimitEverythingStays() throws {
        let time = Ticking()
        let container = try makeContainer(time)
        try save(3, container, time)
        try HistoryRetention(container.rowStore, age: nil).run(nowMicroseconds: .max / 2)
        #expect(try container.historyUsage().recordCount == 3)
    }

    @Test func aHistoryThatBeganAnewIsClearedAway() throws {
        let time = Ticking()
        let container = try makeContainer(time)
        try save(5, container, time)
        let context = ModelContext(container)
        let token = try #require(try context.history().last).token
        _ = try container.rowStore.log.write(author: nil) { try HistoryStart.beginAnew(in: &$0) }
        #expect(try context.history().isEmpty)
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        }
        try save(1, container, time)
        try HistoryRetention(container.rowStore, age: nil).run(nowMicroseconds: 0)
        #expect(try context.history().count == 1)
        #expect(container.rowStore.log.snapshot().recordCount(of: .history) == 1)
    }
}
