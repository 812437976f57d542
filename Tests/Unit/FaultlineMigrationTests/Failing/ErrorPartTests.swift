import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Testing

/// The parts of each error that a migration throws.
struct ErrorPartTests {
    private struct Stopped: Error {}

    /// A migration that is refused or fails, and the parts of its error.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: MigrationError.Code
        /// Whether SwiftData has a name for it, beside that of an opening that fails.
        var name: SwiftDataError?
        var stored: any VersionedSchema.Type = Tomes1.self
        var wanted: any VersionedSchema.Type = Tomes2.self
        /// Nil for no plan.
        var versions: [any VersionedSchema.Type]?
        var stages: [MigrationStage] = []
        var dropped: [DroppedVersion] = []
        var options = Stores.dropping
        var stage: String?
        var entity: String?
        var property: String?
        var object: UInt64?
        /// Whether both schemas are named.
        var isMismatch = false
        var nearest: (any VersionedSchema.Type)?
        var words: [String] = []
    }

    private static let toSecond = MigrationStage.lightweight(fromVersion: Tomes1.self, toVersion: Tomes2.self)
    private static let toThird = MigrationStage.lightweight(fromVersion: Tomes2.self, toVersion: Tomes3.self)
    private static let all: [any VersionedSchema.Type] = [Tomes1.self, Tomes2.self, Tomes3.self]
    private static let two: [any VersionedSchema.Type] = [Tomes1.self, Tomes2.self]
    private static let way = "1.0.0 → 2.0.0"

    /// Computes a title for each, and fails at the second book.
    private final class WrongType: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            guard sInstance["pages"] as? Int == 2 else { return }
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            made.first?.setValue("long", forKey: "pages")
        }
    }

    private static func mapped(_ mapping: EntityMapping) -> [MigrationStage] {
        [.mapped(fromVersion: Tomes1.self, toVersion: Tomes2.self, MappingModel(mapping))]
    }

    static let schemas: [Case] = [
        Case(
            testDescription: "a version that the plan does not know", code: .unknownVersion, name: .unknownSchema,
            stored: StrangeTomes.self, wanted: Tomes3.self, versions: all, stages: [toSecond, toThird],
            stage: "1.0.0 → 3.0.0", isMismatch: true, nearest: Tomes2.self,
            words: ["Book.price was added", "Book.shelf was added"]),
        Case(
            testDescription: "a container that the plan does not know", code: .badPlan, wanted: Tomes3.self,
            versions: two, stages: [toSecond], stage: "1.0.0 → 1.0.0", isMismatch: true, nearest: Tomes2.self,
            words: ["Book.author was added"]),
        Case(
            testDescription: "a container of an older version", code: .backward, name: .backwardMigration,
            stored: Tomes2.self, wanted: Tomes1.self, versions: two, stages: [toSecond], stage: "1.0.0 → 1.0.0",
            isMismatch: true, words: ["Book.year was removed"]),
        Case(
            testDescription: "a dropped version", code: .droppedVersion, versions: [Tomes2.self],
            dropped: [
                DroppedVersion(
                    Schema.Version(1, 0, 0), fingerprint: "\(Schema(versionedSchema: Tomes1.self).fingerprint)",
                    lastRelease: "2.4")
            ], stage: way, isMismatch: true, words: ["Book.year was added"]),
        Case(
            testDescription: "a stage that leads elsewhere", code: .unknownStage, versions: two, stages: [toThird],
            stage: "2.0.0 → 3.0.0", nearest: Tomes2.self, words: ["Book.author was added"]),
        Case(
            testDescription: "a missing stage", code: .skippedVersion, wanted: Tomes3.self, versions: all,
            stages: [toSecond], stage: "2.0.0 → 3.0.0"),
        Case(
            testDescription: "a change that needs a default", code: .notLightweight, wanted: HardTomes.self,
            stage: "1.0.0 → 1.0.0", entity: "Book", property: "isbn", isMismatch: true,
            words: ["Book.isbn was added"]),
        Case(
            testDescription: "values that would be dropped", code: .unhandledData, wanted: Pages.self,
            options: MigrationOptions(), stage: "1.0.0 → 1.0.0", entity: "Book", property: "pages",
            isMismatch: true, words: ["Book.pages was removed"]),
    ]

    /// Lacks the pages.
    enum Pages: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Book.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(5, 0, 0) }

        @Model final class Book {
            var title: String
            init(title: String) { self.title = title }
        }
    }

    static let objects: [Case] = [
        Case(
            testDescription: "a streamed closure", code: .stageFailed, versions: two,
            stages: [
                .streamed(
                    fromVersion: Tomes1.self, toVersion: Tomes2.self,
                    StreamedEntity(Tomes1.Book.self) { old, output in
                        if old.pages == 2 { throw Stopped() }
                        try output.insert(Tomes2.Book(title: old.title))
                    })
            ], stage: way, entity: "Book", object: 2),
        Case(
            testDescription: "an object that upsert cannot find", code: .stageFailed, versions: two,
            stages: [
                .streamed(
                    fromVersion: Tomes1.self, toVersion: Tomes2.self,
                    StreamedEntity(Tomes1.Book.self) { old, output in
                        _ = try output.upsert(Tomes2.Book(title: old.title))
                    })
            ], stage: way, entity: "Book", object: 1),
        Case(
            testDescription: "a cancellation", code: .cancelled, versions: two,
            stages: [
                .streamed(
                    fromVersion: Tomes1.self, toVersion: Tomes2.self,
                    StreamedEntity(Tomes1.Book.self) { old, output in
                        if old.pages == 2 { throw MigrationError(.cancelled, "enough") }
                        try output.insert(Tomes2.Book(title: old.title))
                    })
            ], stage: way, entity: "Book", object: 2),
        Case(
            testDescription: "equal values of a new unique attribute", code: .duplicate, wanted: UniqueTomes.self,
            stage: "1.0.0 → 1.0.0", entity: "Book", property: "title", object: 3),
        Case(
            testDescription: "a save of a custom stage", code: .stageFailed, wanted: UniqueTomes.self,
            versions: [Tomes1.self, UniqueTomes.self],
            stages: [
                .custom(
                    fromVersion: Tomes1.self, toVersion: UniqueTomes.self,
                    willMigrate: { context in
                        let books = try context.all(Tomes1.Book.self).sorted { $0.pages < $1.pages }
                        for book in books { book.title = "\(book.pages)" }
                        try context.save()
                    },
                    didMigrate: { context in
                        let books = try context.all(UniqueTomes.Book.self).sorted { $0.pages < $1.pages }
                        books[1].title = "1"
                        try context.save()
                    })
            ], stage: "1.0.0 → 4.0.0", entity: "Book", property: "title", object: 2),
        Case(
            testDescription: "an expression", code: .stageFailed, versions: two,
            stages: mapped(
                EntityMapping(
                    from: "Book", to: "Book",
                    attributes: [
                        PropertyMapping("title", .source("title")),
                        PropertyMapping(
                            "year",
                            .computed { book, _ in
                                if book["pages"] as? Int == 2 { throw Stopped() }
                                return 1
                            }),
                    ])), stage: way, entity: "Book", property: "year", object: 2),
        Case(
            testDescription: "a policy that sets a value of another type", code: .stageFailed, versions: two,
            stages: mapped(EntityMapping(from: "Book", to: "Book", policy: WrongType.self)), stage: way,
            entity: "Book", property: "pages", object: 2),
    ]

    private func error(_ test: Case) throws -> MigrationError? {
        let stores = Stores()
        try stores.use(test.stored) { _, context in
            guard test.stored == Tomes1.self else { return }
            for pages in 1...3 {
                context.insert(Tomes1.Book(title: pages == 3 ? "t1" : "t\(pages)", pages: pages))
                try context.save()
            }
        }
        return TomePlan.$versions.withValue(test.versions ?? []) {
            TomePlan.$way.withValue(test.stages) {
                TomePlan.$dropped.withValue(test.dropped) {
                    #expect(throws: MigrationError.self) {
                        try stores.use(
                            test.wanted, test.versions == nil ? nil : TomePlan.self, migration: test.options
                        ) { _, _ in }
                    }
                }
            }
        }
    }

    @Test(arguments: schemas + objects) func `has all parts`(test: Case) throws {
        let error = try #require(try error(test))
        #expect(error.code == test.code, "\(error)")
        #expect(error.stage == test.stage, "\(error)")
        #expect(error.entityName == test.entity && error.propertyName == test.property, "\(error)")
        #expect(error.object == test.object, "\(error)")
        // Losses are named by their counts only.
        for word in test.words {
            #expect(error.message.contains(word) == (test.code != .unhandledData), "\(word) in \(error)")
        }
        let mismatch = error.mismatch
        #expect((mismatch != nil) == (test.isMismatch || test.nearest != nil), "\(error)")
        if test.isMismatch {
            let stored = Schema(versionedSchema: test.stored)
            let wanted = Schema(versionedSchema: test.wanted)
            #expect(mismatch?.stored?.fingerprint == stored.fingerprint)
            #expect(mismatch?.requested.fingerprint == wanted.fingerprint)
            #expect(error.message.contains("\(stored.fingerprint)") && error.message.contains("\(wanted.fingerprint)"))
        }
        #expect(mismatch?.nearest?.number == test.nearest?.versionIdentifier, "\(error)")
        #expect(mismatch.map { $0.changes.map(\.summary) } ?? [] == test.words)
        // SwiftData's names.
        #expect(SwiftDataError.loadIssueModelContainer ~= error)
        #expect((SwiftDataError.backwardMigration ~= error) == (test.name == .backwardMigration))
        #expect((SwiftDataError.unknownSchema ~= error) == (test.name == .unknownSchema))
        #expect(!(SwiftDataError.modelValidationFailure ~= error))
    }

    private enum TwinTomes: VersionedSchema {
        static var models: [any PersistentModel.Type] { Tomes1.models }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 1, 0) }
    }

    @Test func `versions that are alike are named with their fingerprint`() throws {
        let error = try error(Case(testDescription: "", code: .twinVersions, versions: [Tomes1.self, TwinTomes.self]))
        #expect(error?.code == .twinVersions && error?.stage == "1.0.0 → 1.1.0")
        let fingerprint = Schema(versionedSchema: Tomes1.self).fingerprint
        #expect(error?.message.contains("\(fingerprint)") == true)
    }

    @Test func `a store that is opened for reading names both schemas`() throws {
        let stores = Stores(isOnDisk: true)
        try stores.use(Tomes1.self) { _, _ in }
        let error = #expect(throws: MigrationError.self) {
            try ModelContainer(
                for: Schema(versionedSchema: Tomes2.self),
                configurations: ModelConfiguration(
                    url: .init(filePath: stores.directory, directoryHint: .isDirectory), allowsSave: false))
        }
        #expect(error?.code == .storage && error?.stage == Self.way)
        #expect(error?.mismatch?.changes.map(\.summary) == ["Book.year was added"])
    }

    @Test func `a save into a migrated store names both schemas`() throws {
        let stores = Stores()
        let old = try stores.open(Tomes1.self)
        let context = ModelContext(old)
        try stores.use(Tomes2.self) { _, _ in }
        context.insert(Tomes1.Book(title: "late"))
        let error = #expect(throws: StorageError.self) { try context.save() }
        #expect(error?.code == .outdated)
        for version: any VersionedSchema.Type in [Tomes1.self, Tomes2.self] {
            let fingerprint = "\(Schema(versionedSchema: version).fingerprint)"
            #expect(error?.message.contains(fingerprint) == true, "\(String(describing: error))")
        }
        // It is no error of an opening.
        if let error { #expect(!(SwiftDataError.loadIssueModelContainer ~= error)) }
        try old.close()
    }

    @Test func `an opening that fails has SwiftData's name`() throws {
        let folder = TemporaryDirectory()
        let configuration = ModelConfiguration(url: .init(filePath: folder.path + "/none"), allowsSave: false)
        let error = #expect(throws: StorageError.self) {
            try ModelContainer(for: Schema(versionedSchema: Tomes1.self), configurations: configuration)
        }
        if let error { #expect(SwiftDataError.loadIssueModelContainer ~= error) }
        let part = ModelConfiguration(schema: Schema(versionedSchema: Note1.self), isStoredInMemoryOnly: true)
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(for: Schema(versionedSchema: Tomes1.self), configurations: part)
        }
    }
}
