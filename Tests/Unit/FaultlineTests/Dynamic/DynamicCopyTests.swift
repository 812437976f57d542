import Faultline
import FaultlineTestSupport
import Testing

/// Copies of dynamic objects, and values that are passed from one object to another.
@Suite struct DynamicCopyTests {
    private static let photo = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    @Test(arguments: [false, true]) func aCopyHasTheAttributesAndNoRelationships(_ isChanged: Bool) throws {
        let store = try DynamicStore()
        let writing = ModelContext(store.container)
        let sales = try writing.make("Department", ["name": "Sales"])
        let values: [String: Any?] = ["name": "Ada", "age": 36, "photo": Self.photo, "department": sales]
        _ = try writing.make("Person", values)
        try writing.save()

        let context = try store.reopened()
        let ada = try #require(try context.fetch(FetchRequest(entityName: "Person")).first)
        if isChanged { ada["age"] = 37 }
        let copy = ManagedObject(backingData: ada.persistentBackingData)
        #expect(copy["name"] as? String == "Ada" && copy["age"] as? Int == (isChanged ? 37 : 36))
        #expect(copy["photo"] as? Data == Self.photo && copy["department"] == nil)
        context.insert(copy)
        try context.save()
        let read = try store.reopened()
        let people = try read.fetch(FetchRequest(entityName: "Person"))
        #expect(people.count == 2 && people.allSatisfy { $0["photo"] as? Data == Self.photo })
        #expect(people.map { $0["department"] == nil } == [false, true])
        read.delete(people[0])
        try read.save()
        #expect(try store.reopened().named("Ada")?["photo"] as? Data == Self.photo)
        #expect(try store.findings() == [])
    }

    @Test func theValuesOfAnotherEntityAreRefused() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        let department = try context.make("Department", ["name": "Sales"])
        context.rollback()
        department.persistentBackingData = person.persistentBackingData
        #expect(department["name"] as? String == "Sales" && department["budget"] == nil)
        context.insert(department)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func aChangeThatCannotBeMadeInNoContextIsRaisedAtTheInsertion() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        context.rollback()
        person["age"] = "seven"
        person["nme"] = "Eve"
        context.insert(person)
        do {
            try context.save()
            Issue.record("The save went through.")
        } catch let error as SwiftDataError {
            #expect(error.explanation.contains("Person.age"), "\(error)")
        }
    }

    @Test func everySlotOfAWideEntityHasToBeSet() throws {
        let attributes = (0..<70).map { Schema.Attribute(name: "a\($0)", valueType: Int.self) }
        let schema = Schema(entities: [Schema.Entity("Wide", subentities: [], properties: attributes)])
        let store = try DynamicStore(schema)
        let context = ModelContext(store.container)
        let wide = try context.insertNewObject(forEntityName: "Wide")
        for number in 0..<70 where number != 66 { wide["a\(number)"] = number }
        do {
            try context.save()
            Issue.record("The save went through.")
        } catch let error as SwiftDataError {
            #expect(error.explanation.contains("Wide.a66") && !error.explanation.contains("Wide.a65"), "\(error)")
        }
        context.rollback()
        wide["a66"] = 66
        context.insert(wide)
        try context.save()
        context.insert(ManagedObject(backingData: wide.persistentBackingData))
        try context.save()
        #expect(try store.reopened().count(for: FetchRequest(entityName: "Wide")) == 2)
    }

    /// The place of the object that receives a value.
    enum Receiver: CaseIterable {
        case sameContext, otherContext, otherStore, noContext
    }

    @Test(arguments: Receiver.allCases) func aBlobGoesWhereItIsSet(_ receiver: Receiver) throws {
        let source = try DynamicStore()
        let other = try DynamicStore()
        let context = ModelContext(source.container)
        let ada = try context.make("Person", ["name": "Ada", "photo": Self.photo])
        try context.save()
        // Gives the other store a blob with the same number.
        let otherContext = ModelContext(other.container)
        _ = try otherContext.make("Person", ["name": "Bob", "photo": Data(count: 9_000)])
        try otherContext.save()

        let target: DynamicStore = receiver == .sameContext || receiver == .otherContext ? source : other
        let receiving =
            switch receiver {
            case .sameContext: context
            case .otherContext: ModelContext(source.container)
            case .otherStore, .noContext: otherContext
            }
        let eve = try receiving.make("Person", ["name": "Eve"])
        if receiver == .noContext { receiving.rollback() }
        eve["photo"] = ada.blob(forKey: "photo")
        #expect(eve["photo"] as? Data == Self.photo)
        #expect(try eve.blob(forKey: "photo")?.data(in: 5..<10) == Self.photo[5..<10])
        if receiver == .noContext { receiving.insert(eve) }
        if receiver == .otherContext {
            // Another save releases the value before this one happens.
            context.delete(ada)
            try context.save()
        }
        let request = FetchRequest(entityName: "Person", filter: Filter.key("photo") == Self.photo)
        #expect(try receiving.fetch(request).contains(eve))
        try receiving.save()
        #expect(try target.reopened().named("Eve")?["photo"] as? Data == Self.photo)
        #expect(try target.findings() == [])
    }

    @Test func aRequiredValueCannotBeTakenAwayAsABlob() throws {
        let entity = Schema.Entity("Thing", properties: Schema.Attribute(name: "data", valueType: Data.self))
        let store = try DynamicStore(Schema(entity))
        let context = ModelContext(store.container)
        let thing = try context.make("Thing", ["data": Data([1])])
        try context.save()
        thing.setBlob(nil, forKey: "data")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(thing["data"] as? Data == Data([1]))
    }
}
