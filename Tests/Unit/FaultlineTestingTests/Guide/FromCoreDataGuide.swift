import Faultline
import Testing

/// A model as values, as a model file of Core Data describes it.
enum LibraryModel {
    // snippet
    static let schema = Schema(
        Schema.Entity(
            "Author",
            properties: Schema.Attribute(name: "name", options: [.unique], valueType: String.self),
            Schema.Relationship(
                name: "books", destination: "Book", isToOne: false, deleteRule: .cascade,
                inverseName: "author")),
        Schema.Entity(
            "Book",
            properties: Schema.Attribute(name: "title", valueType: String.self),
            Schema.Attribute(name: "pages", valueType: Int32.self, defaultValue: Int32(0)),
            Schema.Attribute(name: "cover", options: [.externalStorage], valueType: Data?.self),
            Schema.Relationship(
                name: "author", destination: "Author", isToOne: true, inverseName: "books")))
    // end

    static let newSchema = Schema(
        Schema.Entity(
            "Author", properties: Schema.Attribute(name: "name", options: [.unique], valueType: String.self),
            Schema.Relationship(
                name: "books", destination: "Book", isToOne: false, deleteRule: .cascade, inverseName: "author")),
        Schema.Entity(
            "Book", properties: Schema.Attribute(name: "title", valueType: String.self),
            Schema.Attribute(name: "length", valueType: String.self, defaultValue: ""),
            Schema.Attribute(name: "cover", options: [.externalStorage], valueType: Data?.self),
            Schema.Relationship(name: "author", destination: "Author", isToOne: true, inverseName: "books")))
}

// snippet
final class BookPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let new = try manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        let pages = sInstance.value(forKey: "pages") as? Int32 ?? 0
        new.first?.setValue(pages > 400 ? "long" : "short", forKey: "length")
    }
}
// end

/// The code of From Core Data.
@Suite struct FromCoreDataGuide {
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    private func fill(_ configuration: ModelConfiguration) throws {
        let schema = LibraryModel.schema
        // snippet
        let container = try ModelContainer(for: schema, configurations: configuration)
        let context = ModelContext(container)
        let author = try context.insertNewObject(forEntityName: "Author")
        author.setValue("Austen", forKey: "name")
        let book = try context.insertNewObject(forEntityName: "Book")
        book["title"] = "Emma"
        book["pages"] = 474
        book["author"] = author
        try context.save()
        // end
    }

    @Test func `From Core Data: objects without classes`() throws {
        let configuration = ModelConfiguration(url: URL(filePath: "/var/lib/library.store"))
        try fill(configuration)
        let context = ModelContext(try ModelContainer(opening: configuration))
        // snippet
        var request = FetchRequest(
            entityName: "Book",
            filter: Filter.key("author.name") == "Austen" && Filter.key("pages") > 300,
            sortedBy: [.ascending("title")])
        request.fetchLimit = 20
        request.relationshipKeyPathsForPrefetching = ["author"]
        for book in try context.fetch(request) {
            print(book["title"] ?? "", book.value(forKeyPath: "author.name") ?? "")
        }
        let authors = FetchRequest(
            entityName: "Author", filter: .any("books", where: Filter.key("pages") > 400))
        print(try context.count(for: authors))
        // end
        #expect(try context.fetch(request).count == 1 && context.count(for: authors) == 1)
    }

    @Test func `From Core Data: three passes and a policy`() throws {
        var configuration = ModelConfiguration(url: URL(filePath: "/var/lib/library.store"))
        try fill(configuration)
        let newSchema = LibraryModel.newSchema
        // snippet
        configuration.options.migration.mapping = MappingModel(
            EntityMapping(from: "Book", to: "Book", policy: BookPolicy.self),
            EntityMapping(from: "Author", to: "Author"))
        let container = try ModelContainer(for: newSchema, configurations: configuration)
        print(container.migrationReport.text)
        // end
        let books = try ModelContext(container).fetch(FetchRequest(entityName: "Book"))
        #expect(books.map { $0["length"] as? String } == ["long"])
        #expect(books.first?.value(forKeyPath: "author.name") as? String == "Austen")
    }

    @Test func `From Core Data: an export is inserted`() throws {
        let container = try ModelContainer(
            for: LibraryModel.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let authorLines = [#"{"name": "Austen"}"#]
        let bookLines = [#"{"title": "Emma", "pages": 474, "author": "Austen"}"#]
        // snippet
        struct AuthorLine: Decodable { var name: String }
        struct BookLine: Decodable { var title: String, pages: Int32, author: String }
        let decoder = JSONDecoder()

        try context.batchInsert(
            entityName: "Author",
            try authorLines.map { line -> [String: Any?] in
                ["name": try decoder.decode(AuthorLine.self, from: Data(line.utf8)).name]
            })
        var authors: [String: PersistentIdentifier] = [:]
        for author in try context.fetch(FetchRequest(entityName: "Author")) {
            authors[author["name"] as? String ?? ""] = author.objectID
        }
        var lines = bookLines.makeIterator()
        try context.batchInsert(entityName: "Book") { row in
            guard let line = lines.next() else { return false }
            let book = try decoder.decode(BookLine.self, from: Data(line.utf8))
            row.set("title", to: book.title)
            row.set("pages", to: book.pages)
            row.set("author", to: authors[book.author])
            return true
        }
        // end
        let book = try context.fetch(FetchRequest(entityName: "Book")).first
        #expect(book?.value(forKeyPath: "author.name") as? String == "Austen")
    }
}
