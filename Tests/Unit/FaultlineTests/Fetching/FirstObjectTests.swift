import Faultline
import Foundation
import Testing

/// `first(_:equals:)` returns the object of a fetch of the same condition.
@Suite struct FirstObjectTests {
    private func users(_ count: Int, in store: TestStore) throws -> ModelContext {
        let context = store.context()
        for number in 0..<count {
            let name = (first: "first \(number % 3)", last: "last \(number)")
            context.insert(User("\(number)@a.test", first: name.first, last: name.last, age: number % 5))
        }
        try context.save()
        return context
    }

    /// Compares with a fetch, by a unique and by another attribute.
    private func check(_ context: ModelContext, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for email in (0..<12).map({ "\($0)@a.test" }) + ["", "new@a.test", "10@A.test"] {
            let found = try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email }))
            #expect(
                try context.first(\User.email, equals: email) === found.first, "\(email)",
                sourceLocation: sourceLocation)
        }
        for age in -1...5 {
            let found = try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.age == age }))
            #expect(
                try context.first(\User.age, equals: age) === found.first, "\(age)", sourceLocation: sourceLocation)
        }
        for name in [nil, "first 1", "first 7"] {
            let found = try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.first == name }))
            #expect(
                try context.first(\User.first, equals: name) === found.first, "\(String(describing: name))",
                sourceLocation: sourceLocation)
        }
    }

    @Test func aStoredObjectIsFound() throws {
        let store = try TestStore(User.self)
        let context = try users(10, in: store)
        try check(context)
        let second = try store.reopened()
        #expect(try second.first(\User.email, equals: "7@a.test")?.last == "last 7")
        #expect(second.counters.rowsRead == 1)
        try check(second)
    }

    @Test func unsavedChangesCount() throws {
        let store = try TestStore(User.self)
        let context = try users(10, in: store)
        let added = User("new@a.test", first: "first 7")
        context.insert(added)
        #expect(try context.first(\User.email, equals: "new@a.test") === added)
        #expect(try context.first(\User.first, equals: "first 7") === added)
        let changed = try #require(try context.first(\User.email, equals: "3@a.test"))
        changed.email = "11@a.test"
        #expect(try context.first(\User.email, equals: "3@a.test") == nil)
        #expect(try context.first(\User.email, equals: "11@a.test") === changed)
        try check(context)
        changed.email = "3@a.test"
        #expect(try context.first(\User.email, equals: "3@a.test") === changed)
        try check(context)
        try context.save()
        try check(context)
        try check(try store.reopened())
    }

    @Test func deletedObjectsAreNotFound() throws {
        let store = try TestStore(User.self)
        let context = try users(10, in: store)
        context.delete(try #require(try context.first(\User.email, equals: "4@a.test")))
        #expect(try context.first(\User.email, equals: "4@a.test") == nil)
        try check(context)
        let added = User("new@a.test")
        context.insert(added)
        context.delete(added)
        #expect(try context.first(\User.email, equals: "new@a.test") == nil)
        context.rollback()
        #expect(try context.first(\User.email, equals: "4@a.test") != nil)
        context.delete(try #require(try context.first(\User.email, equals: "4@a.test")))
        try context.save()
        #expect(try context.first(\User.email, equals: "4@a.test") == nil)
        try check(context)
    }

    @Test func theNewestStateIsSeenUnlessPinned() throws {
        let store = try TestStore(User.self)
        let context = try users(3, in: store)
        let other = store.context()
        let pinned = store.context()
        try pinned.pin()
        #expect(try other.first(\User.email, equals: "9@a.test") == nil)
        context.insert(User("9@a.test", age: 9))
        let first = try #require(try context.first(\User.email, equals: "0@a.test"))
        first.age = 50
        try context.save()
        #expect(try other.first(\User.email, equals: "9@a.test")?.age == 9)
        #expect(try other.first(\User.email, equals: "0@a.test")?.age == 50)
        #expect(try pinned.first(\User.email, equals: "9@a.test") == nil)
        #expect(try pinned.first(\User.email, equals: "0@a.test")?.age == 0)
    }

    @Test func theFirstOfSeveralIsReturned() throws {
        let store = try TestStore(User.self)
        let context = try users(10, in: store)
        #expect(try context.first(\User.first, equals: "first 1")?.email == "1@a.test")
        #expect(try context.first(\User.age, equals: 4)?.email == "4@a.test")
    }

    @Test func anUnknownClassIsRefused() throws {
        let store = try TestStore(User.self)
        #expect(throws: SwiftDataError.unknownSchema) { try store.context().first(\Page.address, equals: "a") }
    }

    @Test func anAccountHasTheCall() throws {
        let store = try TestStore(User.self)
        _ = try users(3, in: store)
        let context = store.context()
        let account = FaultAccount()
        context.faultAccount = account
        _ = try context.first(\User.email, equals: "1@a.test")
        #expect(account.entries.map(\.source.entityName) == ["User"])
        #expect(account.entries.map(\.rowCount) == [1])
        #expect(account.entries.first?.source.site?.hasPrefix("FaultlineTests/FirstObjectTests.swift:") == true)
    }
}
