import Faultline
import FaultlineTestSupport
import Testing

@Suite struct FilterTests {
    /// A filter beside the same condition in Swift.
    private struct Case: Sendable {
        let filter: Filter
        let swift: @Sendable (ManagedObject) -> Bool
    }

    private static let names = ["", "a", "ab", "abc", "é", "e\u{301}", "zz"]

    private static func age(_ object: ManagedObject) -> Int? { object["age"] as? Int }
    private static func name(_ object: ManagedObject) -> String? { object["name"] as? String }
    private static func department(_ object: ManagedObject) -> ManagedObject? { object["department"] as? ManagedObject }

    private static func leaf(_ random: inout Seed) -> Case {
        let number = random.below(6)
        let text = random.pick(names)
        switch random.below(13) {
        case 0: return Case(filter: Filter.key("age") == number) { age($0) == number }
        case 1: return Case(filter: Filter.key("age") != number) { age($0) != number }
        case 2: return Case(filter: Filter.key("age") < number) { age($0).map { $0 < number } ?? false }
        case 3: return Case(filter: Filter.key("age") >= number) { age($0).map { $0 >= number } ?? false }
        case 4: return Case(filter: Filter.key("age") == nil) { age($0) == nil }
        case 5: return Case(filter: Filter.key("name") == text) { name($0) == text }
        case 6:
            // Every text contains the empty one, whatever Foundation says.
            return Case(filter: Filter.key("name").contains(text)) {
                name($0).map { text.isEmpty || $0.contains(text) } ?? false
            }
        case 7: return Case(filter: Filter.key("name").beginsWith(text)) { name($0)?.starts(with: text) == true }
        case 8: return Case(filter: Filter.key("name").isIn(["a", text])) { ["a", text].contains(name($0)) }
        case 9: return Case(filter: Filter.key("department") == nil) { department($0) == nil }
        case 10:
            return Case(filter: Filter.key("department.name") == "d\(number)") {
                department($0).flatMap(name) == "d\(number)"
            }
        case 11:
            return Case(filter: Filter.key("department.name") != "d\(number)") {
                department($0).flatMap(name) != "d\(number)"
            }
        default:
            return Case(filter: Filter.any("friends", where: Filter.key("age") > number)) {
                ($0["friends"] as? [ManagedObject] ?? []).contains { age($0).map { $0 > number } ?? false }
            }
        }
    }

    private static func tree(_ random: inout Seed, _ depth: Int) -> Case {
        if depth == 0 || random.oneIn(3) { return leaf(&random) }
        let left = tree(&random, depth - 1)
        switch random.below(3) {
        case 0:
            let right = tree(&random, depth - 1)
            return Case(filter: left.filter && right.filter) { left.swift($0) && right.swift($0) }
        case 1:
            let right = tree(&random, depth - 1)
            return Case(filter: left.filter || right.filter) { left.swift($0) || right.swift($0) }
        default: return Case(filter: !left.filter) { !left.swift($0) }
        }
    }

    private static func fill(_ person: ManagedObject, _ departments: [ManagedObject], _ random: inout Seed) {
        person["name"] = random.pick(names)
        person["age"] = random.oneIn(4) ? nil : random.below(6)
        person["department"] = random.oneIn(3) ? nil : random.pick(departments)
    }

    /// Stored, changed, inserted and deleted people, friends of each other.
    private static func mixed(_ random: inout Seed) throws -> (DynamicStore, ModelContext, [ManagedObject]) {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let departments = try (0..<4).map { try context.make("Department", ["name": "d\($0)"]) }
        var people: [ManagedObject] = []
        func add(_ count: Int) throws {
            for _ in 0..<count {
                let person = try context.insertNewObject(forEntityName: "Person")
                fill(person, departments, &random)
                person["friends"] = people.filter { _ in random.oneIn(8) }
                people.append(person)
            }
        }
        try add(40)
        try context.save()
        for _ in 0..<8 { fill(random.pick(people), departments, &random) }
        for _ in 0..<5 { context.delete(people.remove(at: random.below(people.count))) }
        try add(6)
        return (store, context, people)
    }

    @Test(arguments: 0..<12) func filtersSayWhatSwiftSays(_ number: UInt64) throws {
        var random = Seed(number)
        let (_, context, people) = try Self.mixed(&random)
        for round in 0..<60 {
            let wanted = Self.tree(&random, 3)
            let expected = Set(people.filter(wanted.swift).map(ObjectIdentifier.init))
            let request = FetchRequest(entityName: "Person", filter: wanted.filter)
            let found = Set(try context.fetch(request).map(ObjectIdentifier.init))
            let isRight = found == expected
            #expect(isRight, "seed \(number), round \(round): \(wanted.filter)")
            #expect(try context.count(for: request) == expected.count)
            let closure = FetchRequest(entityName: "Person", filter: .matching { wanted.swift($0) })
            #expect(try context.fetch(closure).count == expected.count)
        }
    }

    @Test func whatRowsCanAnswerMakesNoObject() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for number in 0..<1_000 { _ = try context.make("Person", ["name": "p\(number)", "age": number % 10]) }
        try context.save()
        let read = try store.reopened()
        #expect(try read.count(for: FetchRequest(entityName: "Person", filter: Filter.key("age") < 3)) == 300)
        #expect(read.counters.faultsFired == 0)
        let id = try #require(try read.named("p7")).objectID
        let before = read.counters.rowsRead
        let one = try read.fetch(FetchRequest(entityName: "Person", filter: .objectID(in: [id])))
        #expect(one.map(\.objectID) == [id])
        #expect(read.counters.rowsRead - before == 1)
    }

    @Test func aRelationshipIsComparedByIdentifier() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let departments = try (0..<2).map { try context.make("Department", ["name": "d\($0)"]) }
        for number in 0..<10 {
            _ = try context.make("Person", ["name": "p\(number)", "department": departments[number % 2]])
        }
        try context.save()
        let filter = Filter.key("department") == departments[1].objectID
        let found = try context.fetch(
            FetchRequest(entityName: "Person", filter: filter, sortedBy: [.descending("name")]))
        #expect(found.map { $0["name"] as? String } == ["p9", "p7", "p5", "p3", "p1"])
    }

    @Test func orderAndWindow() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for (name, age) in [("b", 2), ("a", nil), ("c", 1), ("d", 2)] {
            _ = try context.make("Person", ["name": name, "age": age])
        }
        var request = FetchRequest(entityName: "Person", sortedBy: [.descending("age"), .ascending("name")])
        #expect(try context.fetch(request).map { $0["name"] as? String } == ["b", "d", "c", "a"])
        request.fetchOffset = 1
        request.fetchLimit = 2
        #expect(try context.fetch(request).map { $0["name"] as? String } == ["d", "c"])
        request.includesPendingChanges = false
        #expect(try context.fetch(request).isEmpty)
        try context.save()
        var walked: [String] = []
        try context.enumerate(FetchRequest(entityName: "Person"), batchSize: 2) {
            walked.append($0["name"] as? String ?? "")
        }
        #expect(walked == ["b", "a", "c", "d"])
    }

    @Test(arguments: [
        (Filter.key("agee") == 3, "Person has no property \"agee\". Did you mean \"age\"?"),
        (Filter.key("age") == "x", "Person.age cannot be compared"),
        (Filter.key("department.nme") == "x", "Department has no property \"nme\". Did you mean \"name\"?"),
        (Filter.key("name.first") == "x", "Person.name is no relationship"),
        (Filter.key("friends.name") == "x", "Person.friends is a to-many relationship"),
        (Filter.key("friends") == 3, "Person.friends cannot be compared"),
        (Filter.key("age").contains("x"), "Person.age is not text"),
        (Filter.any("department", where: Filter.key("name") == "x"), "Person.department is no to-many"),
        (Filter.key("age") == Date.now...Date.now, "cannot be compared with a value of type"),
    ])
    func aFilterThatMakesNoSenseIsRefusedWhenPrepared(_ filter: Filter, _ reason: String) throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        do {
            _ = try context.fetch(FetchRequest(entityName: "Person", filter: filter))
            Issue.record("The fetch went through.")
        } catch let error as SwiftDataError {
            #expect(error == .unsupportedPredicate)
            #expect(error.explanation.contains(reason), "\(error)")
        }
    }
}
