import FaultlineModel
import Testing

/// A substitute for model classes: the key paths are real, the metadata is the output of `@Model`.
private final class Author {
    var name = ""
    var age: Int? = 4
    var best: Book?
    var books: [Book] = []
    var computed: Int { 3 }
}

private final class Book {
    var title = ""
    var author: Author?
    var editor: Author?
    var shelf: Shelf?
}

private final class Shelf {
    var books: [Book]? = []
    var next: Shelf?
    var previous: Shelf?
}

@Suite struct EntityBuildingTests {
    private func role(of type: any Any.Type) -> PropertyRole {
        for (one, optional, many, name) in [
            (Author.self, Author?.self, [Author].self, "Author"), (Book.self, Book?.self, [Book].self, "Book"),
            (Shelf.self, Shelf?.self, [Shelf].self, "Shelf"),
        ] as [(any Any.Type, any Any.Type, any Any.Type, String)] {
            if type == one || type == optional { return .toOne(destination: name) }
            if type == many { return .toMany(destination: name) }
        }
        return type == [Book]?.self ? .toMany(destination: "Book") : .attribute
    }

    private func author(_ extra: Schema.PropertyMetadata..., books: Schema.Relationship? = nil) throws -> Schema.Entity
    {
        try Schema.Entity(
            "Author",
            metadata: [
                .init(name: "name", keypath: \Author.name, metadata: Schema.Attribute(.unique, originalName: "title")),
                .init(name: "age", keypath: \Author.age, defaultValue: 4 as Int?),
                .init(name: "books", keypath: \Author.books, defaultValue: [] as [Book], metadata: books),
            ] + extra, role: role)
    }

    private func book(_ editor: Bool = false, author: Schema.Relationship? = nil) throws -> Schema.Entity {
        var metadata: [Schema.PropertyMetadata] = [
            .init(name: "title", keypath: \Book.title),
            .init(name: "author", keypath: \Book.author, metadata: author),
        ]
        if editor { metadata.append(.init(name: "editor", keypath: \Book.editor)) }
        return try Schema.Entity("Book", metadata: metadata, role: role)
    }

    @Test func readsTypesFromKeyPaths() throws {
        let entity = try author()

        #expect(entity.properties.map(\.name) == ["name", "age", "books"])
        #expect(entity.attributesByName["name"]?.originalName == "title")
        #expect(entity.attributesByName["name"]?.isUnique == true)
        #expect(entity.attributesByName["name"]?.kind == .string)
        #expect(entity.attributesByName["age"]?.isOptional == true)
        #expect(entity.attributesByName["age"]?.defaultValue as? Int == 4)
        let books = try #require(entity.relationshipsByName["books"])
        #expect(!books.isToOneRelationship)
        #expect(!books.isOptional)
        #expect(books.destination == "Book")
        #expect(entity.namesByKeyPath[\Author.age] == "age")
    }

    @Test func readsIndexesAndConstraints() throws {
        let entity = try author(
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Author>(.binary([\.age]), .rtree([\.name, \.age]))),
            .init(
                name: "Schema.Unique", keypath: \Schema.encodingVersion,
                metadata: Schema.Unique<Author>([\.name, \.age], [\.age])))

        #expect(entity.indices == [["age"], ["name", "age"]])
        #expect(entity.uniquenessConstraints == [["name", "age"], ["age"]])
        #expect(entity.properties.count == 3)
    }

    @Test func refusesAnIndexOfSomethingNotStored() {
        let error = #expect(throws: SchemaError.self) {
            try author(
                .init(
                    name: "Schema.Index", keypath: \Schema.encodingVersion,
                    metadata: Schema.Index<Author>([\.computed])))
        }
        #expect(error?.code == .unknownProperty)
        #expect(error?.entityName == "Author")
    }

    @Test func pairsTheOnlyTwoRelationships() throws {
        let schema = try Schema(author(), book())
        schema.resolveInverses()

        #expect(schema.entitiesByName["Author"]?.relationshipsByName["books"]?.inverseName == "author")
        #expect(schema.entitiesByName["Book"]?.relationshipsByName["author"]?.inverseName == "books")
        try schema.validate()
    }

    @Test func pairsNothingWhereThereAreSeveral() throws {
        let schema = try Schema(author(), book(true))
        schema.resolveInverses()

        #expect(schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
    }

    @Test func followsADeclaredInverse() throws {
        let schema = try Schema(author(books: .init(deleteRule: .cascade, inverse: \Book.editor)), book(true))
        schema.resolveInverses()

        #expect(schema.entitiesByName["Author"]?.relationshipsByName["books"]?.inverseName == "editor")
        #expect(schema.entitiesByName["Book"]?.relationshipsByName["editor"]?.inverseName == "books")
        #expect(schema.entitiesByName["Book"]?.relationshipsByName["author"]?.inverseName == nil)
        try schema.validate()
    }

    @Test func pairsNothingThatIsDeclaredOneWay() throws {
        let schema = try Schema(author(books: .init(inverse: nil)), book())
        schema.resolveInverses()

        #expect(schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
    }

    @Test func refusesADeclaredInverseThatIsNotStored() throws {
        let schema = try Schema(author(books: .init(inverse: \Book.title)), book())
        schema.resolveInverses()
        #expect(throws: SchemaError.self) { try schema.validate() }

        let absent = try Schema(author(books: .init(inverse: \Book.editor)), book())
        absent.resolveInverses()
        #expect(throws: SchemaError.self) { try absent.validate() }
    }

    @Test func neverPairsAnEntityWithItself() throws {
        let shelf = try Schema.Entity(
            "Shelf",
            metadata: [
                .init(name: "next", keypath: \Shelf.next), .init(name: "previous", keypath: \Shelf.previous),
            ], role: role)
        let single = try Schema.Entity("Shelf", metadata: [.init(name: "next", keypath: \Shelf.next)], role: role)

        for entity in [shelf, single] {
            Schema(entity).resolveInverses()
            #expect(entity.relationships.allSatisfy { $0.inverseName == nil })
        }
    }

    @Test func takesOptionalArraysForToMany() throws {
        let shelf = try Schema.Entity("Shelf", metadata: [.init(name: "books", keypath: \Shelf.books)], role: role)

        #expect(shelf.relationshipsByName["books"]?.isToOneRelationship == false)
        #expect(shelf.relationshipsByName["books"]?.isOptional == true)
    }
}
