import Faultline
import Testing

/// Predicates that evaluate other predicates and expressions.
@Suite struct EvaluatedPredicateTests {
    private let store: TestStore
    private let context: ModelContext

    init() throws {
        store = try TestStore(User.self)
        let writing = store.context()
        let teams = ["Reds", "Blues"].map(Team.init)
        teams.forEach(writing.insert)
        for number in 0..<40 {
            let user = User("\(number)", first: "f\(number % 4)", last: "\(number)", age: number % 10)
            user.team = number % 5 == 0 ? nil : teams[number % 2]
            writing.insert(user)
        }
        try writing.save()
        context = try store.reopened()
    }

    private func emails(_ predicate: Predicate<User>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate)).map(\.email)
    }

    private func explanation(_ predicate: Predicate<User>) throws -> FetchExplanation {
        try context.explain(FetchDescriptor(predicate: predicate))
    }

    @Test func `rows answer a predicate that evaluates another one`() throws {
        let three = #Predicate<User> { $0.age == 3 }
        let both = #Predicate<User> { three.evaluate($0) && $0.first == "f1" }
        #expect(try emails(both) == ["13", "33"])
        #expect(try explanation(both).isAnsweredByRows)
        let not = #Predicate<User> { !three.evaluate($0) && $0.age < 4 }
        #expect(try emails(not) == emails(#Predicate { $0.age < 3 }))
        #expect(try explanation(not).isAnsweredByRows)
        let deep = #Predicate<User> { user in both.evaluate(user) || user.email == "0" }
        #expect(try emails(deep) == ["0", "13", "33"])
        #expect(try explanation(deep).isAnsweredByRows)
    }

    @Test func `indexes are used as if it were one predicate`() throws {
        let seventh = #Predicate<User> { $0.email == "7" }
        let found = try explanation(#Predicate { seventh.evaluate($0) && $0.age == 7 })
        #expect(found.access == .uniqueIndex(property: "email") && found.foundCount == 1 && found.rowsRead == 1)
        let identifier = try #require(context.fetch(FetchDescriptor(predicate: seventh)).first).persistentModelID
        let one = #Predicate<User> { $0.persistentModelID == identifier }
        #expect(try explanation(#Predicate { one.evaluate($0) }).access == .identifiers(count: 1))
        #expect(try explanation(.all([seventh, one])).access == .identifiers(count: 1))
        #expect(try emails(.any([one, one])) == ["7"])
    }

    @Test func `other values are evaluated`() throws {
        let reds = #Predicate<Team> { $0.name == "Reds" }
        let wanted = try emails(#Predicate { $0.team?.name == "Reds" })
        #expect(wanted.count == 16)
        #expect(try emails(#Predicate { if let team = $0.team { reds.evaluate(team) } else { false } }) == wanted)
        #expect(try emails(#Predicate { $0.team.flatMap { reds.evaluate($0) } ?? false }) == wanted)
        #expect(try emails(#Predicate { $0.team != nil && reds.evaluate($0.team!) }) == wanted)
        let young = #Predicate<User> { $0.age < 2 }
        #expect(
            try context.fetchCount(
                FetchDescriptor<Team>(predicate: #Predicate { $0.users.contains { young.evaluate($0) } }))
                == 1)
    }

    @Test func `expressions are lowered and evaluated`() throws {
        let age = #Expression<User, Int> { $0.age }
        let twice = #Expression<User, Int> { $0.age * 2 }
        #expect(try emails(#Predicate { age.evaluate($0) == 3 }) == emails(#Predicate { $0.age == 3 }))
        #expect(try explanation(#Predicate { age.evaluate($0) == 3 }).isAnsweredByRows)
        #expect(try emails(#Predicate { twice.evaluate($0) == 6 }) == emails(#Predicate { $0.age == 3 }))
        let isThree = #Expression<User, Bool> { $0.age == 3 }
        #expect(try explanation(#Predicate { isThree.evaluate($0) && $0.first == "f1" }).isAnsweredByRows)
    }

    @Test func `lists of predicates`() throws {
        let (young, first) = (#Predicate<User> { $0.age < 2 }, #Predicate<User> { $0.first == "f1" })
        #expect(try emails(.all([young, first])) == emails(#Predicate { $0.age < 2 && $0.first == "f1" }))
        #expect(try emails(.any([young, first])) == emails(#Predicate { $0.age < 2 || $0.first == "f1" }))
        #expect(try explanation(.all([young, first])).isAnsweredByRows)
        #expect(try explanation(.any([young, first])).isAnsweredByRows)
        #expect(try emails(.all([])).count == 40 && emails(.any([])).isEmpty)
        #expect(try emails(.all([young])) == emails(young) && emails(.any([young])) == emails(young))
        let mixed = Predicate.any([young, #Predicate { $0.age * 2 == 18 }])
        #expect(try emails(mixed) == emails(#Predicate { $0.age < 2 || $0.age == 9 }))
        #expect(try explanation(mixed).isAnsweredByRows)
        for number in [0, 5] {
            let user = User("x", first: "f1", age: number)
            #expect(try Predicate.all([young, first]).evaluate(user) == (number == 0))
            #expect(try Predicate.any([young, first]).evaluate(user))
        }
    }

    @Test func `a list of 10,000 predicates`() throws {
        let wide = (0..<10_000).map { number in #Predicate<User> { $0.age == number } }
        #expect(try context.fetchCount(FetchDescriptor(predicate: Predicate.any(wide))) == 40)
        #expect(try context.fetchCount(FetchDescriptor(predicate: Predicate.all(wide))) == 0)
        let computed = (0..<10_000).map { number in #Predicate<User> { $0.age + 1 == number } }
        #expect(try context.fetchCount(FetchDescriptor(predicate: Predicate.any(computed))) == 40)
    }

    @Test func `a loop joins predicates to a list`() throws {
        var joined = #Predicate<User> { $0.age >= 0 }
        for number in 100..<2_000 { joined = .all([joined, #Predicate { $0.age + 1 != number }]) }
        #expect(try context.fetchCount(FetchDescriptor(predicate: joined)) == 40)
        #expect(try joined.evaluate(User("x")))
    }

    @Test func `predicates too deep inside of each other are refused, and released`() throws {
        let young = #Predicate<User> { $0.age < 2 }
        var inner = young
        var mixed = young
        for depth in 1...5_000 {
            let (last, other) = (inner, mixed)
            inner = #Predicate { last.evaluate($0) && $0.age != 7 }
            mixed = depth % 2 == 0 ? .all([other, young]) : .any([other, young])
            guard [30, 40, 5_000].contains(depth) else { continue }
            for predicate in [inner, mixed] {
                let descriptor = FetchDescriptor(predicate: predicate)
                if depth == 30 {
                    #expect(try context.fetchCount(descriptor) == 8)
                } else {
                    let error = #expect(throws: SwiftDataError.self) { try context.fetchCount(descriptor) }
                    #expect(error?.explanation.contains("Predicate.all or Predicate.any") == true)
                    #expect(throws: SwiftDataError.unsupportedPredicate) { try predicate.evaluate(User("x")) }
                }
            }
        }
    }

    @Test func `an optional list of identifiers is a list of identifiers`() throws {
        let some: [PersistentIdentifier]? = Array(try context.fetchIdentifiers(FetchDescriptor<User>()).prefix(3))
        let found = try explanation(#Predicate { (some ?? []).contains($0.persistentModelID) })
        #expect(found.access == .identifiers(count: 3) && found.foundCount == 3)
    }

    @Test func `a name of a branch hides no constant of the other branch`() throws {
        let first = "constant"
        let text = #Expression<User, String> { user in
            if let first = user.first, user.age > 5 { first } else { "\(first)!" }
        }
        let users = try context.all(User.self)
        #expect(try users.map { try text.evaluate($0) } == users.map { $0.age > 5 ? $0.first ?? "" : "constant!" })
    }

    @Test("A15: arithmetic in a predicate that is evaluated is checked")
    func arithmetic() throws {
        let writing = store.context()
        writing.insert(User("big", age: .max))
        try writing.save()
        let sum = #Predicate<User> { $0.age + 1 > 5 }
        let more = #Expression<User, Int> { $0.age + 1 }
        for predicate in [
            #Predicate<User> { sum.evaluate($0) }, #Predicate<User> { more.evaluate($0) > 5 },
            Predicate.all([sum, #Predicate { $0.first != "x" }]), Predicate.any([#Predicate { $0.age < 0 }, sum]),
            #Predicate<User> { more.evaluate($0) > 5 && $0.age + 1 > 5 },
        ] as [Predicate<User>] {
            #expect(throws: SwiftDataError.unsupportedPredicate) {
                try store.context().fetch(FetchDescriptor(predicate: predicate))
            }
        }
        let guarded = #Predicate<User> { $0.age < 100 && sum.evaluate($0) && more.evaluate($0) < 8 }
        #expect(try store.context().fetch(FetchDescriptor(predicate: guarded)).allSatisfy { (5..<7).contains($0.age) })
    }

    @Test func `equal predicates are equal`() {
        func isSame(_ left: Predicate<User>, _ right: Predicate<User>) -> Bool {
            FetchDescriptor(predicate: left) == FetchDescriptor(predicate: right)
        }
        func older(_ age: Int) -> Predicate<User> { #Predicate { $0.age > age } }
        func outer(_ inner: Predicate<User>) -> Predicate<User> { #Predicate { inner.evaluate($0) && $0.age != 7 } }
        #expect(isSame(outer(older(1)), outer(older(1))) && !isSame(outer(older(1)), outer(older(2))))
        #expect(isSame(.all([older(1), older(2)]), .all([older(1), older(2)])))
        #expect(!isSame(.all([older(1), older(2)]), .any([older(1), older(2)])))
        #expect(!isSame(.all([older(1), older(2)]), .all([older(1), older(3)])))
        #expect(isSame(.all([]), .all([])) && !isSame(.all([]), .any([])))
    }
}
