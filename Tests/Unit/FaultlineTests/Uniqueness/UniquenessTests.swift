import Faultline
import Testing

@Suite struct UniquenessTests {
    @Test func anInsertWithAStoredKeyTakesThatObjectsPlace() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let team = Team("t")
        let user = User("a", first: "A", last: "B", age: 1, team: team)
        context.insert(user)
        try context.save()
        let identifier = user.persistentModelID
        let new = User("a", first: "C", age: 2)
        context.insert(new)
        try context.save()
        #expect(new.persistentModelID == identifier)
        #expect(user.age == 2)
        #expect(user.first == "C")
        #expect(user.last == nil)
        // A relationship that the new object did not set is kept.
        #expect(user.team === team)
        let other = Team("other")
        context.insert(User("a", age: 3, team: other))
        try context.save()
        #expect(user.age == 3)
        #expect(user.team === other)
        #expect(other.users.count == 1)
        #expect(team.users.isEmpty)
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<User>()) == 1)
        #expect(try again.first(User.self).persistentModelID == identifier)
        #expect(try again.first(User.self).team?.name == "other")
    }

    @Test func keysThatAnUpsertGivesUpAreFreeAgain() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("a", first: "A", last: "B"))
        try context.save()
        context.insert(User("a", first: "C", last: "D"))
        try context.save()
        try store.verify()
        // The names A B are free again, C D are not.
        context.insert(User("b", first: "A", last: "B"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<User>()) == 2)
        context.insert(User("c", first: "C", last: "D", age: 9))
        try context.save()
        let users = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(users.map(\.email) == ["b", "c"])
        #expect(users.map(\.age) == [0, 9])
    }

    @Test func equalInsertsOfOneSaveMakeOneObject() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        for number in 0..<4 { context.insert(User("same", first: "F\(number)", last: "L", age: number)) }
        let team = Team("t")
        context.insert(team)
        let member = User("x", team: Team("t"))
        context.insert(member)
        try context.save()
        let again = try store.reopened()
        let users = try again.all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(users.map(\.email) == ["same", "x"])
        #expect(users[0].age == 3)
        #expect(try again.fetchCount(FetchDescriptor<Team>()) == 1)
        #expect(users[1].team?.name == "t")
        #expect(users[1].team?.users.count == 1)
    }

    @Test func twoObjectsSwapTheirValues() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let a = User("a", first: "A", last: "A")
        let b = User("b", first: "B", last: "B")
        context.insert(a)
        context.insert(b)
        try context.save()
        (a.email, b.email) = (b.email, a.email)
        (a.first, b.first) = (b.first, a.first)
        (a.last, b.last) = (b.last, a.last)
        try context.save()
        #expect(a.email == "b")
        let again = try store.reopened()
        #expect(try again.all(User.self).map(\.email) == ["b", "a"])
        let found = try again.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == "a" }))
        #expect(found.map(\.first) == ["A"])
    }

    @Test func aValueGivenUpInTheSameSaveGoesToANewObject() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let a = User("a")
        let b = User("b")
        context.insert(a)
        context.insert(b)
        try context.save()
        a.email = "c"
        context.delete(b)
        context.insert(User("a", age: 1))
        context.insert(User("b", age: 2))
        try context.save()
        let users = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(users.map(\.email) == ["a", "b", "c"])
        #expect(users.map(\.age) == [1, 2, 0])
    }

    @Test func aCollidingUpdateSavesNothingAndLeavesTheContextUsable() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let a = User("a")
        let b = User("b")
        context.insert(a)
        context.insert(b)
        try context.save()
        b.email = "a"
        a.age = 5
        let new = User("new", team: Team("t"))
        context.insert(new)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(context.hasChanges)
        #expect(try store.context().fetchCount(FetchDescriptor<User>()) == 2)
        #expect(try store.context().first(User.self).age == 0)
        #expect(new.team?.name == "t")
        b.email = "c"
        try context.save()
        #expect(b.email == "c")
        #expect(!context.hasChanges)
        let again = try store.reopened().all(User.self)
        #expect(again.map(\.email) == ["a", "c", "new"])
        #expect(again[2].team?.name == "t")
        #expect(again[0].age == 5)
    }

    @Test func nilIsEqualToNothing() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("a", first: "F"))
        context.insert(User("b", first: "F"))
        context.insert(User("c"))
        context.insert(User("d"))
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 4)
    }

    @Test func canonicallyEqualTextIsEqual() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("caf\u{E9}", age: 1))
        try context.save()
        context.insert(User("cafe\u{301}", age: 2))
        try context.save()
        let users = try store.reopened().all(User.self)
        #expect(users.map(\.age) == [2])
        #expect(users[0].email.unicodeScalars.count == 5)
    }

    @Test func anInsertThatMatchesTwoObjectsIsRefused() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("a", first: "A", last: "A"))
        context.insert(User("b", first: "B", last: "B"))
        try context.save()
        context.insert(User("a", first: "B", last: "B"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 2)
    }

    @Test func oneThousandUpsertsKeepIdentities() throws {
        let store = try TestStore(User.self, place: .memory)
        let context = store.context()
        for number in 0..<1_000 { context.insert(User("\(number)", age: 0)) }
        try context.save()
        let before = try context.all(User.self).map(\.persistentModelID)
        let second = store.context()
        for number in (0..<1_000).reversed() { second.insert(User("\(number)", age: number)) }
        try second.save()
        let after = try store.context().all(User.self)
        #expect(after.map(\.persistentModelID) == before)
        #expect(after.map(\.age) == Array(0..<1_000))
        try store.verify()
    }
}
