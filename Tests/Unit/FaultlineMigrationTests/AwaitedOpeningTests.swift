import Faultline
import FaultlineDisk
import FaultlineMigration
import Foundation
import Synchronization
import Testing

/// Openings that suspend the calling task.
@Suite struct AwaitedOpeningTests {
    private final class Arrivals: Sendable {
        let count = Guarded(0)
    }

    private let stores = Stores(isOnDisk: true)

    private var configuration: ModelConfiguration {
        var configuration = ModelConfiguration(url: URL(filePath: stores.directory))
        configuration.options.migration.workerCount = 1
        return configuration
    }

    @Test func `a store is opened and migrated, and its progress is told`() async throws {
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        let counts = Guarded<[Int]>([])
        let container = try await StageNotes.$current.withValue(notes) {
            try await ModelContainer.open(
                for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self, configuration: configuration
            ) { progress in counts.withLock { $0.append(progress.done) } }
        }
        #expect(notes.seen == Array(0..<WorkStore.count))
        #expect(counts.withLock { $0.max() } == WorkStore.count)
        try WorkStore.check(ModelContext(container))
        try container.close()
        let other = try await ModelContainer.open(for: container.schema, configuration: configuration)
        try WorkStore.check(ModelContext(other))
        try other.close()
    }

    /// More openings than Swift has threads for tasks: all wait in their closures for the others.
    @Test func `openings leave the threads of tasks free`() async throws {
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
        let arrivals = Arrivals()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let stores = Stores(isOnDisk: true)
                    try WorkStore.make(in: stores)
                    var configuration = ModelConfiguration(url: URL(filePath: stores.directory))
                    configuration.options.migration.workerCount = 1
                    let notes = StageNotes()
                    notes.during = {
                        guard notes.seen.isEmpty else { return }
                        arrivals.count.withLock { $0 += 1 }
                        let end = ContinuousClock.now + .seconds(120)
                        while arrivals.count.withLock({ $0 < count }), .now < end { usleep(1_000) }
                    }
                    let container = try await StageNotes.$current.withValue(notes) {
                        try await ModelContainer.open(
                            for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self,
                            configuration: configuration)
                    }
                    #expect(arrivals.count.withLock { $0 } == count)
                    try container.close()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a cancelled task cancels the migration and the next opening continues it`() async throws {
        try WorkStore.make(in: stores)
        let notes = StageNotes()
        notes.during = { if notes.seen.count == 100 { withUnsafeCurrentTask { $0?.cancel() } } }
        let configuration = configuration
        let opening = Task {
            try await StageNotes.$current.withValue(notes) {
                try await ModelContainer.open(
                    for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self, configuration: configuration
                )
            }
        }
        let error = await #expect(throws: MigrationError.self) { try await opening.value }
        #expect(error?.code == .cancelled)
        #expect(notes.seen == Array(0...100))
        notes.during = nil
        let container = try await StageNotes.$current.withValue(notes) {
            try await ModelContainer.open(
                for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self, configuration: configuration)
        }
        #expect(notes.seen == Array(0..<WorkStore.count))
        #expect(container.migrationReport.resumes == 1)
        try WorkStore.check(ModelContext(container))
        try container.close()
    }

    @Test func `a cancelled task opens a store that needs no migration`() async throws {
        try WorkStore.make(in: stores)
        let opening = Task { [configuration] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await ModelContainer.open(
                for: Schema(versionedSchema: Work1.self), configuration: configuration)
        }
        let container = try await opening.value
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Work1.Employee>()) == WorkStore.count)
        try container.close()
    }

    @Test func `a refused opening throws the error of the initializer and ends its progress`() async throws {
        try WorkStore.make(in: stores)
        var configuration = configuration
        let updates = configuration.options.migration.progressUpdates()
        let opening = Task { [configuration] in
            try await ModelContainer.open(for: Schema(versionedSchema: Work2.self), configuration: configuration)
        }
        let error = await #expect(throws: MigrationError.self) { try await opening.value }
        let other = self.configuration
        let expected = #expect(throws: MigrationError.self) {
            _ = try ModelContainer(for: Schema(versionedSchema: Work2.self), configurations: other)
        }
        #expect(error?.code == expected?.code)
        for await _ in updates { Issue.record("nothing was migrated") }
    }
}
