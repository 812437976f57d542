import FaultlineCoreData
import Testing

/// The classes that are written for a version; `Written` has those of one model, compiled.
struct ModelSourceTests {
    private func source(_ inside: String) throws -> ModelSource {
        try ModelVersion(xml: ModelText.model(inside), name: "Library").swiftSource()
    }

    @Test func `a class has the properties, options, constraints and indexes of its entity`() throws {
        let source = try source(
            ModelText.entity(
                "Book", "elementID=\"Volume\"",
                ModelText.attribute("title", "String", "elementID=\"name\"")
                    + ModelText.attribute("year", "Integer 16", "defaultValueString=\"1900\" indexed=\"YES\"")
                    + ModelText.attribute("cover", "Binary", "optional=\"YES\" allowsExternalBinaryDataStorage=\"YES\"")
                    + ModelText.relationship("author", to: "Author", inverse: "books", "maxCount=\"1\"")
                    + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
            )
                + ModelText.entity(
                    "Author", "",
                    ModelText.relationship(
                        "books", to: "Book", inverse: "author",
                        "optional=\"YES\" toMany=\"YES\" deletionRule=\"Cascade\" maxCount=\"9\"")))
        #expect(source.findings == [] && source.files.map(\.name) == ["Author.swift", "Book.swift"])
        #expect(
            source.files[1].text == #"""
                import Faultline

                /// The entity `Book` of the model Library.
                @Model(originalName: "Volume")
                final class Book {
                    #Unique<Book>([\.title])
                    #Index<Book>([\.year])

                    @Attribute(originalName: "name")
                    var title: String

                    var year: Int16 = 1900

                    @Attribute(.externalStorage)
                    var cover: Data?

                    var author: Author

                    init(title: String, author: Author) {
                        self.title = title
                        self.author = author
                    }
                }

                """#)
        #expect(
            source.files[0].text == #"""
                import Faultline

                /// The entity `Author` of the model Library.
                @Model
                final class Author {
                    @Relationship(deleteRule: .cascade, maximumModelCount: 9, inverse: \Book.author)
                    var books: [Book] = []

                    init() {}
                }

                """#)
    }

    @Test func `names that Swift or the library needs are changed and reported`() throws {
        let source = try source(
            ModelText.entity(
                "Date", "",
                ModelText.attribute("default", "Date", "defaultDateTimeInterval=\"0\"")
                    + ModelText.attribute("modelContext", "String", "defaultValueString=\"a&quot;\\b\"")
                    + ModelText.attribute("odd name", "Boolean")) + ModelText.entity("date"))
        #expect(source.files.map(\.name) == ["Date.swift", "date_.swift"])
        let text = source.files[0].text
        #expect(
            text.contains("    var `default`: Foundation.Date = Foundation.Date(timeIntervalSinceReferenceDate: 0.0)"))
        #expect(
            text.contains(
                "    @Attribute(originalName: \"modelContext\")\n    var modelContext_: String = \"a\\\"\\\\b\""))
        #expect(text.contains("    @Attribute(originalName: \"odd name\")\n    var odd_name: Bool?"))
        #expect(source.findings.map(\.place) == ["Date.modelContext", "Date.odd name", "date"])
    }

    @Test func `comments have the parts that a class lacks`() throws {
        let source = try source(
            ModelText.entity(
                "Item", "isAbstract=\"YES\"", ModelText.attribute("name", "String", "minValueString=\"1\""))
                + ModelText.entity("Book", "parentEntity=\"Item\"", ModelText.attribute("year", "Integer 16")))
        let item = try #require(source.files.last).text
        #expect(item.contains("// isAbstract: ") && item.contains("    // minimum: The least length, 1: "))
        #expect(source.findings.map(\.name) == ["isAbstract", "minimum"])
    }

    @Test func `a relationship that is its own inverse has none, and a module's name is no class`() throws {
        let source = try source(
            ModelText.entity(
                "Swift", "",
                ModelText.relationship("friends", to: "Swift", inverse: "friends", "optional=\"YES\" toMany=\"YES\"")))
        #expect(source.findings.map { "\($0.place) \($0.name)" } == ["Swift name", "Swift.friends inverseName"])
        let file = try #require(source.files.first)
        #expect(
            file.name == "Swift_.swift" && file.text.contains("@Model(originalName: \"Swift\")\nfinal class Swift_ {"))
        #expect(file.text.contains("    @Relationship(inverse: nil)\n    var friends: [Swift_] = []"))
    }

    @Test func `composite attributes are structures, shared where the model shares their type`() throws {
        let source = try source(
            ModelText.entity("Person", "", ModelText.attribute("home", "Composite", "composite=\"Address\""))
                + ModelText.entity(
                    "Firm", "",
                    ModelText.attribute("seat", "Composite", "optional=\"YES\" composite=\"Address\"")
                        + ModelText.attribute("extent", "Composite", "optional=\"YES\" composite=\"Person\""))
                    + """
                    <composite name="Address">
                        <attribute name="city" optional="YES" attributeType="String"/>
                        <attribute name="number" attributeType="Integer 16" defaultValueString="1"/>
                        <attribute name="place" optional="YES" attributeType="Composite" composite="Person"/>
                    </composite>
                    <composite name="Person"><attribute name="width" attributeType="Double"/></composite>
                    """)
        #expect(source.files.map(\.name) == ["Address.swift", "Firm.swift", "FirmExtent.swift", "Person.swift"])
        #expect(
            source.files[0].text == """
                import Faultline

                /// A composite attribute of the model Library.
                struct Address: Codable, Hashable, Sendable {
                    var city: String?
                    var number: Int16 = 1
                    var place: AddressPlace?
                }

                /// A composite attribute of the model Library.
                struct AddressPlace: Codable, Hashable, Sendable {
                    var width: Double = 0
                }

                """)
        #expect(source.files[1].text.contains("    var seat: Address?\n    var extent: FirmExtent?\n"))
        #expect(source.files[3].text.contains("    init(home: Address) {"))
    }
}
