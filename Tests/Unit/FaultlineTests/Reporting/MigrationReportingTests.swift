import CoreMetrics
import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Logging
import MetricsTestKit
import Synchronization
import Testing

/// Letters, whose text gets a length by code.
enum Letters1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Letter.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Letter {
        var text: String
        init(text: String) { self.text = text }
    }
}

enum Letters2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Letter.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Letter {
        var text: String
        var length: Int
        init(text: String, length: Int) {
            self.text = text
            self.length = length
        }
    }
}

enum Letters3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Letter.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    @Model final class Letter {
        var text: String
        var length: Int
        var stamp: String?
        init(text: String, length: Int) {
            self.text = text
            self.length = length
        }
    }
}

enum LettersPlan: SchemaMigrationPlan {
    struct Unreadable: Error {}

    /// Called with each text; may throw.
    @TaskLocal static var reads = Hook<String> { _ in }

    static var schemas: [any VersionedSchema.Type] { [Letters1.self, Letters2.self, Letters3.self] }
    static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Letters1.self, toVersion: Letters2.self,
                StreamedEntity(Letters1.Letter.self) { old, output in
                    try reads(old.text)
                    try output.insert(Letters2.Letter(text: old.text, length: old.text.count))
                }),
            .lightweight(fromVersion: Letters2.self, toVersion: Letters3.self),
        ]
    }
}

/// The reports of a migration to a logger, metrics, and Foundation's `Progress`.
struct MigrationReportingTests {
    private let folder = TemporaryDirectory()
    private static let count = 2_500

    private var configuration: ModelConfiguration {
        ModelConfiguration("letters", url: URL(filePath: folder.path + "/letters.store"))
    }

    init() throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Letters1.self), configurations: configuration)
        let context = ModelContext(container)
        for number in 0..<Self.count { context.insert(Letters1.Letter(text: "text \(number)")) }
        try context.save()
        try container.close()
    }

    private func migrate(_ configuration: ModelConfiguration) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Letters3.self), migrationPlan: LettersPlan.self,
            configurations: configuration)
        try container.close()
    }

    private func reporting(_ keeper: LogKeeper, _ metrics: TestMetrics) -> ModelConfiguration {
        var configuration = configuration
        configuration.options.reporting.logger = keeper.logger
        configuration.options.reporting.metrics = StoreReporting.Metrics(factory: metrics)
        return configuration
    }

    private func entries(_ keeper: LogKeeper) -> [LogKeeper.Entry] {
        keeper.entries.filter { $0.message.contains("migrat") }
    }

    @Test func `M12 (bipsync.com): a migration and its stages are logged, counted and timed`() throws {
        let keeper = LogKeeper()
        let metrics = TestMetrics()
        try migrate(reporting(keeper, metrics))

        let entries = entries(keeper)
        #expect(
            entries.map { "\($0.level): \($0.message)" } == [
                "info: A migration begins.", "info: A stage of the migration begins.",
                "info: A stage of the migration ended.", "info: A stage of the migration begins.",
                "info: A stage of the migration ended.", "notice: The migration ended.",
            ])
        #expect(
            entries.map { $0.metadata["faultline.from"]?.description } == [
                "1.0.0", "1.0.0", "1.0.0", "2.0.0", "2.0.0", "1.0.0",
            ])
        #expect(entries[2].metadata["faultline.kind"]?.description == "streamed")
        #expect(entries[2].metadata["faultline.stage"]?.description == "1 of 2")
        #expect(entries[2].metadata["faultline.objects_written"]?.description == "\(Self.count)")
        #expect(entries[4].metadata["faultline.objects_written"]?.description == "0")
        #expect(Int(entries[2].metadata["faultline.nanoseconds"]?.description ?? "") ?? 0 > 0)
        #expect(entries[5].metadata["faultline.to"]?.description == "3.0.0")

        func total(_ name: String) throws -> Int64 {
            try metrics.expectCounter("faultline_\(name)", [("store", "letters")]).totalValue
        }
        #expect(try total("migrations") == 1 && total("migration_stages") == 2)
        #expect(try total("migration_failures") == 0 && total("migration_objects_quarantined") == 0)
        #expect(try total("migration_objects_read") == Self.count)
        #expect(try total("migration_objects_written") == Self.count)
        #expect(try total("migration_bytes_written") > Self.count * 20)
        let dimensions = [("store", "letters")]
        #expect(try metrics.expectTimer("faultline_migration_duration", dimensions).values.count == 1)
        #expect(try metrics.expectTimer("faultline_migration_stage_duration", dimensions).values.count == 2)

        // Nothing is left to migrate, so nothing is reported.
        let second = LogKeeper()
        try migrate(reporting(second, TestMetrics()))
        #expect(self.entries(second).isEmpty)
    }

    @Test func `a stage that fails is told with its error, and goes on the next time`() throws {
        let keeper = LogKeeper()
        let metrics = TestMetrics()
        let configuration = reporting(keeper, metrics)
        let stops = Hook<String> { if $0 == "text 2000" { throw LettersPlan.Unreadable() } }
        LettersPlan.$reads.withValue(stops) {
            _ = #expect(throws: MigrationError.self) { try migrate(configuration) }
        }
        var entries = entries(keeper)
        #expect(entries.map(\.level) == [.info, .info, .notice, .error])
        #expect(entries[3].metadata["faultline.code"]?.description == "stageFailed")
        #expect(try metrics.expectCounter("faultline_migration_failures", [("store", "letters")]).totalValue == 1)
        #expect(try metrics.expectCounter("faultline_migrations", [("store", "letters")]).totalValue == 0)

        let second = LogKeeper()
        try migrate(reporting(second, TestMetrics()))
        entries = self.entries(second)
        #expect(entries.last?.message == "The migration ended.")
    }

    @Test func `a store that cannot be brought to the schema is told, and a cancelled migration is no failure`() throws
    {
        let keeper = LogKeeper()
        let metrics = TestMetrics()
        var configuration = reporting(keeper, metrics)
        #expect(throws: MigrationError.self) {
            try ModelContainer(for: Schema(versionedSchema: Letters2.self), configurations: configuration)
        }
        #expect(entries(keeper).map(\.level) == [.error])
        #expect(entries(keeper)[0].metadata["faultline.property"]?.description == "length")
        let progress = configuration.options.migration.makeProgress()
        progress.cancel()
        let error = #expect(throws: MigrationError.self) { try migrate(configuration) }
        #expect(error?.code == .cancelled)
        #expect(entries(keeper).last?.message == "The migration was cancelled.")
        #expect(try metrics.expectCounter("faultline_migration_failures", [("store", "letters")]).totalValue == 1)
    }

    @Test func `Progress counts, names and ends, and cancels in the middle`() throws {
        var configuration = configuration
        let progress = configuration.options.migration.makeProgress()
        #expect(progress.isIndeterminate && !progress.isFinished)
        let seen = Guarded<[String]>([])
        let shown = progress
        let watches = Hook<String> { text in
            guard text == "text 2200" else { return }
            let update = shown.userInfo[StoreOptions.Migration.progressKey] as? MigrationProgress
            let pass = update.map { "\($0.pass) \($0.entity)" } ?? ""
            seen.withLock { $0 = ["\(shown.completedUnitCount) of \(shown.totalUnitCount)", pass] }
            shown.cancel()
        }
        LettersPlan.$reads.withValue(watches) {
            let error = #expect(throws: MigrationError.self) { try migrate(configuration) }
            #expect(error?.code == .cancelled)
        }
        let texts = seen.withLock { $0 }
        #expect(texts.dropFirst() == ["instances Letter"])
        #expect(texts.first?.hasSuffix("00 of \(Self.count + 1)") == true, "\(texts)")
        #expect(progress.isCancelled && progress.isFinished)

        configuration.options.migration = StoreOptions.Migration()
        let queue = DispatchQueue(label: "progress")
        let again = configuration.options.migration.makeProgress(on: queue)
        let early = Guarded(0)
        // The end of a pass is reported, as well as the end of the migration.
        configuration.options.migration.progress = { _ in
            if queue.sync(execute: { again.isFinished }) { early.withLock { $0 += 1 } }
        }
        try migrate(configuration)
        #expect(early.withLock { $0 } == 0)
        queue.sync {
            #expect(again.isFinished && !again.isCancelled && again.fractionCompleted == 1)
        }
    }
}
