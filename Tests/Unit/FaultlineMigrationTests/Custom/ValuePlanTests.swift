import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Testing

private func book(_ properties: any SchemaProperty...) -> Schema.Entity {
    let title = Schema.Attribute(name: "title", valueType: String.self)
    return Schema.Entity("Book", subentities: [], properties: [title] + properties)
}

enum Value1: VersionedEntities {
    static let schema = Schema(
        book(Schema.Attribute(name: "pages", valueType: String.self)), version: Schema.Version(1, 0, 0))
}

enum Value2: VersionedEntities {
    static let schema = Schema(
        book(
            Schema.Attribute(name: "pages", valueType: String.self),
            Schema.Attribute(name: "pageCount", valueType: Int?.self)), version: Schema.Version(2, 0, 0))
}

enum Value3: VersionedEntities {
    static let schema = Schema(
        book(
            Schema.Attribute(name: "pageCount", valueType: Int?.self),
            Schema.Attribute(name: "shelves", valueType: [String].self, defaultValue: ["new"])),
        version: Schema.Version(3, 0, 0))
}

/// The same as classes.
enum Value4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Book.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }

    @Model final class Book {
        var title: String
        var pageCount: Int?
        var shelves: [String] = ["new"]
        var isLong = false
        init(title: String) { self.title = title }
    }
}

enum ValuePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Value1.self, Value2.self, Value3.self, Value4.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Value1.self, toVersion: Value2.self,
                willMigrate: { context in
                    for book in try context.fetch(FetchRequest(entityName: "Book", filter: Filter.key("title") == "")) {
                        context.delete(book)
                    }
                    try context.save()
                },
                didMigrate: { context in
                    for book in try context.fetch(FetchRequest(entityName: "Book")) {
                        book["pageCount"] = (book["pages"] as? String).flatMap(Int.init)
                    }
                    try context.save()
                }),
            .mapped(
                fromVersion: Value2.self, toVersion: Value3.self, MappingModel(EntityMapping(from: "Book", to: "Book"))),
            .lightweight(fromVersion: Value3.self, toVersion: Value4.self),
        ]
    }
}

/// Plans whose versions are values.
struct ValuePlanTests {
    private let folder = TemporaryDirectory()

    private var configuration: ModelConfiguration {
        ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store", directoryHint: .isDirectory))
    }

    private func use<R>(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = ValuePlan.self,
        _ body: (ModelContainer, ModelContext) throws -> R
    ) throws -> R {
        let container = try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: configuration)
        defer { try? container.close() }
        return try body(container, ModelContext(container))
    }

    private func fill() throws {
        try use(Value1.self) { _, context in
            for (title, pages) in [("Emma", "474"), ("", "1"), ("Sanditon", "?")] {
                let book = try context.insertNewObject(forEntityName: "Book")
                book.setValues(forKeys: ["title": title, "pages": pages])
            }
            try context.save()
        }
    }

    @Test func `a store without classes migrates over several versions, to one with classes`() throws {
        try fill()
        try use(Value4.self) { container, context in
            #expect(container.migrationReport.versions == ["1.0.0", "2.0.0", "3.0.0", "4.0.0"])
            #expect(container.migrationReport.stages.map(\.kind) == [.custom, .mapped, .lightweight])
            let books = try context.fetch(FetchDescriptor<Value4.Book>(sortBy: [SortDescriptor(\.title)]))
            #expect(books.map(\.title) == ["Emma", "Sanditon"] && books.map(\.pageCount) == [474, nil])
            #expect(books.allSatisfy { $0.shelves == ["new"] && !$0.isLong })
        }
    }

    @Test func `a store stops at each version`() throws {
        try fill()
        for version in [Value2.self, Value3.self] as [any VersionedSchema.Type] {
            try use(version) { container, context in
                #expect(container.schema.version == version.versionIdentifier)
                let books = try context.fetch(FetchRequest(entityName: "Book", sortedBy: [.ascending("title")]))
                #expect(books.map { $0["pageCount"] as? Int } == [474, nil])
            }
        }
        try use(Value3.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            let book = try #require(try context.fetch(FetchRequest(entityName: "Book")).first)
            #expect(try (book["shelves"] as? CodableValue)?.decode(as: [String].self) == ["new"])
        }
    }

    @Test func `they are locked, and an invalid one is refused`() throws {
        let lock = try SchemaLock(ValuePlan.self)
        #expect(lock.versions.map(\.number) == ValuePlan.schemas.map { $0.versionIdentifier })
        #expect(lock.versions[0].entities.first?.facts == ["pages: string", "title: string"])

        enum Broken: VersionedEntities {
            static let schema = Schema(
                Schema.Entity(
                    "Book", properties: Schema.Relationship(name: "shelf", destination: "Shelf", isToOne: true)),
                version: Schema.Version(5, 0, 0))
        }
        enum BrokenPlan: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Value1.self, Broken.self] }
            static var stages: [MigrationStage] { [.lightweight(fromVersion: Value1.self, toVersion: Broken.self)] }
        }
        #expect(throws: SchemaError.self) { try use(Value1.self, BrokenPlan.self) { _, _ in } }
    }
}
