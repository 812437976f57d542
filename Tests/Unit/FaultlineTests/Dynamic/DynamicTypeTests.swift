import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Testing

/// Each container has its own types for entities without classes, for as long as an object needs them.
@Suite struct DynamicTypeTests {
    private static func dogs(_ parentName: String, _ inherited: Schema.Attribute) -> Schema {
        let dog = Schema.Entity("Dog", properties: Schema.Attribute(name: "name", valueType: String.self))
        return Schema(Schema.Entity(parentName, subentities: dog, properties: inherited))
    }

    @Test func entitiesOfOneNameAreKeptApart() throws {
        let first = try DynamicStore(Self.dogs("Animal", Schema.Attribute(name: "legs", valueType: Int.self)))
        let second = try DynamicStore(Self.dogs("Animal", Schema.Attribute(name: "owner", valueType: String.self)))
        let contexts = [ModelContext(first.container), ModelContext(second.container)]
        _ = try contexts[0].make("Dog", ["legs": 4, "name": "Rex"])
        _ = try contexts[1].make("Dog", ["owner": "Ada", "name": "Rex"])
        for context in contexts { try context.save() }
        #expect(try first.reopened().named("Rex", "Dog")?["legs"] as? Int == 4)
        #expect(try second.reopened().named("Rex", "Dog")?["owner"] as? String == "Ada")
    }

    @Test func anEntityOfAnotherContainerIsRefused() throws {
        let first = try DynamicStore(Self.dogs("Animal", Schema.Attribute(name: "legs", valueType: Int.self)))
        let second = try DynamicStore(Self.dogs("Animal", Schema.Attribute(name: "owner", valueType: String.self)))
        let context = ModelContext(first.container)
        let dog = try #require(second.container.schema.entitiesByName["Dog"])
        _ = ManagedObject(entity: dog, insertInto: context)
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        let own = try #require(first.container.schema.entitiesByName["Dog"])
        #expect(ManagedObject(entity: own, insertInto: context).entity === own)
    }

    @Test func changingTheSchemaAfterwardsChangesNothing() throws {
        let schema = DynamicStore.work
        let store = try DynamicStore(schema)
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        let entity = try #require(schema.entitiesByName["Person"])
        entity.name = "Human"
        entity.attributesByName["shoe"]?.defaultValue = "none"
        entity.storedProperties.removeLast(6)
        (entity.storedProperties.first as? Schema.Attribute)?.name = "label"
        #expect(person["name"] as? String == "Ada" && person["friends"] as? [ManagedObject] == [])
        #expect(try context.make("Person", ["name": "Eve"])["shoe"] as? Int8 == 40)
        try context.save()
        #expect(try store.reopened().named("Eve")?["shoe"] as? Int8 == 40)
    }

    @Test func aTypeLivesAsLongAsItsObjects() throws {
        let store = try DynamicStore()
        weak var type: ModelType?
        var object: ManagedObject?
        try {
            let types = store.container.schema.entities.map(ModelType.dynamic)
            type = types.first { $0.entityName == "Person" }
            let context = ModelContext(ContextCore(store: store.container.rowStore, types: types), owner: nil)
            object = try context.make("Person", ["name": "Ada"])
            context.rollback()
        }()
        #expect(type != nil)
        #expect(object?["name"] as? String == "Ada" && object?["shoe"] as? Int8 == 40)
        object?["name"] = "Eve"
        #expect(object?["name"] as? String == "Eve")
        object = nil
        #expect(type == nil)
    }
}
