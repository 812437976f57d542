import FaultlineModel
import Testing

@Suite struct SchemaValidationTests {
    private typealias Attribute = Schema.Attribute
    private typealias Entity = Schema.Entity
    private typealias Relationship = Schema.Relationship
    private struct Opaque {}

    private func expect(
        _ code: SchemaError.Code, _ entity: String?, _ property: String?, _ schema: Schema,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: SchemaError.self, sourceLocation: sourceLocation) { try schema.validate() }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.entityName == entity, sourceLocation: sourceLocation)
        #expect(error?.propertyName == property, sourceLocation: sourceLocation)
        for name in [entity, property].compactMap(\.self) where !name.isEmpty {
            #expect(error?.message.contains(name) == true, sourceLocation: sourceLocation)
        }
    }

    @Test func acceptsASoundSchema() throws {
        try company().validate()
        try Schema().validate()
        #expect(company().warnings.isEmpty)
    }

    @Test func refusesNamesThatAreEmptyOrTaken() {
        let x = Attribute(name: "x", valueType: Int.self)
        expect(.emptyName, nil, nil, Schema(Entity("")))
        expect(.emptyName, "A", nil, Schema(Entity("A", properties: Attribute(name: "", valueType: Int.self))))
        expect(.duplicateName, "A", nil, Schema(Entity("A"), Entity("B"), Entity("A")))
        expect(.duplicateName, "A", "x", Schema(Entity("A", properties: x, x)))
        expect(.duplicateName, "B", "x", Schema(Entity("A", subentities: Entity("B", properties: x), properties: x)))
        expect(
            .duplicateOriginalName, "A", "z",
            Schema(
                Entity(
                    "A", properties: Attribute(name: "y", originalName: "x", valueType: Int.self),
                    Attribute(name: "z", originalName: "x", valueType: Int.self))))
        let (first, second) = (Entity("B"), Entity("C"))
        first.originalName = "A"
        second.originalName = "A"
        expect(.duplicateOriginalName, "C", nil, Schema(first, second))
    }

    @Test func refusesMorePropertiesThanTheLimit() throws {
        let many = (0...1_000).map { Attribute(name: "a\($0)", valueType: Int.self) }
        let entity = Entity("A")
        entity.storedProperties = many.dropLast()
        try Schema(entity).validate()

        entity.storedProperties = many
        expect(.tooManyProperties, "A", nil, Schema(entity))
    }

    @Test func refusesUnknownPlaces() {
        let orphan = Entity("A")
        orphan.superentityName = "B"
        expect(.unknownSuperentity, "A", nil, Schema(orphan))
        expect(
            .unknownDestination, "A", "r",
            Schema(Entity("A", properties: Relationship(name: "r", destination: "B", isToOne: true))))
        expect(
            .unknownInverse, "A", "r",
            Schema(
                Entity("A", properties: Relationship(name: "r", destination: "A", isToOne: true, inverseName: "s"))))

        let unknown = Entity("A", properties: Attribute(name: "x", valueType: Int.self))
        unknown.uniquenessConstraints = [["x", "y"]]
        expect(.unknownProperty, "A", "y", Schema(unknown))
        unknown.uniquenessConstraints = []
        unknown.indices = [["z"]]
        expect(.unknownProperty, "A", "z", Schema(unknown))
    }

    @Test func refusesAnInverseThatDoesNotPointBack() {
        let a = Entity("A", properties: Relationship(name: "b", destination: "B", isToOne: true, inverseName: "a"))
        let silent = Entity("B", properties: Relationship(name: "a", destination: "A", isToOne: true))
        expect(.inverseMismatch, "A", "b", Schema(a, silent))

        let other = Entity(
            "B", properties: Relationship(name: "a", destination: "A", isToOne: true, inverseName: "c"))
        expect(.inverseMismatch, "A", "b", Schema(a, other))

        let elsewhere = Entity(
            "B", properties: Relationship(name: "a", destination: "B", isToOne: true, inverseName: "b"))
        expect(.inverseMismatch, "A", "b", Schema(a, elsewhere))
    }

    @Test func refusesToManyRelationshipsInConstraints() {
        func entity(_ options: [Relationship.Option] = []) -> Entity {
            Entity("A", properties: Relationship(name: "r", options: options, destination: "A", isToOne: false))
        }
        expect(.uniqueOnToMany, "A", "r", Schema(entity([.unique])))
        let unique = entity()
        unique.uniquenessConstraints = [["r"]]
        expect(.uniqueOnToMany, "A", "r", Schema(unique))
        let index = entity()
        index.indices = [["r"]]
        expect(.uniqueOnToMany, "A", "r", Schema(index))
    }

    @Test(arguments: [(2, 1, false), (-1, 0, false), (0, -1, false), (0, 2, true), (2, 0, true)])
    func refusesCountsThatNothingFulfils(minimum: Int, maximum: Int, isToOne: Bool) {
        let relationship = Relationship(
            name: "r", destination: "A", isToOne: isToOne, minimumModelCount: minimum, maximumModelCount: maximum)
        expect(.invalidModelCount, "A", "r", Schema(Entity("A", properties: relationship)))
    }

    @Test func refusesTypesThatCannotBeStored() throws {
        expect(.unstorableType, "A", "x", Schema(Entity("A", properties: Attribute(name: "x", valueType: Opaque.self))))
        let transformed = Attribute(name: "x", options: [.transformable(by: "T")], valueType: Opaque.self)
        try Schema(Entity("A", properties: transformed)).validate()
        #expect(transformed.kind == .data)
    }

    @Test func warnsOfClearingWhatIsRequired() {
        let a = Entity("A", properties: Relationship(name: "bs", destination: "B", isToOne: false, inverseName: "a"))
        let b = Entity(
            "B",
            properties: Relationship(name: "a", destination: "A", isToOne: true, isOptional: false, inverseName: "bs"))
        let schema = Schema(a, b)

        #expect(schema.warnings.map(\.propertyName) == ["bs"])
        #expect(schema.warnings.first?.message.contains("B.a") == true)
        a.relationshipsByName["bs"]?.deleteRule = .cascade
        #expect(schema.warnings.isEmpty)

        let optional = Entity(
            "B", properties: Relationship(name: "a", destination: "A", isToOne: true, inverseName: "bs"))
        a.relationshipsByName["bs"]?.deleteRule = .nullify
        #expect(Schema(a, optional).warnings.isEmpty)
    }
}
