import Faultline
import FaultlineStore
import FaultlineTestSupport
import Testing

@Suite struct FilterTests {
    /// A filter, and the same condition in Swift.
    private struct Case: Sendable {
        let filter: Filter
        let swift: @Sendable (ManagedObject) -> Bool
    }

    private static let names = ["", "a", "ab", "abc", "é", "e\u{301}", "zz"]

    private static func age(_ object: ManagedObject) -> Int? { object["age"] as? Int }
    private static func name(_ object: ManagedObject) -> String? { object["name"] as? String }
    private static func department(_ object: ManagedObject) -> ManagedObject? { object["department"] as? ManagedObject }

    private static func leaf(_ random: inout Seed, _ ids: [PersistentIdentifier]) -> Case {
        let number = random.below(6)
        let text = random.pick(names)
        let id = random.pick(ids)
        switch random.below(17) {
        case 0: return Case(filter: Filter.key("age") == number) { age($0) == number }
        case 1: return Case(filter: Filter.key("age") != number) { age($0) != number }
        case 2: return Case(filter: Filter.key("age") < number) { age($0).map { $0 < number } ?? false }
        case 3: return Case(filter: Filter.key("age") >= number) { age($0).map { $0 >= number } ?? false }
        case 4: return Case(filter: Filter.key("age") == nil) { age($0) == nil }
        case 5: return Case(filter: Filter.key("name") == text) { name($0) == text }
        case 6:
            // Every text contains the empty one, although Foundation disagrees.
            return Case(filter: Filter.key("name").contains(text)) {
                name($0).map { text.isEmpty || $0.contains(text) } ?? false
            }
        case 7: return Case(filter: Filter.key("name").beginsWith(text)) { name($0)?.starts(with: text) == true }
        case 8: return Case(filter: Filter.key("name").isIn(["a", text])) { ["a", text].contains(name($0)) }
        case 9: return Case(filter: Filter.key("department") == nil) { department($0) == nil }
        case 13: return Case(filter: Filter.key("department") == id) { department($0)?.objectID == id }
        case 14: return Case(filter: Filter.key("department") != id) { department($0)?.objectID != id }
        case 15:
            let other = random.pick(ids)
            return Case(filter: Filter.key("department").isIn([id, other])) {
                department($0).map { [id, other].contains($0.objectID) } ?? false
            }
        case 16: return Case(filter: .objectID(in: [id])) { $0.objectID == id }
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

    private static func tree(_ random: inout Seed, _ depth: Int, _ ids: [PersistentIdentifier]) -> Case {
        if depth == 0 || random.oneIn(3) { return leaf(&random, ids) }
        let left = tree(&random, depth - 1, ids)
        switch random.below(3) {
        case 0:
            let right = tree(&random, depth - 1, ids)
            return Case(filter: left.filter && right.filter) { left.swift($0) && right.swift($0) }
        case 1:
            let right = tree(&random, depth - 1, ids)
            return Case(filter: left.filter || right.filter) { left.swift($0) || right.swift($0) }
        default: return Case(filter: !left.filter) { !left.swift($0) }
        }
    }

    private static func fill(_ person: ManagedObject, _ departments: [ManagedObject], _ random: inout Seed) {
        person["name"] = random.pick(names)
        person["age"] = random.oneIn(4) ? nil : random.below(6)
        person["department"] = random.oneIn(3) ? nil : random.pick(departments)
    }

    /// Stored, changed, inserted and deleted people who are friends of each other, in departments of all these kinds.
    private struct Mixture {
        let store: DynamicStore
        let context: ModelContext
        let people: [ManagedObject]
        /// Identifiers of departments, including deleted and unsaved ones, and of some people.
        let ids: [PersistentIdentifier]
    }

    private static func mixed(_ random: inout Seed) throws -> Mixture {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        var departments = try (0..<5).map { try context.make("Department", ["name": "d\($0)"]) }
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
        departments += try (5..<8).map { try context.make("Department", ["name": "d\($0)"]) }
        for _ in 0..<8 { fill(random.pick(people), departments, &random) }
        for _ in 0..<5 { context.delete(people.remove(at: random.below(people.count))) }
        try add(6)
        // Not saved, so no delete rule has been applied yet: the people of these departments have none.
        context.delete(departments[random.below(5)])
        context.delete(departments[5 + random.below(3)])
        return Mixture(
            store: store, context: context, people: people,
            ids: departments.map(\.objectID) + people.suffix(8).map(\.objectID))
    }

    @Test(arguments: 0..<12) func filtersSayWhatSwiftSays(_ number: UInt64) throws {
        var random = Seed(number)
        let mixture = try Self.mixed(&random)
        let stored = ModelContext(mixture.store.container)
        let storedPeople = try stored.fetch(FetchRequest(entityName: "Person"))
        for round in 0..<60 {
            let wanted = Self.tree(&random, 3, mixture.ids)
            let expected = Set(mixture.people.filter(wanted.swift).map(ObjectIdentifier.init))
            var request = FetchRequest(entityName: "Person", filter: wanted.filter)
            let found = Set(try mixture.context.fetch(request).map(ObjectIdentifier.init))
            let isRight = found == expected
            #expect(isRight, "seed \(number), round \(round): \(wanted.filter)")
            #expect(try mixture.context.count(for: request) == expected.count)
            let closure = FetchRequest(entityName: "Person", filter: .matching { wanted.swift($0) })
            #expect(try mixture.context.fetch(closure).count == expected.count)

            request.includesPendingChanges = false
            let saved = Set(try mixture.context.fetchIdentifiers(request))
            let isRightWithoutChanges = saved == Set(storedPeople.filter(wanted.swift).map(\.objectID))
            #expect(isRightWithoutChanges, "seed \(number), round \(round), as stored: \(wanted.filter)")
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
        (Filter.key("friends") == nil, "Person.friends cannot be compared"),
        (Filter.key("friends").isIn([]), "Person.friends cannot be compared"),
        (Filter.key("department") == 5, "Give an objectID"),
        (Filter.key("department").isIn([5]), "Give an objectID"),
        (Filter.key("department") < 5, "it is a relationship"),
        (Filter.key("tags") == Data([1]), "Person.tags cannot be compared"),
        (Filter.key("department.budget") == 0.1, "Department.budget cannot be compared exactly"),
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

    @Test func numbersOfDifferentTypesAreComparedExactly() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for (name, budget) in [("a", "12.5"), ("b", "100"), ("c", "-0.25")] {
            let department = try context.make("Department", ["name": name, "budget": Decimal(string: budget)])
            _ = try context.make("Person", ["name": name, "age": Int(name.utf8.first ?? 0), "department": department])
        }
        try context.save()
        func names(_ entity: String, _ filter: Filter) throws -> [String] {
            try context.fetch(FetchRequest(entityName: entity, filter: filter)).compactMap { $0["name"] as? String }
        }
        #expect(try names("Department", Filter.key("budget") == 12.5) == ["a"])
        #expect(try names("Department", Filter.key("budget") > Float(12.5)) == ["b"])
        #expect(try names("Department", Filter.key("budget") == 100) == ["b"])
        #expect(try names("Department", Filter.key("budget") < -0.125) == ["c"])
        #expect(try names("Person", Filter.key("age") >= Decimal(98)) == ["b", "c"])
        #expect(try names("Person", Filter.key("name") == "xb".dropFirst()) == ["b"])
    }

    @Test func textIsComparedWithoutCaseAndDiacritics() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for name in ["Été", "ete", "ÉTÉS", "tea"] { _ = try context.make("Person", ["name": name]) }
        try context.save()
        func names(_ filter: Filter) throws -> [String] {
            try context.fetch(FetchRequest(entityName: "Person", filter: filter)).compactMap { $0["name"] as? String }
        }
        let name = Filter.key("name")
        #expect(try names(name.isEqual(to: "ÊTE", [.ignoringCase, .ignoringDiacritics])) == ["Été", "ete"])
        #expect(try names(name.isEqual(to: "été", .ignoringCase)) == ["Été"])
        #expect(try names(name.contains("TE", .ignoringCase)) == ["ete", "tea"])
        #expect(try names(name.beginsWith("ete", [.ignoringCase, .ignoringDiacritics])) == ["Été", "ete", "ÉTÉS"])
        #expect(try names(name.endsWith("e")) == ["ete"])
        #expect(try names(!name.endsWith("e", .ignoringDiacritics)) == ["ÉTÉS", "tea"])
        #expect(try names(name.endsWith("")).count == 4)
    }

    @Test func aDecimalIsADoubleOnlyWhereNothingIsLost() {
        var random = Seed(5)
        for _ in 0..<1_000 {
            let numerator = Int(random.below(1 << 30)) - 1 << 29
            let value = Double(numerator) / Double(1 << random.below(40))
            #expect(StoredDecimal(exactly: value)?.exactDouble == value)
        }
        for value in [0.1, .nan, .infinity, 1e300, .leastNonzeroMagnitude] {
            #expect(StoredDecimal(exactly: value) == nil)
        }
        #expect(StoredDecimal(exactly: 0x1p100) == StoredDecimal(mantissa: 1 << 100, exponent: 0))
        #expect(StoredDecimal(mantissa: 1, exponent: -1).exactDouble == nil)
        #expect(StoredDecimal(mantissa: 15, exponent: -1).exactInteger == nil)
        #expect(StoredDecimal(mantissa: 70, exponent: -1, isNegative: true).exactInteger == .int(-7))
        #expect(StoredDecimal(mantissa: 1 << 63, exponent: 0, isNegative: true).exactInteger == .int(.min))
        #expect(StoredDecimal(mantissa: 1 << 63, exponent: 0).exactInteger == .uint(1 << 63))
        #expect(StoredDecimal(mantissa: 1, exponent: 30).exactInteger == nil)
    }
}
