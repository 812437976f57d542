import CoreMetrics
import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Glibc
import Logging
import MetricsTestKit
import Testing

@Model final class Note {
    var text: String
    init(text: String) { self.text = text }
}

/// The reports of a store to a logger and metrics, and of its health.
struct ReportingTests {
    private let folder = TemporaryDirectory()

    private func open(
        _ reporting: StoreReporting = StoreReporting(), name: String = "notes"
    ) throws -> ModelContainer {
        var configuration = ModelConfiguration(name, url: URL(filePath: folder.path + "/notes.store"))
        configuration.options.reporting = reporting
        return try ModelContainer(for: Note.self, configurations: configuration)
    }

    private func save(_ count: Int, in container: ModelContainer) throws {
        let context = ModelContext(container)
        for number in 0..<count {
            context.insert(Note(text: "note-number-\(number)"))
            try context.save()
        }
    }

    /// Changes a byte of a note on the disk, and reads the note.
    private func meetRot(_ container: ModelContainer) throws {
        let store = folder.path + "/notes.store"
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: store).first { $0.hasPrefix("s-") })
        let url = URL(filePath: store + "/" + name)
        let place = try #require(try Data(contentsOf: url).firstRange(of: Data("note-number-1".utf8)))
        let file = try FileHandle(forUpdating: url)
        try file.seek(toOffset: UInt64(place.lowerBound + 2))
        try file.write(contentsOf: Data([0xFF]))
        try file.close()
        let context = ModelContext(container)
        for note in try context.fetch(FetchDescriptor<Note>()) { _ = note.text }
    }

    // MARK: Logger

    @Test func logsALifeAtTheLevelsOfWhoReadsIt() throws {
        let keeper = LogKeeper()
        var reporting = StoreReporting()
        reporting.logger = keeper.logger
        let container = try open(reporting)
        try save(3, in: container)
        try container.checkpoint()
        try meetRot(container)
        try container.close()
        let levels = keeper.entries.map { "\($0.level): \($0.message.split(separator: ".")[0])" }
        #expect(
            levels.filter { !$0.hasPrefix("debug") } == [
                "info: The store was created", "error: Bytes differ from those that were written",
                "info: The store was closed",
            ])
        #expect(levels.contains("debug: A checkpoint was made"))
        let rot = try #require(keeper.entries.first { $0.level == .error })
        #expect(rot.metadata["faultline.path"]?.description.contains("/notes.store/s-") == true)
        #expect(Int(rot.metadata["faultline.offset"]?.description ?? "") ?? 0 > 64)
        #expect(rot.message.contains("faultline salvage"))
    }

    @Test func givesEachEventALevel() {
        let error = LogError(.fullDisk, "No space.", path: "/p", offset: 7)
        var recovered = OpenReport()
        recovered.replayedTransactionCount = 3
        let events: [(FaultlineLog.LogEvent, Logger.Level)] = [
            (.opened(recovered, nanoseconds: 1), .notice),
            (.checkpointMade(sequence: 1, byteCount: 2, nanoseconds: 3), .debug),
            (.runsMerged(count: 2, byteCount: 3, nanoseconds: 4), .trace),
            (.compactionBegan(predictedByteCount: 5), .debug),
            (.compactionEnded(segmentCount: 1, movedByteCount: 2, droppedByteCount: 3, nanoseconds: 4), .debug),
            (.segmentDropped(path: "/p", byteCount: 9), .debug), (.diskFull(error), .warning),
            (.spaceCameBack, .notice), (.pastStatesLost(error), .warning), (.maintenanceFailed(error), .warning),
            (.poisoned(error), .error),
            (.openFilesExceedLimit(OpenFileCount(limit: 16)), .warning), (.closed, .info),
            (.eventsLost(count: 4), .warning),
        ]
        for (event, level) in events {
            let keeper = LogKeeper()
            keeper.logger.write(event)
            #expect(keeper.entries.map(\.level) == [level], "\(event)")
        }
    }

    // MARK: Metrics

    @Test func emitsWhatWasDone() throws {
        let metrics = TestMetrics()
        var reporting = StoreReporting()
        reporting.metrics = StoreReporting.Metrics(factory: metrics)
        reporting.metrics?.dimensions = [("region", "north")]
        reporting.metrics?.interval = .seconds(3_600)
        let container = try open(reporting)
        try save(5, in: container)
        let context = ModelContext(container)
        for note in try context.fetch(FetchDescriptor<Note>()) { #expect(note.text.hasPrefix("note")) }
        let commits = container.rowStore.log.figures.commitCount
        let reads = container.counters
        try meetRot(container)
        try container.close()
        let dimensions = [("store", "notes"), ("region", "north")]
        func total(_ name: String) throws -> Int64 {
            try metrics.expectCounter("faultline_\(name)", dimensions).totalValue
        }
        func times(_ name: String) throws -> [Int64] {
            try metrics.expectTimer("faultline_\(name)", dimensions).values
        }
        #expect(commits >= 5)
        #expect(try total("commits") == Int64(commits))
        #expect(try total("log_bytes_written") > 5 * 64)
        #expect(try total("space_waits") == 0 && total("space_wait_milliseconds") == 0)
        #expect(reads.faultsFired > 0 && reads.rowsRead >= 5)
        #expect(try total("faults_fired") >= Int64(reads.faultsFired))
        #expect(try total("rows_read") >= Int64(reads.rowsRead))
        #expect(try total("rot_met") == 1)
        #expect(try total("blob_bytes_read") == 0)
        #expect(try times("commit_duration").count == Int(commits))
        #expect(try times("commit_duration").allSatisfy { $0 > 0 })
        #expect(try !times("sync_duration").isEmpty)
        #expect(try times("open_duration").count == 1)
        #expect(try !times("checkpoint_duration").isEmpty)
        #expect(try metrics.expectGauge("faultline_disk_bytes", dimensions).lastValue ?? 0 > 1_000)
        #expect(try metrics.expectGauge("faultline_cache_bytes", dimensions).lastValue ?? 0 > 0)
        let share = try #require(try metrics.expectGauge("faultline_live_share", dimensions).lastValue)
        #expect(share > 0 && share <= 1)
        #expect(try metrics.expectGauge("faultline_pinned_bytes", dimensions).lastValue == 0)
    }

    @Test func readsCountersNowAndThen() async throws {
        let metrics = TestMetrics()
        var reporting = StoreReporting()
        reporting.metrics = StoreReporting.Metrics(factory: metrics)
        reporting.metrics?.interval = .milliseconds(1)
        let container = try open(reporting)
        let counter = try metrics.expectCounter("faultline_commits", [("store", "notes")])
        try save(3, in: container)
        let expected = Int64(container.rowStore.log.figures.commitCount)
        // Waits at most a hundred times the interval.
        for _ in 0..<200 where counter.totalValue < expected { try await Task.sleep(for: .milliseconds(50)) }
        #expect(counter.totalValue == expected)
        try container.close()
    }

    @Test func countsTheEngineOnceAndEachContainersReads() throws {
        let metrics = TestMetrics()
        var reporting = StoreReporting()
        reporting.metrics = StoreReporting.Metrics(factory: metrics)
        let first = try open(reporting, name: "first")
        let second = try open(reporting, name: "second")
        try save(4, in: second)
        let context = ModelContext(second)
        for note in try context.fetch(FetchDescriptor<Note>()) { #expect(!note.text.isEmpty) }
        let commits = Int64(first.rowStore.log.figures.commitCount)
        try second.close()
        try first.close()
        #expect(try metrics.expectCounter("faultline_commits", [("store", "first")]).totalValue == commits)
        #expect(try metrics.expectCounter("faultline_commits", [("store", "second")]).totalValue == 0)
        #expect(try metrics.expectCounter("faultline_faults_fired", [("store", "first")]).totalValue == 0)
        #expect(try metrics.expectCounter("faultline_faults_fired", [("store", "second")]).totalValue >= 4)
    }

    @Test func tellsNobodyIfNobodyAsks() throws {
        let container = try open()
        #expect(container.rowStore.log.observer == nil)
        try container.close()
    }

    // MARK: Health

    @Test func isHealthyThenDegradedThenFailed() throws {
        let container = try open()
        try save(3, in: container)
        #expect(container.health.status == .healthy && container.health.reasons.isEmpty && container.health.isReady)
        try meetRot(container)
        let health = container.health
        #expect(health.status == .degraded && health.isReady)
        #expect(health.reasons.map(\.code) == [.rot])
        #expect(health.reasons.first?.path?.contains("/s-") == true && health.reasons.first?.offset ?? 0 > 64)
        try container.close()
        #expect(container.health.status == .failed && !container.health.isReady)
        #expect(container.health.reasons.first?.code == .closed)
    }

    @Test func remembersARecoveryAndStaysHealthy() throws {
        let container = try open()
        try save(2, in: container)
        container.rowStore.log.abandonForTests()
        let again = try open()
        #expect(again.health.status == .healthy)
        #expect(again.health.reasons.map(\.code) == [.recovered])
        try again.close()
    }

    @Test func saysThatTheDiskIsFullOrFailed() throws {
        let simulated = SimulatedDisk(directories: ["/d"])
        let disk = FailingDisk(over: simulated)
        var options = LogOptions()
        options.maintenance = .manual
        let container = try ModelContainer(for: [Note.self], directory: "/d/store", on: disk, options: options)
        try save(1, in: container)
        let capacity = simulated.byteCapacity
        simulated.byteCapacity = capacity - Int(try simulated.freeByteCount(in: "/d"))
        let context = ModelContext(container)
        for number in 0..<1_000 { context.insert(Note(text: String(repeating: "\(number) ", count: 500))) }
        #expect(throws: (any Error).self) { try context.save() }
        #expect(container.health.status == .degraded)
        #expect(container.health.reasons.map(\.code) == [.fullDisk])
        simulated.byteCapacity = capacity
        try save(1, in: container)
        #expect(container.health.status == .healthy)
        disk.arm(DiskFault(ordinal: 0, errorNumber: EIO, isSticky: true, effect: .none))
        #expect(throws: (any Error).self) { try save(1, in: container) }
        disk.disarm()
        #expect(container.health.status == .failed)
        #expect(container.health.reasons.first?.code == .writingStopped)
    }

    @Test func isOneObjectOfJSON() throws {
        let container = try open()
        try container.close()
        let health = container.health
        let bytes = try JSONEncoder().encode(health)
        #expect(try JSONDecoder().decode(StoreHealth.self, from: bytes) == health)
        let object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(object["status"] as? String == "failed")
        let reason = try #require((object["reasons"] as? [[String: Any]])?.first)
        #expect(reason["code"] as? String == "closed")
        #expect("\(health)" == "failed: The store was closed.")
    }
}
