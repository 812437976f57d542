import Faultline
import FaultlineDisk
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Testing

/// Whether opening would migrate is known without opening for writing.
struct MigrationDueTests {
    private static func isDue(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil, in stores: Stores
    ) throws -> Bool {
        try ModelContainer.migrationIsDue(
            for: version.models, migrationPlan: plan, directory: stores.directory, on: stores.disk,
            options: stores.logOptions)
    }

    @Test func `a migration is due until it has switched`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        #expect(try !Self.isDue(Work1.self, in: stores))
        #expect(try Self.isDue(Work2.self, WorkPlan.self, in: stores))
        let notes = StageNotes()
        notes.throwsAt = 155
        StageNotes.$current.withValue(notes) {
            _ = #expect(throws: MigrationError.self) { try stores.open(Work2.self, WorkPlan.self) }
        }
        #expect(try Self.isDue(Work2.self, WorkPlan.self, in: stores))
        #expect(try !Self.isDue(Work1.self, in: stores))
        try StageNotes.$current.withValue(StageNotes()) { try stores.use(Work2.self, WorkPlan.self) { _, _ in } }
        #expect(try !Self.isDue(Work2.self, WorkPlan.self, in: stores))
    }

    @Test func `an index that must be built is due`() throws {
        let stores = Stores()
        try stores.use(Books1.self) { _, context in
            context.insert(Books1.Book("Emma", pages: 400))
            try context.save()
        }
        #expect(try Self.isDue(IndexedBooks1.self, in: stores))
        try stores.use(IndexedBooks1.self) { _, _ in }
        #expect(try !Self.isDue(IndexedBooks1.self, in: stores))
    }

    @Test func `nothing is due where there is no store, and none is made`() throws {
        let stores = Stores()
        let disk = try #require(stores.disk as? SimulatedDisk)
        #expect(try !Self.isDue(Work1.self, in: stores))
        try disk.createDirectory(stores.directory)
        #expect(try !Self.isDue(Work1.self, in: stores))
        let file = try disk.open(stores.directory + "/notes.txt", for: .creating)
        try file.write([1, 2, 3], at: 0)
        file.close()
        #expect(try !Self.isDue(Work1.self, in: stores))
        #expect(try disk.names(in: stores.directory) == ["notes.txt"])
        #expect(
            try !ModelContainer.migrationIsDue(
                for: Work1.Room.self, at: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    @Test func `a schema that opening refuses is refused`() throws {
        let stores = Stores()
        try stores.use(Work2.self) { _, _ in }
        let backward = #expect(throws: MigrationError.self) { try Self.isDue(Work1.self, in: stores) }
        // Without a plan both versions have the number 1.0.0, and the difference needs more.
        #expect(backward?.code == .notLightweight)
        let unknown = #expect(throws: MigrationError.self) { try Self.isDue(Note2.self, CrewlessPlan.self, in: stores) }
        #expect(unknown?.code == .unknownVersion)
    }

    private enum CrewlessPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Note1.self, Note2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Note1.self, toVersion: Note2.self)] }
    }

    /// Another disk is another process for the library.
    @Test func `beside a writer it writes nothing, and the writer goes on`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        let writer = try stores.open(Work1.self)
        let context = ModelContext(writer)
        context.insert(Work1.Room(label: "unsaved"))
        let counting = CountingDisk(over: stores.disk)
        let beside = Stores(counting, stores.directory)
        #expect(throws: StorageError.self) { try beside.open(Work1.self) }
        counting.reset()
        #expect(try Self.isDue(Work2.self, WorkPlan.self, in: beside))
        #expect(try !Self.isDue(Work1.self, in: beside))
        let counts = counting.counts
        #expect(counts.writes == 0 && counts.entryChanges == 0 && counts.reservations == 0, "\(counts)")
        #expect(counts.synchronizations == 0 && counts.directorySynchronizations == 0, "\(counts)")
        try context.save()
        // In the same process the writer's own state is read.
        #expect(try !Self.isDue(Work1.self, in: stores))
        try writer.close()
        try stores.use(Work1.self) { _, context in try #expect(context.fetchCount(FetchDescriptor<Work1.Room>()) == 5) }
    }

    @Test func `a writer of another process is not waited for`() throws {
        let stores = Stores(isOnDisk: true)
        try WorkStore.make(in: stores)
        let held = try HeldLock(ofStoreIn: stores.directory)
        defer { held.release() }
        let configuration = ModelConfiguration(url: URL(filePath: stores.directory, directoryHint: .isDirectory))
        let error = #expect(throws: StorageError.self) {
            try ModelContainer(for: Work1.Employee.self, configurations: configuration)
        }
        #expect(error?.code == .lockedByAnother)
        #expect(
            try ModelContainer.migrationIsDue(
                for: Schema(versionedSchema: Work2.self), migrationPlan: WorkPlan.self, at: configuration))
        #expect(
            try !ModelContainer.migrationIsDue(
                for: Work1.Employee.self, Work1.Project.self, Work1.Room.self, migrationPlan: WorkPlan.self,
                at: configuration))
    }

    @Test func `the sequence of progress goes on to the opening that follows`() async throws {
        let stores = Stores(isOnDisk: true)
        try WorkStore.make(in: stores)
        var configuration = ModelConfiguration(url: URL(filePath: stores.directory, directoryHint: .isDirectory))
        configuration.options.migration.unhandledData = .drop
        let updates = configuration.options.migration.progressUpdates()
        let schema = Schema(versionedSchema: Work2.self)
        #expect(
            try ModelContainer.migrationIsDue(for: schema, migrationPlan: WorkPlan.self, at: configuration))
        try StageNotes.$current.withValue(StageNotes()) {
            let container = try ModelContainer(
                for: schema, migrationPlan: WorkPlan.self, configurations: [configuration])
            try container.close()
        }
        var count = 0
        for await _ in updates { count += 1 }
        #expect(count > 0)
        // A refusal ends it.
        let others = configuration.options.migration.progressUpdates()
        #expect(throws: MigrationError.self) {
            try ModelContainer.migrationIsDue(
                for: Schema(versionedSchema: Note2.self), migrationPlan: CrewlessPlan.self, at: configuration)
        }
        for await _ in others {}
    }

    @Test func `a damaged store is refused with its error`() throws {
        let stores = Stores()
        try WorkStore.make(in: stores)
        for name in try stores.disk.names(in: stores.directory) where name.hasPrefix("m-") {
            let file = try stores.disk.open(stores.directory + "/" + name, for: .updating)
            try file.write([UInt8](repeating: 0xA5, count: Int(try file.byteCount())), at: 0)
            file.close()
        }
        let error = #expect(throws: StorageError.self) { try Self.isDue(Work2.self, WorkPlan.self, in: stores) }
        #expect(error?.code == .damaged, "\(String(describing: error))")
    }

    @Test func `its reads do not grow with the store`() throws {
        var all: [DiskCounts] = []
        for count in [10, 20_000] {
            let stores = Stores()
            try stores.fillWithNotes(count)
            let counting = CountingDisk(over: stores.disk)
            #expect(try !Self.isDue(Note1.self, in: Stores(counting, stores.directory)))
            all.append(counting.counts)
        }
        #expect(all[1].reads <= all[0].reads + 4 && all[1].reads <= 40, "\(all)")
        #expect(all[1].bytesRead <= 64 << 10, "\(all)")
    }
}
