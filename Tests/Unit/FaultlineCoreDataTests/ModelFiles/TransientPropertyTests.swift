import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Transient relationships, and transient attributes without a type, hold values of the program and are never stored.
struct TransientPropertyTests {
    private let version: ModelVersion

    init() throws {
        version = try ModelVersion(
            xml: ModelText.model(
                ModelText.entity(
                    "Shelf", "",
                    ModelText.attribute("name", "String")
                        + ModelText.attribute("cache", "Undefined", "optional=\"YES\" transient=\"YES\"")
                        + ModelText.relationship(
                            "recent", to: "Book", "optional=\"YES\" maxCount=\"1\" transient=\"YES\"")
                        + ModelText.relationship(
                            "found", to: "Book", "optional=\"YES\" toMany=\"YES\" transient=\"YES\""))
                    + "\n" + ModelText.entity("Book", "", ModelText.attribute("title", "String"))),
            name: "Shelves")
    }

    @Test func `the model has no findings, and classes have plain properties`() throws {
        #expect(version.findings == [])
        let source = version.swiftSource()
        let text = try #require(source.files.first { $0.name == "Shelf.swift" }).text
        #expect(text.contains("    @Transient var cache: Any?\n"))
        #expect(text.contains("    @Transient var recent: Book?\n"))
        #expect(text.contains("    @Transient var found: [Book] = []\n"))
        #expect(source.findings == [])
    }

    @Test func `objects hold the values while they live`() throws {
        let container = try ModelContainer(
            for: version.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let shelf = try context.insertNewObject(forEntityName: "Shelf")
        let book = try context.insertNewObject(forEntityName: "Book")
        shelf.setValue(book, forKey: "recent")
        shelf.setValue(Set([book]), forKey: "found")
        shelf.setValue(["width": 7.5], forKey: "cache")
        try context.save()
        #expect(shelf.value(forKey: "recent") as? ManagedObject === book)
        #expect(shelf.value(forKey: "found") as? Set<ManagedObject> == [book])
        #expect((shelf.value(forKey: "cache") as? [String: Double])?["width"] == 7.5)
        #expect(!context.hasChanges)
        shelf.setValue(nil, forKey: "recent")
        #expect(shelf.value(forKey: "recent") == nil && !context.hasChanges)

        let fetched = try #require(try ModelContext(container).fetch(FetchRequest(entityName: "Shelf")).first)
        #expect(fetched.value(forKey: "found") == nil && fetched.value(forKey: "cache") == nil)
    }

    @Test func `a hook computes them for objects of the store`() throws {
        let container = try ModelContainer(
            for: version.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let writer = ModelContext(container)
        try writer.insertNewObject(forEntityName: "Book").setValue("Sea", forKey: "title")
        try writer.insertNewObject(forEntityName: "Shelf").setValue("Sea", forKey: "name")
        try writer.save()

        let context = ModelContext(container)
        var hooks = EntityLifecycle()
        hooks.awakeFromFetch = { shelf in
            let name = shelf.value(forKey: "name") as? String ?? ""
            let books = FetchRequest(entityName: "Book", filter: Filter.key("title") == name)
            shelf.setValue(try? shelf.managedObjectContext?.fetch(books).first, forKey: "recent")
        }
        context.setLifecycle(hooks, forEntityNamed: "Shelf")
        let shelf = try #require(try context.fetch(FetchRequest(entityName: "Shelf")).first)
        let recent = try #require(shelf.value(forKey: "recent") as? ManagedObject)
        #expect(recent.value(forKey: "title") as? String == "Sea")
        #expect(!context.hasChanges)
    }

    @Test func `a transient relationship becomes a stored one, and back, without a stage`() throws {
        let folder = TemporaryDirectory()
        let place = ModelConfiguration(url: URL(filePath: folder.path).appending(path: "store"))
        let container = try ModelContainer(for: version.schema, configurations: place)
        let context = ModelContext(container)
        try context.insertNewObject(forEntityName: "Shelf").setValue("Sea", forKey: "name")
        try context.save()
        try container.close()
        let stored = try ModelVersion(
            xml: ModelText.model(
                ModelText.entity(
                    "Shelf", "",
                    ModelText.attribute("name", "String") + ModelText.attribute("cache", "String")
                        + ModelText.relationship("recent", to: "Book", "optional=\"YES\" maxCount=\"1\"")
                        + ModelText.relationship("found", to: "Book", "optional=\"YES\" toMany=\"YES\""))
                    + "\n" + ModelText.entity("Book", "", ModelText.attribute("title", "String"))),
            name: "Shelves 2")
        for schema in [stored.schema, version.schema] {
            let container = try ModelContainer(for: schema, configurations: place)
            let context = ModelContext(container)
            let shelf = try #require(try context.fetch(FetchRequest(entityName: "Shelf")).first)
            #expect(shelf.value(forKey: "name") as? String == "Sea" && shelf.value(forKey: "recent") == nil)
            try container.close()
        }
    }

    @Test func `paths go over the objects that a transient relationship holds`() throws {
        let container = try ModelContainer(
            for: version.schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let (shelf, book) = (
            try context.insertNewObject(forEntityName: "Shelf"), try context.insertNewObject(forEntityName: "Book")
        )
        book.setValue("Sea", forKey: "title")
        shelf.setValue(Set([book]), forKey: "found")
        shelf.setValue(book, forKey: "recent")
        #expect(shelf.value(forKeyPath: "found.title") as? [String] == ["Sea"])
        #expect(shelf.value(forKeyPath: "found.@count") as? Int == 1)
        #expect(shelf.value(forKeyPath: "recent.title") as? String == "Sea")
    }
}
