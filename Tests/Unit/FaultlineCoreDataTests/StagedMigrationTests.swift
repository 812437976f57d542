import FaultlineCoreData
import FaultlineDisk
import FaultlineTestSupport
import Testing

/// Core Data's staged migrations.
struct StagedMigrationTests {
    private static func notes(_ version: Int, _ properties: Schema.Attribute...) -> NSManagedObjectModel {
        NSManagedObjectModel(
            entities: [
                Schema.Entity(
                    "Note", subentities: [],
                    properties: [Schema.Attribute(name: "text", valueType: String.self)] + properties)
            ], version: Schema.Version(version, 0, 0))
    }

    private static var mark: Schema.Attribute { Schema.Attribute(name: "mark", valueType: String?.self) }
    private static var length: Schema.Attribute {
        Schema.Attribute(name: "length", valueType: Int.self, defaultValue: 0)
    }
    private static let first = notes(1)
    private static let second = notes(2, mark)
    private static let third = notes(3, mark, length)
    private static let fourth = notes(4, length)
    /// A version without a model.
    private static let forgotten = "00000000000000000000000000000001"

    private let folder = TemporaryDirectory()
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store", directoryHint: .isDirectory))
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        let container = try ModelContainer(for: model, configurations: configuration)
        let context = container.newBackgroundContext()
        for text in ["a", "bb", "ccc"] {
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(text, forKey: "text")
        }
        try context.save()
        try container.close()
    }

    private static func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    /// Marks each note before the change, and measures its mark after it.
    private static func custom() -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(second), to: reference(third))
        stage.label = "measuring"
        stage.willMigrateHandler = { manager, stage in
            #expect(stage.label == "measuring")
            let context = try #require(manager.container).newBackgroundContext()
            for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                note.setValue("\(note.value(forKey: "text") as? String ?? "")!", forKey: "mark")
            }
            try context.save()
        }
        stage.didMigrateHandler = { manager, _ in
            let context = try #require(manager.container).newBackgroundContext()
            for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
                note.setValue((note.value(forKey: "mark") as? String ?? "").count, forKey: "length")
            }
            try context.save()
        }
        return stage
    }

    private static func manager() -> NSStagedMigrationManager {
        NSStagedMigrationManager([
            NSLightweightMigrationStage([first.versionChecksum, forgotten, second.versionChecksum]), custom(),
            NSLightweightMigrationStage([fourth.versionChecksum]),
        ])
    }

    @Test(arguments: [true, false]) func `a store passes the stages after its version`(isFirst: Bool) throws {
        try fill(isFirst ? Self.first : Self.second)
        let manager = Self.manager()
        let container = try manager.openContainer(for: Self.fourth, configuration: configuration)
        #expect(manager.container == nil)
        #expect(container.migrationReport.versions == (isFirst ? ["1.0.0", "2.0.0"] : ["2.0.0"]) + ["3.0.0", "4.0.0"])
        let notes = try container.newBackgroundContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        #expect(notes.compactMap { $0.value(forKey: "length") as? Int }.sorted() == [2, 3, 4])
        try container.close()
        // Nothing is left to do.
        let again = try Self.manager().openContainer(for: Self.fourth, configuration: configuration)
        #expect(again.migrationReport.versions.isEmpty)
        try again.close()
    }

    @Test func `a new store has the model`() throws {
        let container = try Self.manager().openContainer(for: Self.fourth, configuration: configuration)
        #expect(container.schema.versionChecksum == Self.fourth.versionChecksum)
        try container.close()
        let inMemory = try Self.manager().openContainer(
            for: Self.fourth, configuration: ModelConfiguration(isStoredInMemoryOnly: true))
        try inMemory.close()
    }

    @Test func `a handler that throws leaves the old store`() throws {
        struct Stopped: Error {}
        try fill(Self.first)
        let stage = Self.custom()
        stage.didMigrateHandler = { _, _ in throw Stopped() }
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage([Self.first.versionChecksum]), stage])
        let error = #expect(throws: MigrationError.self) {
            try manager.openContainer(for: Self.third, configuration: configuration)
        }
        #expect(error?.code == .stageFailed && error?.stage == "2.0.0 → 3.0.0" && error?.cause is Stopped)
        #expect(manager.container == nil)
        let old = try ModelContainer(for: Self.first, configurations: configuration)
        #expect(try old.newBackgroundContext().count(for: FetchRequest(entityName: "Note")) == 3)
        try old.close()
    }

    private func code(_ stages: [NSMigrationStage], _ model: NSManagedObjectModel) -> MigrationError.Code? {
        #expect(throws: MigrationError.self) {
            try NSStagedMigrationManager(stages).openContainer(for: model, configuration: configuration)
        }?.code
    }

    @Test func `wrong stages are refused`() throws {
        try fill(Self.first)
        let all = NSLightweightMigrationStage([Self.first.versionChecksum, Self.second.versionChecksum])
        // The store, or the model, is none of the versions.
        #expect(code([NSLightweightMigrationStage([Self.second.versionChecksum])], Self.second) == .unknownVersion)
        #expect(code([all], Self.third) == .badPlan)
        // A version twice; a model that has changed.
        let again = NSLightweightMigrationStage([Self.first.versionChecksum])
        #expect(code([all, again], Self.second) == .stagesOutOfOrder)
        let changed = NSManagedObjectModelReference(
            model: Self.third, versionChecksum: Self.second.versionChecksum)
        let stage = NSCustomMigrationStage(migratingFrom: changed, to: Self.reference(Self.fourth))
        #expect(code([all, stage], Self.fourth) == .unknownVersion)
        // A change that needs a default.
        let hard = Self.notes(2, Schema.Attribute(name: "day", valueType: Int.self))
        #expect(
            code([NSLightweightMigrationStage([Self.first, hard].map(\.versionChecksum))], hard) == .notLightweight)
        // A store of a later version.
        let container = try NSStagedMigrationManager([all]).openContainer(
            for: Self.second, configuration: configuration)
        try container.close()
        #expect(code([all], Self.first) == .backward)
    }

    @Test func `progress ends when wrong stages are refused`() async throws {
        try fill(Self.first)
        var configuration = configuration
        let updates = configuration.options.migration.progressUpdates()
        #expect(throws: MigrationError.self) {
            try NSStagedMigrationManager([]).openContainer(for: Self.first, configuration: configuration)
        }
        for await _ in updates { Issue.record("Nothing was migrated.") }
    }

    @Test func `a store whose creation was killed is made`() throws {
        let directory = folder.path + "/store"
        let disk = PosixDisk()
        try disk.createDirectory(directory)
        try disk.open(directory + "/LOCK", for: .creating).close()
        try Self.manager().openContainer(for: Self.fourth, configuration: configuration).close()
    }

    @Test func `a model may be read from a file`() throws {
        let file = URL(filePath: folder.path).appending(path: "notes.json")
        try Self.second.save(to: file)
        let reference = NSManagedObjectModelReference(
            fileURL: file, versionChecksum: Self.second.versionChecksum)
        #expect(try reference.resolvedModel.versionChecksum == Self.second.versionChecksum)
    }

    @Test func `a lock file lists the versions`() throws {
        try fill(Self.first)
        let text = try SchemaLock([Self.first, Self.second, Self.third]).text
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage(try SchemaLock(text: text))])
        let container = try manager.openContainer(for: Self.third, configuration: configuration)
        // The version between has no model.
        #expect(container.migrationReport.versions == ["1.0.0", "3.0.0"])
        try container.close()
    }
}
