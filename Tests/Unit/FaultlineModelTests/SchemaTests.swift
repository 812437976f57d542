import FaultlineModel
import FoundationEssentials
import Testing

/// A schema of two entities that refer to each other, with an attribute of every kind.
func company(version: Schema.Version = Schema.Version(1, 2, 3)) -> Schema {
    let kinds = AttributeKind.allCases.map { kind in
        Schema.Attribute(name: kind.description, valueType: kind == .codable ? [String].self : kind.defaultValueType)
    }
    let employee = Schema.Entity(
        "Employee", subentities: [],
        properties: kinds + [
            Schema.Attribute(name: "email", originalName: "mail", options: [.unique], valueType: String?.self),
            Schema.Attribute(
                name: "badge", options: [.transformable(by: "Badge"), .externalStorage], valueType: Schema.self,
                hashModifier: "b"),
            Schema.Relationship(
                name: "department", destination: "Department", isToOne: true, inverseName: "employees"),
        ],
        uniquenessConstraints: [["string", "int64"]], indices: [["date"], ["int64", "string"]])
    let department = Schema.Entity(
        "Department",
        properties: Schema.Attribute(name: "name", valueType: String.self),
        Schema.Relationship(
            name: "employees", originalName: "staff", options: [], destination: "Employee", isToOne: false,
            deleteRule: .cascade, minimumModelCount: 1, maximumModelCount: 9, inverseName: "department",
            hashModifier: "r"))
    return Schema(employee, department, version: version)
}

@Suite struct SchemaTests {
    @Test func survivesBeingWrittenAndReadBack() throws {
        let schema = company()
        let read = try Schema(encoded: schema.encoded())

        #expect(read == schema)
        #expect(read.version == Schema.Version(1, 2, 3))
        #expect(read.fingerprint == schema.fingerprint)
        #expect(read.entities.map(\.name) == ["Employee", "Department"])
        #expect(try read.encoded() == schema.encoded())
        try read.validate()
    }

    @Test func knowsKindsWithoutTheModelsTypes() throws {
        enum Level: String, Codable { case low }
        struct Point: Codable { var x = 0 }
        let entity = Schema.Entity(
            "A", properties: Schema.Attribute(name: "level", valueType: Level?.self),
            Schema.Attribute(name: "point", valueType: Point.self),
            Schema.Attribute(name: "width", valueType: Int64?.self),
            Schema.Attribute(name: "count", valueType: UInt.self))
        let read = try Schema(encoded: Schema(entity).encoded())
        let attributes = try #require(read.entitiesByName["A"]).attributesByName

        #expect(attributes["level"]?.kind == .string)
        #expect(attributes["level"]?.isOptional == true)
        #expect(attributes["level"]?.valueType == String?.self)
        #expect(attributes["point"]?.kind == .codable)
        #expect(attributes["point"]?.valueTypeName.hasSuffix("Point") == true)
        #expect(attributes["width"]?.valueType == Int64?.self)
        #expect(attributes["count"]?.valueType == UInt.self)
    }

    @Test func isWrittenTheSameEveryTime() throws {
        let text = try String(decoding: company().encoded(), as: UTF8.self)

        #expect(try String(decoding: company().encoded(), as: UTF8.self) == text)
        #expect(text.hasPrefix(#"{"encodingVersion":{"major":1,"minor":0,"patch":0},"entities":[{"#))
    }

    @Test func refusesWhatItCannotRead() throws {
        var bytes = try company().encoded()
        #expect(throws: SchemaError.self) { try Schema(encoded: []) }
        #expect(throws: SchemaError.self) { try Schema(encoded: Array(bytes.dropLast())) }

        let newer = String(decoding: bytes, as: UTF8.self).replacing(
            #""encodingVersion":{"major":1"#, with: #""encodingVersion":{"major":2"#)
        let error = #expect(throws: SchemaError.self) { try Schema(encoded: Array(newer.utf8)) }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("2.0.0") == true)

        let negative = String(decoding: bytes, as: UTF8.self).replacing(#""patch":3"#, with: #""patch":-3"#)
        #expect(throws: SchemaError.self) { try Schema(encoded: Array(negative.utf8)) }

        let unknownKind = String(decoding: bytes, as: UTF8.self).replacing(#""kind":18"#, with: #""kind":99"#)
        #expect(throws: SchemaError.self) { try Schema(encoded: Array(unknownKind.utf8)) }

        bytes[0] = 0
        #expect(throws: SchemaError.self) { try Schema(encoded: bytes) }
    }

    /// Every byte of a written schema is damaged in turn: it is refused or read, and never ends the process.
    @Test func doesNotTrapOnDamage() throws {
        let bytes = try company().encoded()
        for offset in bytes.indices {
            for value in [0, 0x22, 0x2d, 0x39, 0x5b, 0x7d, bytes[offset] ^ 0x80] as [UInt8] {
                var damaged = bytes
                damaged[offset] = value
                if let schema = try? Schema(encoded: damaged) {
                    try? schema.validate()
                    _ = schema.fingerprint
                }
            }
        }
    }

    @Test func joinsEntitiesWithTheirSubentities() throws {
        let leaf = Schema.Entity("Leaf", properties: Schema.Attribute(name: "c", valueType: Int.self))
        let middle = Schema.Entity(
            "Middle", subentities: leaf, properties: Schema.Attribute(name: "b", valueType: Int.self))
        let root = Schema.Entity(
            "Root", subentities: middle, properties: Schema.Attribute(name: "a", valueType: Int.self))

        for schema in [Schema(root), try Schema(encoded: Schema(root).encoded())] {
            #expect(schema.entities.map(\.name) == ["Root", "Middle", "Leaf"])
            let leaf = try #require(schema.entitiesByName["Leaf"])
            #expect(leaf.properties.map(\.name) == ["a", "b", "c"])
            #expect(leaf.inheritedProperties.map(\.name) == ["a", "b"])
            #expect(leaf.superentity?.superentity?.name == "Root")
            try schema.validate()
        }
    }

    @Test func survivesEntitiesThatInheritFromEachOther() throws {
        let text = #"""
            {"encodingVersion":{"major":1,"minor":0,"patch":0},"version":{"major":1,"minor":0,"patch":0},"entities":[
            {"name":"A","superentityName":"B","properties":[]},{"name":"B","superentityName":"A","properties":[]},
            {"name":"C","superentityName":"C","properties":[]}]}
            """#
        let schema = try Schema(encoded: Array(text.utf8))

        try? schema.validate()
        _ = schema.fingerprint
        _ = SchemaDifference(from: schema, to: schema)
        #expect(schema.entities.count == 3)
    }

    @Test func comparesVersions() {
        #expect(Schema.Version(1, 2, 3) < Schema.Version(1, 10, 0))
        #expect(Schema.Version(1, 9, 9) < Schema.Version(2, 0, 0))
        #expect(Schema.Version(1, 2, 3).description == "1.2.3")
    }

    @Test func differsWhereAPartDiffers() {
        #expect(company() == company())
        #expect(company() != company(version: Schema.Version(2, 0, 0)))
        let changed = company()
        changed.entities[0].attributesByName["email"]?.hashModifier = "x"
        #expect(changed != company())
        let other = company()
        other.entities[1].relationshipsByName["employees"]?.deleteRule = .deny
        #expect(other != company())
    }
}

@Suite struct EntityTests {
    @Test func keepsTheOrderOfDeclaration() {
        let entity = company().entities[0]

        #expect(entity.properties.last?.name == "department")
        #expect(entity.attributes.count == 20)
        #expect(entity.relationships.map(\.name) == ["department"])
        #expect(entity.storedPropertiesByName["email"]?.isUnique == true)
    }

    @Test func putsAddedAttributesBehindTheOthers() {
        let entity = Schema.Entity(
            "A", properties: Schema.Attribute(name: "x", valueType: Int.self),
            Schema.Relationship(name: "r", destination: "A", isToOne: true),
            Schema.Attribute(name: "y", valueType: Int.self))
        entity.attributes = [
            Schema.Attribute(name: "c", valueType: Int.self), Schema.Attribute(name: "y", valueType: Int.self),
            Schema.Attribute(name: "b", valueType: Int.self),
        ]

        #expect(entity.properties.map(\.name) == ["r", "y", "b", "c"])
    }

    @Test func collectsUniquenessHoweverItIsDeclared() {
        let entity = Schema.Entity(
            "A", properties: Schema.Attribute(name: "x", options: [.unique], valueType: Int.self),
            Schema.Attribute(name: "y", valueType: Int.self),
            Schema.Relationship(name: "r", options: [.unique], destination: "A", isToOne: true))
        entity.uniquenessConstraints = [["y", "x"], ["x"], ["x", "y"]]

        #expect(entity.allUniquenessConstraints == [["r"], ["x"], ["x", "y"]])
    }
}
