import Faultline
import Testing

/// Statements about objects whose properties are accessed by key, as listed in docs/Conformance.md.
@Suite struct DynamicStatements {
    private let store: DynamicStore

    init() throws {
        store = try DynamicStore()
        let context = ModelContext(store.container)
        let department = try context.make("Department", ["name": "research"])
        for number in 0..<3 {
            let person = try context.make("Person", ["name": "p\(number)", "age": number, "department": department])
            if number > 0, let first = try context.named("p0") { person["friends"] = [first] }
        }
        try context.save()
    }

    @Test func `C12: whether a relationship has been read is told without reading it`() throws {
        let context = try store.reopened()
        let department = try #require(try context.fetch(FetchRequest(entityName: "Department")).first)
        let before = context.counters
        #expect(department.hasFault(forRelationshipNamed: "people"))
        #expect((context.counters - before).rowsRead == 0 && department.isFault)
        let person = try #require(try context.fetch(FetchRequest(entityName: "Person")).first)
        #expect(person.hasFault(forRelationshipNamed: "department"))
        _ = person["name"]
        #expect(!person.hasFault(forRelationshipNamed: "department"))
        department["people"] = [person]
        #expect(!department.hasFault(forRelationshipNamed: "people"))
        let new = try context.make("Department", ["name": "new"])
        #expect(!new.hasFault(forRelationshipNamed: "people"))
    }

    @Test func `C14: identifiers of related objects are read without making the objects`() throws {
        let context = try store.reopened()
        let department = try #require(try context.fetch(FetchRequest(entityName: "Department")).first)
        let identifiers = department.objectIDs(forRelationshipNamed: "people")
        #expect(identifiers.count == 3)
        #expect(identifiers.allSatisfy { context.registeredObject(for: $0) == nil })
        #expect(try identifiers.map { try context.existingObject(with: $0)["name"] as? String } == ["p0", "p1", "p2"])

        let person = try #require(try context.named("p0"))
        #expect(person.objectIDs(forRelationshipNamed: "department") == [department.objectID])
        #expect(person.objectIDs(forRelationshipNamed: "friendOf").count == 2)
        // Unsaved changes and deletions are included.
        let new = try context.make("Person", ["name": "new", "department": department])
        context.delete(person)
        #expect(
            department.objectIDs(forRelationshipNamed: "people") == Array(identifiers.dropFirst()) + [new.objectID])
        #expect(new.objectIDs(forRelationshipNamed: "friends").isEmpty)
        department["people"] = [new]
        #expect(department.objectIDs(forRelationshipNamed: "people") == [new.objectID])
        #expect(department.objectIDs(forRelationshipNamed: "name").isEmpty)
    }

    @Test func `C28: an object that is not there is told from one that is`() throws {
        let context = ModelContext(store.container)
        let person = try #require(try context.named("p0"))
        let identifier = person.objectID
        let other = ModelContext(store.container)
        other.delete(try #require(try other.named("p0")))
        try other.save()
        let third = ModelContext(store.container)
        #expect(third.object(with: identifier) != nil)
        #expect(throws: SwiftDataError.missingModelContext) { try third.existingObject(with: identifier) }
        #expect(third.registeredObject(for: try #require(try third.named("p1")).objectID) == nil)
    }

    @Test func `C31: changed and committed values`() throws {
        let context = ModelContext(store.container)
        let person = try #require(try context.named("p1"))
        #expect(person.changedValues().isEmpty)
        let department = try #require(person["department"] as? ManagedObject)
        let friend = try #require((person["friends"] as? [ManagedObject])?.first)
        person["age"] = 70
        person["department"] = nil
        person["friends"] = [ManagedObject]()
        person["photo"] = Data([1, 2, 3])
        let changed = person.changedValues()
        #expect(Set(changed.keys) == ["age", "department", "friends", "photo"])
        #expect(changed["age"] as? Int == 70 && (changed["friends"] as? [ManagedObject])?.isEmpty == true)
        #expect(changed["department"] != nil && changed["department"]! == nil)
        let stored = person.committedValues(forKeys: ["age", "name", "department", "friends", "photo"])
        #expect(stored["age"] as? Int == 1 && stored["name"] as? String == "p1" && stored.count == 5)
        #expect(stored["department"] as? ManagedObject === department)
        #expect((stored["friends"] as? [ManagedObject])?.first === friend)
        #expect(stored["photo"]! == nil)
        #expect(Set(person.committedValues().keys).count == 12)
        try context.save()
        #expect(person.changedValues().isEmpty && person.committedValues(forKeys: ["age"])["age"] as? Int == 70)

        let new = try context.make("Person", ["name": "new"])
        #expect(Set(new.changedValues().keys) == ["name", "shoe"] && new.committedValues().isEmpty)
        #expect(person.committedValues(forKeys: ["nme"]).isEmpty)
    }
}
