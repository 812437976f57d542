import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Testing

@Suite struct AggregateTests {
    private static let texts = ["", "a", "é", "e\u{301}", "zz", String(repeating: "long", count: 1_500)]

    private static func fill(_ object: Optionals, _ random: inout Seed) {
        func maybe<V>(_ value: V) -> V? { random.oneIn(4) ? nil : value }
        object.bool = maybe(random.oneIn(2))
        object.int = maybe(random.below(10) - 5)
        object.int8 = maybe(Int8(random.below(4)))
        object.uint64 = maybe(UInt64(random.below(4)))
        object.float = maybe(Float(random.below(5)) - 2)
        object.double = maybe(random.pick([-1.5, 0, -0.0, 2, 1e300]))
        object.string = maybe(random.pick(texts))
        object.date = maybe(Date(timeIntervalSinceReferenceDate: Double(random.below(5))))
        object.decimal = maybe(Decimal(random.below(5)) / 2 - 1)
        object.rank = maybe(random.pick(Rank.allCases))
        object.named = random.pick(texts)
        object.preset = random.below(100)
    }

    /// Stored, changed, inserted and deleted objects, mixed.
    private static func mixed(_ random: inout Seed) throws -> (TestStore, ModelContext, [Optionals]) {
        let store = try TestStore(Optionals.self, place: .memory)
        let context = store.context()
        var objects: [Optionals] = []
        func add(_ count: Int) {
            for _ in 0..<count {
                let object = Optionals()
                fill(object, &random)
                context.insert(object)
                objects.append(object)
            }
        }
        add(60)
        try context.save()
        for _ in 0..<12 { fill(objects[random.below(60)], &random) }
        for _ in 0..<8 { context.delete(objects.remove(at: random.below(objects.count))) }
        add(10)
        return (store, context, objects)
    }

    private func check(_ context: ModelContext, _ objects: [Optionals], _ predicate: Predicate<Optionals>?) throws {
        let wanted = try objects.filter { try predicate?.evaluate($0) ?? true }
        let descriptor = FetchDescriptor(predicate: predicate)
        let (count, ints, sum, sum8, sum64) = try context.fetchAggregates(
            descriptor, .count, .count(\.int), .sum(\.int), .sum(\.int8), .sum(\.uint64))
        #expect(count == wanted.count)
        #expect(ints == wanted.count { $0.int != nil })
        #expect(sum == wanted.compactMap(\.int).reduce(0, +))
        #expect(sum8 == wanted.compactMap(\.int8).reduce(0) { $0 + Int($1) })
        #expect(sum64 == wanted.compactMap(\.uint64).reduce(0) { $0 + Int($1) })
        let (float, decimal, average, none) = try context.fetchAggregates(
            descriptor, .sum(\.float), .sum(\.decimal), .average(\.preset), .average(\.decimal))
        #expect(float == wanted.compactMap(\.float).reduce(0) { $0 + Double($1) })
        #expect(decimal == wanted.compactMap(\.decimal).reduce(0, +))
        let presets = wanted.compactMap(\.preset)
        #expect(average == (presets.isEmpty ? nil : Double(presets.reduce(0, +)) / Double(presets.count)))
        let decimals = wanted.compactMap(\.decimal)
        #expect(none == (decimals.isEmpty ? nil : decimals.reduce(0, +) / Decimal(decimals.count)))
        #expect(try context.fetchAggregates(descriptor, .minimum(\.int)) == wanted.compactMap(\.int).min())
        #expect(try context.fetchAggregates(descriptor, .maximum(\.double)) == wanted.compactMap(\.double).max())
        #expect(try context.fetchAggregates(descriptor, .minimum(\.date)) == wanted.compactMap(\.date).min())
        #expect(try context.fetchAggregates(descriptor, .maximum(\.string)) == wanted.compactMap(\.string).max())
        let named = try context.fetchAggregates(descriptor, .minimum(\.named))
        #expect(named == wanted.map(\.named).min())
        #expect(try context.fetchAggregates(descriptor, .maximum(\.decimal)) == wanted.compactMap(\.decimal).max())

        #expect(Set(try context.fetchDistinct(\.named, descriptor)) == Set(wanted.map(\.named)))
        #expect(try context.fetchDistinct(\.named, descriptor) == Set(wanted.map(\.named)).sorted())
        #expect(Set(try context.fetchDistinct(\.rank, descriptor)) == Set(wanted.map(\.rank)))
        let distinct = try context.fetchDistinct(\.double, descriptor)
        #expect(distinct.count == Set(wanted.map(\.double)).count)
        let groups = try context.fetchGroups(
            descriptor, by: \.rank, .count, .sum(\.int), having: { $0.values.0 > 1 })
        let expected = Dictionary(grouping: wanted, by: \.rank).filter { $0.value.count > 1 }
        #expect(groups.count == expected.count)
        for group in groups {
            let members = try #require(expected[group.key])
            #expect(group.values.0 == members.count)
            #expect(group.values.1 == members.compactMap(\.int).reduce(0, +))
        }
    }

    @Test("C35 (otherwise): aggregates count unsaved changes where they are included", arguments: Seed.list(8))
    func aggregatesSayWhatSwiftSays(seed: Seed) throws {
        var random = seed
        let (store, context, objects) = try Self.mixed(&random)
        let predicates: [Predicate<Optionals>?] = [
            nil, #Predicate { $0.int == 2 }, #Predicate { $0.named.count > 1 && $0.bool != nil },
            #Predicate { _ in false },
        ]
        for predicate in predicates { try check(context, objects, predicate) }
        let before = store.context()
        let stored = try before.all(Optionals.self)
        for predicate in predicates { try check(before, stored, predicate) }
        for predicate in predicates {
            var descriptor = FetchDescriptor(predicate: predicate)
            descriptor.includePendingChanges = false
            let wanted = try stored.filter { try predicate?.evaluate($0) ?? true }
            #expect(try context.fetchAggregates(descriptor, .sum(\.preset)) == wanted.compactMap(\.preset).reduce(0, +))
        }
        try context.save()
        for predicate in predicates { try check(context, objects, predicate) }
    }

    @Test func theyMakeNoObjectAndFireNoFault() throws {
        let store = try TestStore(User.self)
        let writing = store.context()
        let teams = (0..<3).map { Team("t\($0)") }
        teams.forEach(writing.insert)
        for number in 0..<300 { writing.insert(User("\(number)", age: number % 50, team: teams[number % 3])) }
        try writing.save()
        let context = try store.reopened()
        let (count, sum, oldest) = try context.fetchAggregates(
            FetchDescriptor<User>(predicate: #Predicate { $0.age < 25 }), .count, .sum(\.age), .maximum(\.age))
        #expect((count, sum, oldest) == (150, 150 * 12, 24))
        #expect(try context.fetchDistinct(\User.age).count == 50)
        let groups = try context.fetchGroups(
            FetchDescriptor<User>(), by: \.age, .count, having: { $0.key < 3 && $0.values == 6 })
        #expect(groups.map(\.key) == [0, 1, 2])
        #expect(groups.map(\.values) == [6, 6, 6])
        #expect(context.core.livingObjectCount == 0)
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 900)
        let byTeam = try context.fetchGroups(FetchDescriptor<User>(), by: \.team, .average(\.age))
        #expect(context.core.livingObjectCount == 3)
        #expect(context.counters.faultsFired == 0)
        #expect(byTeam.map { $0.key?.name } == ["t0", "t1", "t2"])
    }

    @Test func groupsByARelationshipCountWhatIsGoneAsNil() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let teams = (0..<3).map { Team("t\($0)") }
        teams.forEach(context.insert)
        for number in 0..<12 {
            context.insert(User("\(number)", age: number, team: number % 4 == 3 ? nil : teams[number % 4]))
        }
        try context.save()
        let new = Team("new")
        context.insert(new)
        context.insert(User("12", age: 12, team: new))
        context.delete(teams[1])
        let groups = try context.fetchGroups(FetchDescriptor<User>(), by: \.team, .count)
        #expect(groups.map { $0.key?.name } == [nil, "t0", "t2", "new"])
        #expect(groups.map(\.values) == [6, 3, 3, 1])
    }

    @Test func windowsCutObjectsOfOneValueAndGroupsOfMany() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        for number in 0..<10 { context.insert(User("\(number)", age: number / 2)) }
        try context.save()
        var descriptor = FetchDescriptor<User>(sortBy: [SortDescriptor(\.age, order: .reverse)])
        descriptor.fetchLimit = 2
        #expect(try context.fetchAggregates(descriptor, .sum(\.age)) == 8)
        descriptor.fetchOffset = 1
        #expect(try context.fetchDistinct(\.age, descriptor) == [1, 2])
        let first = try context.all(User.self)[0]
        first.age = 100
        #expect(try context.fetchAggregates(descriptor, .sum(\.age)) == 8)
        descriptor.fetchOffset = 0
        #expect(try context.fetchAggregates(descriptor, .sum(\.age)) == 104)
        descriptor.includePendingChanges = false
        #expect(try context.fetchAggregates(descriptor, .sum(\.age)) == 8)
    }

    @Test func whatCannotBeComputedIsRefused() throws {
        let store = try TestStore(User.self, Scalars.self)
        let context = store.context()
        context.insert(User("a", age: .max))
        context.insert(User("b", age: 1))
        let object = Scalars()
        object.numbers = [1]
        context.insert(object)
        let error = #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.fetchAggregates(FetchDescriptor<User>(), .sum(\.age))
        }
        #expect(error?.explanation.contains("9223372036854775808") == true)
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.fetchDistinct(\Scalars.numbers)
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.fetchDistinct(\Scalars.scratch)
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.fetchDistinct(\Team.users)
        }
    }

    @Test func byName() throws {
        let store = try DynamicStore()
        let writing = ModelContext(store.container)
        let departments = try (0..<3).map { try writing.make("Department", ["name": "d\($0)"]) }
        for number in 0..<30 {
            let person = try writing.make("Person", ["name": "p\(number % 5)", "age": number])
            person["department"] = number % 10 == 0 ? nil : departments[number % 3]
        }
        try writing.save()
        let context = try store.reopened()
        var request = AggregateRequest(
            entityName: "Person", filter: Filter.key("age") < 20, .count(as: "people"), .sum("age", as: "sum"),
            .average("age", as: "average"), .minimum("name", as: "first"), .maximum("height", as: "tallest"),
            .count("department", as: "employed"))
        let one = try #require(try context.fetch(request).first)
        #expect(one["people"] as? Int == 20)
        #expect(one["sum"] as? Int == 190)
        #expect(one["average"] as? Double == 9.5)
        #expect(one["first"] as? String == "p0")
        #expect(one["tallest"] == nil)
        #expect(one["employed"] as? Int == 18)
        request.filter = nil
        request.propertiesToGroupBy = ["name", "department"]
        request.having = { ($0["people"] as? Int ?? 0) > 1 }
        let groups = try context.fetch(request)
        #expect(groups.count == 13)
        #expect(groups.first?["name"] as? String == "p0")
        #expect(groups.first?["department"] == nil)
        #expect(groups.first?["people"] as? Int == 3)
        #expect(groups.last?["department"] is PersistentIdentifier)
        #expect(context.counters.faultsFired == 0)
        #expect(context.core.livingObjectCount == 0)
        request.propertiesToGroupBy = ["nam"]
        let error = #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(request) }
        #expect(error?.explanation.contains("Did you mean \"name\"?") == true)
    }
}
