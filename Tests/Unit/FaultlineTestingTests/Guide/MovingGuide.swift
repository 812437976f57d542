import FaultlineCoreData
import Testing

/// The code of "Move a Core Data store in ten minutes", on a store that is made here: `.ci/getting-started` follows the
/// article with the imported one.
enum MovedLibrary {
    // snippet
    @Model final class Author {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var length: String = ""
        var byline: String = ""
        var author: Author?
        @Relationship(deleteRule: .cascade) var cover: Cover?
        init(title: String) { self.title = title }
    }

    @Model final class Cover {
        @Attribute(.externalStorage) var bytes: Data
        init(bytes: Data) { self.bytes = bytes }
    }
    // end

    // snippet
    final class BookPolicy: NSEntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let book = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [source]
            ).first
            let pages = source.value(forKey: "pages") as? Int ?? 0
            book?.setValue(pages > 400 ? "long" : "short", forKey: "length")
            guard let bytes = source.value(forKey: "cover") as? Data else { return }
            let cover = NSEntityDescription.insertNewObject(
                forEntityName: "Cover", into: manager.destinationContext)
            cover.setValue(bytes, forKey: "bytes")
            book?.setValue(cover, forKey: "cover")
        }

        override func createRelationships(
            forDestination book: NSManagedObject, in mapping: NSEntityMapping,
            manager: NSMigrationManager
        ) throws {
            try super.createRelationships(forDestination: book, in: mapping, manager: manager)
            let source = manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [book]
            ).first
            book.setValue(source?.value(forKeyPath: "author.name") ?? "unknown", forKey: "byline")
        }

        override func performCustomValidation(
            forMapping mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            let nameless = FetchRequest(entityName: "Book", filter: Filter.key("byline") == "")
            guard try manager.destinationContext.count(for: nameless) == 0 else { throw NoByline() }
        }

        struct NoByline: Error {}
    }
    // end
}

@Suite struct MovingGuide {
    private typealias Author = MovedLibrary.Author
    private typealias Book = MovedLibrary.Book
    private typealias Cover = MovedLibrary.Cover
    private typealias BookPolicy = MovedLibrary.BookPolicy

    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `Move a Core Data store: three stages of a policy`() throws {
        let old = try ModelContainer(
            for: LibraryModel.schema, configurations: ModelConfiguration(url: URL(filePath: "library.store")))
        let context = ModelContext(old)
        let author = try context.insertNewObject(forEntityName: "Author")
        author["name"] = "Austen"
        for (title, pages, cover) in [("Emma", 474, Data(count: 5_000)), ("Persuasion", 352, nil)] {
            let book = try context.insertNewObject(forEntityName: "Book")
            book["title"] = title
            book["pages"] = pages
            book["cover"] = cover
            book["author"] = author
        }
        try context.save()
        try old.close()
        // snippet
        var configuration = ModelConfiguration(url: URL(filePath: "library.store"))
        configuration.options.migration.mapping = MappingModel(
            EntityMapping(from: "Author", to: "Author"),
            EntityMapping(from: "Book", to: "Book", policy: BookPolicy.self))
        let container = try ModelContainer(
            for: Author.self, Book.self, Cover.self, configurations: configuration)
        print(container.migrationReport.text)

        let byTitle = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
        for book in try ModelContext(container).fetch(byTitle) {
            print(book.title, book.length, book.byline, book.cover?.bytes.count ?? 0)
        }
        // end
        let books = try ModelContext(container).fetch(byTitle)
        #expect(books.map(\.length) == ["long", "short"])
        #expect(books.map(\.byline) == ["Austen", "Austen"])
        #expect(books.map { $0.cover?.bytes.count } == [5_000, nil])
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Cover>()) == 1)
    }
}
