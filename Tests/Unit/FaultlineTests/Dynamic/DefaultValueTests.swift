import Faultline
import FaultlineTestSupport
import Testing

/// Defaults of schemas that are made of values, where only the schema determines their types.
@Suite struct DefaultValueTests {
    private static func schema(_ attributes: [Schema.Attribute]) -> Schema {
        Schema(entities: [Schema.Entity("Thing", subentities: [], properties: attributes)])
    }

    @Test(arguments: [
        Schema.Attribute(name: "x", valueType: Int.self, defaultValue: "seven"),
        Schema.Attribute(name: "x", valueType: Int8.self, defaultValue: 1_000),
        Schema.Attribute(name: "x", valueType: UInt16.self, defaultValue: -1),
        Schema.Attribute(name: "x", valueType: Bool.self, defaultValue: 1),
        Schema.Attribute(name: "x", valueType: Float.self, defaultValue: 1e300),
        Schema.Attribute(name: "x", valueType: Double.self, defaultValue: Int.max),
        Schema.Attribute(name: "x", valueType: String.self, defaultValue: 1),
        Schema.Attribute(name: "x", valueType: Date.self, defaultValue: 1.5),
        Schema.Attribute(name: "x", valueType: UUID.self, defaultValue: "x"),
        Schema.Attribute(name: "x", valueType: Data.self, defaultValue: [UInt8(1)]),
    ])
    func aDefaultOfAnotherTypeIsRefused(_ attribute: Schema.Attribute) throws {
        do {
            _ = try DynamicStore(Self.schema([attribute]))
            Issue.record("The container was made.")
        } catch let error as SchemaError {
            #expect(error.code == .defaultMismatch && error.message.contains("Thing.x"), "\(error)")
        }
    }

    @Test func aDefaultIsConvertedToTheAttributesType() throws {
        let store = try DynamicStore(
            Self.schema([
                Schema.Attribute(name: "float", valueType: Float.self, defaultValue: 1.5),
                Schema.Attribute(name: "next", valueType: Float.self, defaultValue: Float(2)),
                Schema.Attribute(name: "double", valueType: Double.self, defaultValue: 180),
                Schema.Attribute(name: "decimal", valueType: Decimal.self, defaultValue: 3),
                Schema.Attribute(name: "small", valueType: Int8.self, defaultValue: 100),
                Schema.Attribute(name: "large", valueType: UInt64.self, defaultValue: UInt64.max),
                Schema.Attribute(name: "rank", valueType: Int.self, defaultValue: Rank.high),
                Schema.Attribute(name: "text", valueType: String.self, defaultValue: "text".dropFirst()),
            ]))
        let writing = ModelContext(store.container)
        _ = try writing.insertNewObject(forEntityName: "Thing")
        try writing.save()
        for context in [ModelContext(store.container), try store.reopened()] {
            let made = try context.insertNewObject(forEntityName: "Thing")
            let stored = try #require(try context.fetch(FetchRequest(entityName: "Thing")).first)
            for thing in [made, stored] {
                #expect(thing["float"] as? Float == 1.5 && thing["next"] as? Float == 2)
                #expect(thing["double"] as? Double == 180 && thing["decimal"] as? Decimal == 3)
                #expect(thing["small"] as? Int8 == 100 && thing["large"] as? UInt64 == .max)
                #expect(thing["rank"] as? Int == Rank.high.rawValue && thing["text"] as? String == "ext")
            }
        }
    }

    @Test func theDefaultOfAnEncodedAttributeIsKnownWithoutItsType() throws {
        let name = Schema.Attribute(name: "name", valueType: String.self)
        let store = try DynamicStore(Self.schema([name]))
        let writing = ModelContext(store.container)
        _ = try writing.make("Thing", ["name": "old"])
        try writing.save()
        try store.container.close()
        let tags = Schema.Attribute(name: "tags", valueType: [String].self, defaultValue: ["a", "b"])
        let wider = Self.schema([name, tags])
        try ModelContainer(for: wider, configurations: [DynamicStore.configuration(store.folder)]).close()

        let context = try store.reopened()
        let old = try #require(try context.named("old", "Thing"))
        #expect(try (old["tags"] as? CodableValue)?.decode(as: [String].self) == ["a", "b"])
        old["name"] = "older"
        _ = try context.make("Thing", ["name": "new"])
        try context.save()
        let things = try store.reopened().fetch(FetchRequest(entityName: "Thing"))
        #expect(things.map { $0["name"] as? String } == ["older", "new"])
        for thing in things {
            #expect(try (thing["tags"] as? CodableValue)?.decode(as: [String].self) == ["a", "b"])
        }
    }

    @Test func anEncodedAttributeWhoseDefaultIsNotKnownHasToBeSet() throws {
        let name = Schema.Attribute(name: "name", valueType: String.self)
        let store = try DynamicStore(Self.schema([name]))
        let writing = ModelContext(store.container)
        _ = try writing.make("Thing", ["name": "old"])
        try writing.save()
        try store.container.close()
        let note = Schema.Attribute(name: "note", valueType: TextOnly.self, defaultValue: TextOnly())
        let wider = Self.schema([name, note])
        try ModelContainer(for: wider, configurations: [DynamicStore.configuration(store.folder)]).close()

        let context = try store.reopened()
        let old = try #require(try context.named("old", "Thing"))
        #expect(old["note"] == nil)
        old["name"] = "older"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        old["note"] = "x"
        try context.save()
        _ = try context.make("Thing", ["name": "new"])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    /// A value that can be encoded as JSON, but not in a row.
    private struct TextOnly: Codable {
        func encode(to encoder: any Encoder) throws {
            guard "\(type(of: encoder))".contains("JSON") else {
                throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "JSON only"))
            }
            var container = encoder.singleValueContainer()
            try container.encode("text")
        }
    }
}
