import FaultlineCoreData
import Testing

/// The classes that are written for entities that inherit from each other; `FaultlineImportTests` compiles those of a
/// model.
struct ClassHierarchyTests {
    private func source(_ inside: String) throws -> ModelSource {
        try ModelVersion(xml: ModelText.model(inside), name: "Library").swiftSource()
    }

    private func text(_ name: String, _ source: ModelSource) throws -> String {
        try #require(source.files.first { $0.name == name }).text
    }

    private static let library =
        ModelText.entity(
            "Item", "isAbstract=\"YES\"",
            ModelText.attribute("name", "String", "indexed=\"YES\"")
                + ModelText.relationship("owner", to: "Person", inverse: "items")
                + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
        )
        + ModelText.entity(
            "Book", "parentEntity=\"Item\"",
            ModelText.attribute("year", "Integer 16", "")
                + ModelText.relationship("reader", to: "Person", inverse: "book", "maxCount=\"1\"")
                + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"year\"/><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
        )
        + ModelText.entity(
            "Comic", "parentEntity=\"Book\" elementID=\"Strip\"",
            ModelText.attribute("colours", "Integer 32", "defaultValueString=\"4\"")
                + ModelText.attribute("draft", "String", "optional=\"YES\" transient=\"YES\""))
        + ModelText.entity(
            "Person", "",
            ModelText.relationship(
                "items", to: "Item", inverse: "owner", "optional=\"YES\" toMany=\"YES\" ordered=\"YES\"")
                + ModelText.relationship("book", to: "Book", inverse: "reader"))

    @Test func `a root class with subclasses is not final`() throws {
        let source = try source(Self.library)
        #expect(source.findings.map(\.name) == ["isAbstract"])
        #expect(
            try text("Item.swift", source) == #"""
                import Faultline

                /// The entity `Item` of the model Library.
                // isAbstract: The entity is abstract: the schema does not forbid objects of it.
                @Model
                class Item {
                    #Unique<Item>([\.name])
                    #Index<Item>([\.name])

                    var name: String
                    var owner: Person?

                    init(name: String) {
                        self.name = name
                    }
                }

                """#)
    }

    @Test func `a class inherits from that of the parent entity, and declares what its entity does`() throws {
        let source = try source(Self.library)
        #expect(
            try text("Book.swift", source) == #"""
                import Faultline

                /// The entity `Book` of the model Library.
                @Model
                class Book: Item {
                    #Unique<Book>([\.year, \.name])

                    var year: Int16

                    @Relationship(inverse: \Person.book)
                    var reader: Person

                    init(name: String, year: Int16, reader: Person) {
                        self.year = year
                        self.reader = reader
                        super.init(name: name)
                    }
                }

                """#)
    }

    @Test func `a class without subclasses is final, and a collection leads to all classes`() throws {
        let source = try source(Self.library)
        #expect(
            try text("Comic.swift", source) == #"""
                import Faultline

                /// The entity `Comic` of the model Library.
                @Model(originalName: "Strip")
                final class Comic: Book {
                    var colours: Int32 = 4

                    @Attribute(.ephemeral)
                    var draft: String?

                    override init(name: String, year: Int16, reader: Person) {
                        super.init(name: name, year: year, reader: reader)
                    }
                }

                """#)
        #expect(
            try text("Person.swift", source).contains(
                "    @Relationship(inverse: \\Item.owner)\n    var items: [Item] = []\n\n    var book: Book?\n"))
    }

    @Test func `a class without a required value overrides an initializer without arguments`() throws {
        let source = try source(
            ModelText.entity("Item") + ModelText.entity("Book", "parentEntity=\"Item\""))
        #expect(
            try text("Book.swift", source).contains("    override init() {\n        super.init()\n    }"))
        #expect(try text("Item.swift", source).contains("class Item {\n    init() {}\n}"))
    }

    @Test func `a property that would hide an inherited one has another name`() throws {
        let source = try source(
            ModelText.entity(
                "Item", "", ModelText.attribute("a_b", "String", "") + ModelText.attribute("c d", "Boolean"))
                + ModelText.entity(
                    "Book", "parentEntity=\"Item\"",
                    ModelText.attribute("a b", "String", "") + ModelText.attribute("a-b", "String")
                        + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"a b\"/><constraint value=\"c d\"/></uniquenessConstraint></uniquenessConstraints>"
                ))
        let book = try text("Book.swift", source)
        #expect(book.contains("    @Attribute(originalName: \"a b\")\n    var a_b_: String\n"))
        #expect(book.contains("    @Attribute(originalName: \"a-b\")\n    var a_b__: String?\n"))
        #expect(book.contains("#Unique<Book>([\\.a_b_, \\.c_d])"))
        #expect(book.contains("    init(a_b: String, a_b_: String) {\n        self.a_b_ = a_b_\n"))
        #expect(source.findings.map(\.place) == ["Item.c d", "Book.a b", "Book.a-b"])
        #expect(source.findings[1].reason.contains("another one of that name"))
    }

    @Test func `the words of a subclass's text are not indexed`() throws {
        let spotlight = "optional=\"YES\" spotlightIndexingEnabled=\"YES\""
        let source = try source(
            ModelText.entity("Item", "", ModelText.attribute("name", "String", spotlight))
                + ModelText.entity("Book", "parentEntity=\"Item\"", ModelText.attribute("text", "String", spotlight)))
        #expect(try text("Item.swift", source).contains("    @Attribute(.spotlight)\n    var name: String?\n"))
        #expect(try text("Book.swift", source).contains("{\n    var text: String?\n"))
        #expect(source.findings.map { "\($0.place) \($0.name)" } == ["Book.text spotlightIndexingEnabled"])
    }

    @Test func `a relationship of a subclass that is its own inverse has none`() throws {
        let source = try source(
            ModelText.entity("Item")
                + ModelText.entity(
                    "Book", "parentEntity=\"Item\"",
                    ModelText.relationship("similar", to: "Book", inverse: "similar", "optional=\"YES\" toMany=\"YES\"")
                ))
        #expect(source.findings.map { "\($0.place) \($0.name)" } == ["Book.similar inverseName"])
        #expect(
            try text("Book.swift", source).contains("    @Relationship(inverse: nil)\n    var similar: [Book] = []"))
    }

    /// Only the inverse of the declaring entity leads back to it.
    @Test func `an inherited relationship is no inverse of one that leads to a subclass`() throws {
        let version = try ModelVersion(
            xml: ModelText.model(
                ModelText.entity(
                    "Person", "", ModelText.relationship("books", to: "Book", inverse: "owner", "toMany=\"YES\""))
                    + ModelText.entity("Item", "", ModelText.relationship("owner", to: "Person", inverse: "books"))
                    + ModelText.entity("Book", "parentEntity=\"Item\"")), name: "Library")
        #expect(
            version.findings.filter { $0.kind == .invalid }.map(\.place).sorted() == ["Item.owner", "Person.books"])
        #expect(version.schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
    }

    @Test func `classes of a hierarchy share the structure of a composite attribute`() throws {
        let home = ModelText.attribute("home", "Composite", "optional=\"YES\" composite=\"Address\"")
        let source = try source(
            ModelText.entity("Item") + ModelText.entity("Address")
                + ModelText.entity("Book", "parentEntity=\"Item\"", home)
                + ModelText.entity("Comic", "parentEntity=\"Item\"", home)
                + "<composite name=\"Address\"><attribute name=\"city\" optional=\"YES\" attributeType=\"String\"/></composite>"
        )
        #expect(
            source.files.map(\.name) == ["Address.swift", "Book.swift", "BookHome.swift", "Comic.swift", "Item.swift"])
        #expect(try text("Comic.swift", source).contains("    var home: BookHome?\n"))
    }
}
