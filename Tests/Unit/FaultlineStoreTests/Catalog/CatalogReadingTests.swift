import FaultlineModel
import FaultlineStore
import Testing

/// Compares the catalog's hand-written readers with `Decodable` on the same bytes.
struct CatalogReadingTests {
    /// A schema with every kind of property, and with everything optional left out or not.
    private static func schema() -> Schema {
        let person = Schema.Entity("Person")
        person.originalName = "Human"
        person.storedProperties = AttributeKind.allCases.map { kind in
            Schema.Attribute(
                name: "a\(kind.rawValue)", originalName: kind == .int8 ? "old" : nil,
                options: kind == .string ? [.unique, .transformable(by: "Upper")] : [],
                valueType: kind == .int64 ? Int?.self : kind.defaultValueType,
                defaultValue: kind == .double ? 1.5 : nil, hashModifier: kind == .bool ? "2" : nil)
        }
        person.storedProperties.append(
            Schema.CompositeAttribute(
                name: "place", valueType: Any.self,
                properties: [Schema.Attribute(name: "latitude", valueType: Double.self)]))
        person.storedProperties.append(
            Schema.Relationship(
                name: "pets", originalName: "animals", destination: "Pet", isToOne: false, deleteRule: .cascade,
                minimumModelCount: 1, maximumModelCount: 9, inverseName: "owner", hashModifier: "3"))
        person.uniquenessConstraints = [["a2", "a3"], ["a4"]]
        person.indices = [["a5"]]
        let pet = Schema.Entity(
            "Pet",
            properties: Schema.Relationship(
                name: "owner", options: [.unique], destination: "Person", isToOne: true))
        let dog = Schema.Entity("Dog", properties: Schema.Attribute(name: "tail", valueType: Int.self))
        pet.subentities = [dog]
        return Schema(person, pet, version: Schema.Version(2, 1, 3))
    }

    private func decoded<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> T? {
        try? bytes.withUnsafeBytes { try NestedDecoder.decode(type, from: $0) }
    }

    /// Whether reading by hand and decoding give the same for some bytes: the same value, or none.
    private func agree<T: Codable>(
        _ type: T.Type, _ bytes: [UInt8], _ read: ([UInt8]) throws(StoreError) -> T
    ) throws -> Bool {
        let byHand = try? read(bytes)
        return try byHand.map { try NestedEncoder.encode($0) }
            == decoded(type, bytes).map { try NestedEncoder.encode($0) }
    }

    /// The bytes unchanged, truncated at each offset, and with some bits of each byte flipped.
    private func damaged(_ bytes: [UInt8]) -> [[UInt8]] {
        var all = [bytes]
        for place in bytes.indices {
            all.append(Array(bytes[..<place]))
            for bit in [0, 1, 3, 7] {
                var other = bytes
                other[place] ^= 1 << UInt8(bit)
                all.append(other)
            }
        }
        return all
    }

    @Test func readsASchemaAsItWasWritten() throws {
        let schema = Self.schema()
        let bytes = try NestedEncoder.encode(schema)

        let read = try StoredCatalog.schema(bytes)

        #expect(read == schema)
        #expect(read.fingerprint == schema.fingerprint)
        #expect(try NestedEncoder.encode(read) == bytes)
        #expect(read.entitiesByName["Pet"]?.subentities.map(\.name) == ["Dog"])
        #expect(read.entitiesByName["Dog"]?.inheritedProperties.map(\.name) == ["owner"])
    }

    @Test func makesOfDamagedSchemasWhatDecodingMakes() throws {
        for bytes in damaged(try NestedEncoder.encode(Self.schema())) {
            try #require(try agree(Schema.self, bytes) { bytes throws(StoreError) in try StoredCatalog.schema(bytes) })
        }
    }

    @Test func makesOfDamagedMapsAndLayoutsWhatDecodingMakes() throws {
        let plan = try EntityMapPlan(for: Self.schema())
        var map = plan.map
        map.entities[0].columns[1].missing = [
            MissingValue(below: 3, default: nil),
            MissingValue(below: 7, default: StoredDefault(kind: .int32, text: "12", nested: "AQI=")),
        ]
        #expect(try StoredCatalog.entityMap(NestedEncoder.encode(map)) == map)
        for bytes in damaged(try NestedEncoder.encode(map)) {
            try #require(
                try agree(EntityMap.self, bytes) { bytes throws(StoreError) in try StoredCatalog.entityMap(bytes) })
        }
        for layout in plan.newLayouts {
            for bytes in damaged(try NestedEncoder.encode(layout)) {
                try #require(
                    try agree(RowLayout.self, bytes) { bytes throws(StoreError) in try StoredCatalog.layout(bytes) })
            }
        }
    }

    @Test func refusesASchemaOfANewerForm() throws {
        struct Newer: Encodable {
            let encodingVersion = Schema.Version(Schema.schemaEncodingVersion.major + 1, 0, 0)
            let version = Schema.Version(1, 0, 0)
            let entities: [Schema.Entity] = []
        }
        let bytes = try NestedEncoder.encode(Newer())
        #expect { try StoredCatalog.schema(bytes) } throws: { "\($0)".contains("form 2.0.0") }
    }

    @Test func endsWhereCompositesLieTooDeep() throws {
        func bytes(_ count: Int) throws -> [UInt8] {
            var attribute = Schema.Attribute(name: "leaf", valueType: Int.self)
            for _ in 0..<count {
                attribute = Schema.CompositeAttribute(name: "c", valueType: Any.self, properties: [attribute])
            }
            return try NestedEncoder.encode(Schema(Schema.Entity("E", properties: attribute)))
        }
        for count in [1, 20, 39, 40, 41] {
            // Deeper ones cannot be written.
            guard let bytes = try? bytes(count) else { continue }
            #expect(try agree(Schema.self, bytes) { bytes throws(StoreError) in try StoredCatalog.schema(bytes) })
        }
    }

    @Test func namesTheMemberThatIsWrong() throws {
        struct Wrong: Encodable {
            let entities: [StoredEntity] = []
            let links: [StoredLink] = []
            let counters = ["table": 70_000, "column": 1, "layout": 1, "index": 1, "migration": 1]
        }
        let bytes = try NestedEncoder.encode(Wrong())
        #expect { try StoredCatalog.entityMap(bytes) } throws: { "\($0)".contains("counters: table has a value") }
    }
}
