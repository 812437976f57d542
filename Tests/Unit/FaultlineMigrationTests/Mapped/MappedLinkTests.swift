import Faultline
import FaultlineMigration
import Testing

/// Many-to-many relationships of which the mappings rewrite one side only.
struct MappedLinkTests {
    private typealias Sample = SchemaChange.Sample

    private static func entity(_ name: String, _ relationships: Schema.Relationship...) -> Schema.Entity {
        let label: [any SchemaProperty] = [Schema.Attribute(name: "n", valueType: String.self)]
        return Schema.Entity(name, subentities: [], properties: label + relationships)
    }

    private static func schema(_ version: Int, _ entities: Schema.Entity...) -> Schema {
        Schema(entities: entities, version: Schema.Version(version, 0, 0))
    }

    private static let library = schema(
        1, entity("Book", SchemaChange.one("author", "Author", inverse: "books")),
        entity("Author", SchemaChange.many("books", "Book", inverse: "author")))
    private static let books = [
        Sample("Author", "a1"), Sample("Author", "a2"), Sample("Book", "b1", to: ["author": ["a1"]]),
        Sample("Book", "b2", to: ["author": ["a1"]]), Sample("Book", "b3", to: ["author": ["a2"]]),
        Sample("Book", "b4"),
    ]

    private func check(
        _ store: ChangedStore, _ new: Schema, _ mapping: MappingModel, _ expected: [String]
    ) throws {
        try store.open(new, mapping: mapping) { container, context in
            #expect(container.migrationReport.stages.map(\.kind) == [.mapped])
            try #expect(store.outcome(context) == expected)
            try #expect(store.findings(container) == [])
        }
    }

    @Test func `a to-one relationship that becomes one is set although its other side is carried over`() throws {
        let new = Self.schema(
            2, Self.entity("Book", SchemaChange.many("authors", "Author", inverse: "books", was: "author")),
            Self.entity("Author", SchemaChange.many("books", "Book", inverse: "authors")))
        var model = try MappingModel.inferred(from: Self.library, to: new)
        model.entityMappings.removeAll { $0.name != "Book->Book" }
        let store = try ChangedStore(Self.library, Self.books)
        try check(
            store, new, model,
            [
                "Book b1 authors=[a1]", "Book b2 authors=[a1]", "Book b3 authors=[a2]", "Book b4 authors=[]",
                "Author a1 books=[b1,b2]", "Author a2 books=[b3]",
            ])
    }

    @Test func `so is one of an entity that another one becomes`() throws {
        let old = Self.schema(
            1, Self.entity("Note", SchemaChange.many("tags", "Tag", inverse: "notes")),
            Self.entity("Tag", SchemaChange.many("notes", "Note", inverse: "tags")))
        let new = Self.schema(
            2, Self.entity("Photo", SchemaChange.many("tags", "Tag", inverse: "photos")),
            Self.entity("Tag", SchemaChange.many("photos", "Photo", inverse: "tags")))
        let store = try ChangedStore(
            old,
            [
                Sample("Tag", "t1"), Sample("Tag", "t2"), Sample("Note", "n1", to: ["tags": ["t2", "t1"]]),
                Sample("Note", "n2", to: ["tags": ["t1"]]),
            ])
        try check(
            store, new, MappingModel(EntityMapping(from: "Note", to: "Photo")),
            ["Photo n1 tags=[t2,t1]", "Photo n2 tags=[t1]", "Tag t1 photos=[n1,n2]", "Tag t2 photos=[n1]"])
    }

    @Test func `links that stay are followed`() throws {
        let old = Self.schema(
            1, Self.entity("Note", SchemaChange.many("tags", "Tag", inverse: "notes")),
            Self.entity("Tag", SchemaChange.many("notes", "Note", inverse: "tags")))
        let new = Self.schema(
            2, Self.entity("Note", SchemaChange.many("marks", "Tag", inverse: "notes", was: "tags")),
            Self.entity("Tag", SchemaChange.many("notes", "Note", inverse: "marks")))
        let samples = [
            Sample("Tag", "t1"), Sample("Tag", "t2"), Sample("Note", "n1", to: ["tags": ["t2", "t1"]]),
            Sample("Note", "n2", to: ["tags": ["t1"]]),
        ]
        for name in ["Note", "Tag"] {
            try check(
                ChangedStore(old, samples), new, MappingModel(EntityMapping(from: name, to: name)),
                ["Note n1 marks=[t2,t1]", "Note n2 marks=[t1]", "Tag t1 notes=[n1,n2]", "Tag t2 notes=[n1]"])
        }
    }

    @Test func `one that only the side which is carried over has is refused`() throws {
        let new = Self.schema(2, Self.entity("Book"), Self.entity("Author", SchemaChange.many("books", "Book")))
        let store = try ChangedStore(Self.library, Self.books)
        let error = #expect(throws: MigrationError.self) {
            try store.open(new, mapping: MappingModel(EntityMapping(from: "Book", to: "Book"))) { _, _ in }
        }
        #expect(error?.code == .badPlan && error?.entityName == "Author" && error?.propertyName == "books")
        let both = MappingModel(EntityMapping(from: "Book", to: "Book"), EntityMapping(from: "Author", to: "Author"))
        try check(
            store, new, both,
            ["Book b1", "Book b2", "Book b3", "Book b4", "Author a1 books=[b1,b2]", "Author a2 books=[b3]"])
    }
}
