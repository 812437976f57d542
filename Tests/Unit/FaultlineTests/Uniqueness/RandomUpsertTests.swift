import Faultline
import FaultlineTestSupport
import Testing

/// Objects that replace stored ones, with a to-one relationship in one of their keys, compared with plain values.
///
/// They are read through every object that was ever held.
@Suite struct RandomUpsertTests {
    @Test(arguments: Seed.list(10, unoptimized: 5)) func theStoreAgreesWithPlainValues(seed: Seed) throws {
        let life = try UpsertLife(seed)
        for round in 0..<40 {
            var unit = UpsertLife.Unit(next: life.plain)
            for step in 0..<(1 + life.random.below(6)) { try life.change(&unit, note: round * 10 + step) }
            try life.end(unit)
            guard try life.check() else { return }
            try life.reopenNowAndThen()
        }
        #expect(life.saveCount > 5)
    }

    @Test func anObjectThatTookAnothersPlaceIsThatObject() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let user = User("a", age: 1)
        context.insert(user)
        try context.save()
        let alias = User("a", age: 2)
        context.insert(alias)
        try context.save()
        #expect(alias.age == 2)
        user.age = 3
        #expect(alias.age == 3)
        #expect(alias.hasChanges)
        try context.save()
        #expect(alias.age == 3)
        alias.first = "F"
        alias.team = Team("t")
        #expect(user.first == "F")
        #expect(user.team?.name == "t")
        #expect(alias.team === user.team)
        #expect(user.team?.users == [user])
        #expect(user.team?.users.first === user)
        #expect(context.changedModelsArray.count == 1)
        try context.save()
        // When it is added to a collection, it is the existing member.
        let team = try #require(user.team)
        team.users = [alias]
        try context.save()
        #expect(try store.reopened().first(Team.self).users.count == 1)
    }

    @Test func anObjectThatTookAnothersPlaceIsDeletedWithIt() throws {
        let store = try TestStore(User.self)
        for deletesAlias in [true, false] {
            let context = store.context()
            let user = User("a", age: 1)
            context.insert(user)
            try context.save()
            let alias = User("a", age: 2)
            context.insert(alias)
            try context.save()
            context.delete(deletesAlias ? alias : user)
            #expect(alias.isDeleted && user.isDeleted)
            user.age = 5
            try context.save()
            #expect(alias.isDeleted && user.isDeleted)
            #expect(alias.modelContext == nil)
            #expect(alias.age == 5)
            #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 0)
        }
    }

    @Test func aValueByReferenceIsCopiedByAnUpsert() throws {
        let store = try TestStore(Page.self, Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 7, count: 20_000)
        context.insert(photo)
        context.insert(Page("a"))
        try context.save()
        let page = Page("a")
        page.setBlob(photo.blob(\.large), for: \.picture)
        context.insert(page)
        try context.save()
        context.delete(photo)
        try context.save()
        #expect(try store.reopened().first(Page.self).picture == Data(repeating: 7, count: 20_000))
    }

    @Test func anUpdateAndAnInsertOfOneSaveLeaveOneSetOfKeys() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        let user = User("a", first: "A", last: "A")
        context.insert(user)
        try context.save()
        user.first = "B"
        user.last = "B"
        context.insert(User("a", first: "C", last: "C"))
        try context.save()
        try store.verify()
        context.insert(User("b", first: "B", last: "B"))
        try context.save()
        #expect(try store.reopened().all(User.self).map(\.first) == ["C", "B"])
    }
}
