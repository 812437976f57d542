import Faultline
import Testing

/// Rules that apply to the newest state of the store, not to the state that a context has read.
@Suite struct SaveRuleTests {
    private func findings(
        _ context: ModelContext, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [ValidationFinding] {
        do {
            try context.save()
            Issue.record("It was saved.", sourceLocation: sourceLocation)
            return []
        } catch {
            #expect(error as? SwiftDataError == .modelValidationFailure, "\(error)", sourceLocation: sourceLocation)
            return (error as? SwiftDataError)?.findings ?? []
        }
    }

    /// Crews of some sailors, and two contexts that have read them.
    private func crews(
        _ store: TestStore, sailors: Int
    ) throws -> (first: ModelContext, ours: Crew, second: ModelContext, theirs: Crew) {
        let context = store.context()
        context.insert(Crew(sailors: (0..<sailors).map { _ in Sailor() }))
        try context.save()
        let (first, second) = (store.context(), store.context())
        let (ours, theirs) = (try first.first(Crew.self), try second.first(Crew.self))
        #expect(ours.sailors.count == sailors && theirs.sailors.count == sailors)
        return (first, ours, second, theirs)
    }

    @Test("A7: two contexts together do not exceed a greatest count")
    func greatestCounts() throws {
        let store = try TestStore(Crew.self)
        let (first, ours, second, theirs) = try crews(store, sailors: 2)
        ours.sailors.append(Sailor())
        theirs.sailors.append(Sailor())
        try first.save()
        let found = findings(second)
        #expect(found.map(\.rule) == [.maximumModelCount])
        #expect(found.first?.propertyName == "sailors")
        #expect(found.first?.object == theirs.persistentModelID)
        #expect(try store.reopened().first(Crew.self).sailors.count == 3)
    }

    @Test("A7: two contexts together do not exceed a greatest count of links")
    func greatestCountsOfLinks() throws {
        let store = try TestStore(Crew.self)
        let (first, ours, second, theirs) = try crews(store, sailors: 2)
        ours.boats.append(Boat())
        theirs.boats.append(Boat())
        try first.save()
        #expect(findings(second).map(\.rule) == [.maximumModelCount])
        #expect(try store.reopened().first(Crew.self).boats.count == 1)
    }

    @Test("A7: two contexts together do not fall below a least count")
    func leastCounts() throws {
        let store = try TestStore(Crew.self)
        let (first, ours, second, theirs) = try crews(store, sailors: 2)
        ours.sailors.removeFirst()
        theirs.sailors.removeLast()
        try first.save()
        #expect(findings(second).map(\.rule) == [.minimumModelCount])
        #expect(try store.reopened().first(Crew.self).sailors.count == 1)
    }

    @Test("A7: a collection that an object was moved to meanwhile keeps its least count")
    func leastCountsOfUnseenOwners() throws {
        let store = try TestStore(Crew.self)
        let context = store.context()
        for name in ["a", "b", "c"] { context.insert(Crew(name, sailors: [Sailor()])) }
        try context.save()
        let order = [SortDescriptor(\Crew.name)]
        try context.all(Crew.self, sortBy: order)[0].sailors.append(Sailor())
        try context.save()
        let (first, second) = (store.context(), store.context())
        let (ours, theirs) = (try first.all(Crew.self, sortBy: order), try second.all(Crew.self, sortBy: order))
        // Moves a sailor from a to b, where it may replace the previous one.
        let moved = try #require(theirs[0].sailors.first)
        let same = try #require(ours[0].sailors.first { $0.persistentModelID == moved.persistentModelID })
        let before = try #require(theirs[1].sailors.first)
        moved.crew = theirs[1]
        before.crew = theirs[2]
        // Moves it from a to c, which leaves b without sailors.
        same.crew = ours[2]
        try second.save()
        #expect(findings(first).map(\.rule) == [.minimumModelCount])
        #expect(try store.reopened().all(Crew.self, sortBy: order).map(\.sailors.count) == [1, 1, 2])
    }

    @Test("A7: a relationship that denies a deletion counts objects that were added meanwhile")
    func denials() throws {
        let store = try TestStore(Depot.self)
        let context = store.context()
        let depot = Depot()
        context.insert(depot)
        try context.save()
        let (first, second) = (store.context(), store.context())
        let ours = try first.first(Depot.self)
        // The code of the class is called after the decision to delete, and before the transaction.
        ours.whileValidating = {
            let crate = Crate()
            crate.depot = try second.first(Depot.self)
            second.insert(crate)
            try second.save()
        }
        first.delete(ours)
        let found = findings(first)
        #expect(found.map(\.rule) == [.deny])
        #expect(found.first?.object == depot.persistentModelID)
        #expect(try store.reopened().first(Depot.self).crates.count == 1)
    }

    @Test("A7: a cascade takes objects along that were added meanwhile")
    func cascades() throws {
        let store = try TestStore(Depot.self)
        let context = store.context()
        context.insert(Depot())
        try context.save()
        let (first, second) = (store.context(), store.context())
        let ours = try first.first(Depot.self)
        ours.whileValidating = {
            let note = DepotNote()
            note.depot = try second.first(Depot.self)
            second.insert(note)
            try second.save()
        }
        first.delete(ours)
        try first.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<DepotNote>()) == 0)
    }

    @Test("A7: a reference to an object that was deleted meanwhile is refused")
    func referencesToDeletedObjects() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let list = Playlist("p")
        context.insert(list)
        let song = Song("s")
        context.insert(song)
        try context.save()
        let other = store.context()
        let ours = try other.first(Playlist.self)
        ours.favourite = try other.first(Song.self)
        context.delete(song)
        try context.save()
        let found = findings(other)
        #expect(found.map(\.rule) == [.missingObject])
        #expect(found.first?.propertyName == "favourite")
        #expect(try store.reopened().first(Playlist.self).favourite == nil)
    }

    @Test("A7: an object that was deleted together with its new target is one finding", arguments: [true, false])
    func objectsDeletedWithTheirTargets(isNullifying: Bool) throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let (list, song) = (Playlist("p"), Song("s"))
        context.insert(list)
        context.insert(song)
        try context.save()
        let other = store.context()
        other.danglingReferences = isNullifying ? .nullify : .refuse
        let ours = try other.first(Playlist.self)
        ours.favourite = try other.first(Song.self)
        context.delete(song)
        context.delete(list)
        try context.save()
        let found = findings(other)
        #expect(found.map(\.rule) == [.deletedElsewhere])
        #expect(found.first?.object == ours.persistentModelID)
    }

    @Test("A7: a link to an object that was deleted meanwhile is refused")
    func linksToDeletedObjects() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        context.insert(Playlist("p"))
        let song = Song("s")
        context.insert(song)
        try context.save()
        let other = store.context()
        try other.first(Playlist.self).songs = [try other.first(Song.self)]
        context.delete(song)
        try context.save()
        #expect(findings(other).map(\.rule) == [.missingObject])
    }

    @Test("A7: .nullify saves references and links to deleted objects as none")
    func nullifying() throws {
        let store = try TestStore(Playlist.self, Document.self)
        let context = store.context()
        context.insert(Playlist("p"))
        let songs = [Song("s"), Song("t")]
        songs.forEach(context.insert)
        let body = Body()
        context.insert(body)
        context.insert(Document("d"))
        try context.save()
        let other = store.context()
        other.danglingReferences = .nullify
        let list = try other.first(Playlist.self)
        let theirs = try other.all(Song.self, sortBy: [SortDescriptor(\.name)])
        list.songs = theirs
        list.favourite = theirs[0]
        // Changes both sides of a relationship.
        let document = try other.first(Document.self)
        document.body = try other.first(Body.self)
        document.title = "e"
        context.delete(songs[0])
        context.delete(body)
        try context.save()
        try other.save()
        #expect(list.songs == [theirs[1]])
        #expect(list.favourite == nil)
        let read = try store.reopened()
        #expect(try read.first(Playlist.self).songs.map(\.name) == ["t"])
        #expect(try read.first(Document.self).title == "e")
        #expect(try read.first(Document.self).body == nil)
    }

    @Test("A7: .nullify saves a collection without members that were deleted, whose inverse is a reference to one")
    func nullifyingMembers() throws {
        let store = try TestStore(Team.self, Crew.self)
        let context = store.context()
        context.insert(Team("t"))
        let users = ["a", "b", "c"].map { User($0) }
        users.forEach(context.insert)
        try context.save()
        let other = store.context()
        other.danglingReferences = .nullify
        let team = try other.first(Team.self)
        let theirs = try other.all(User.self, sortBy: [SortDescriptor(\.email)])
        team.users = theirs
        theirs[2].age = 3
        users.prefix(2).forEach(context.delete)
        try context.save()
        // Safe because notifications come on the thread of the save, which is the test's.
        nonisolated(unsafe) var told: Set<PersistentIdentifier> = []
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: other, queue: nil) {
            told = $0.userInfo?[ModelContext.NotificationKey.updatedIdentifiers.rawValue] as? Set ?? []
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.save()
        #expect(told == [team.persistentModelID, theirs[2].persistentModelID])
        #expect(team.users == [theirs[2]])
        let read = try store.reopened()
        #expect(try read.first(Team.self).users.map(\.age) == [3])
        #expect(try read.fetchCount(FetchDescriptor<User>()) == 1)
    }

    @Test("A7: under .nullify a member that is gone is a finding if more of it was changed")
    func nullifyingChangedMembers() throws {
        let store = try TestStore(Team.self)
        let context = store.context()
        context.insert(Team("t"))
        let user = User("a")
        context.insert(user)
        try context.save()
        let other = store.context()
        other.danglingReferences = .nullify
        let theirs = try other.first(User.self)
        try other.first(Team.self).users = [theirs]
        theirs.age = 3
        context.delete(user)
        try context.save()
        #expect(findings(other).map(\.rule) == [.deletedElsewhere])
    }

    @Test("A7: under .nullify collections are counted without members that are gone", arguments: [nil, "c"])
    func nullifyingCountedMembers(name: String?) throws {
        let store = try TestStore(Crew.self)
        let context = store.context()
        let sailor = Sailor()
        context.insert(sailor)
        try context.save()
        let other = store.context()
        other.danglingReferences = .nullify
        let crew = Crew(name, sailors: [try other.first(Sailor.self)])
        other.insert(crew)
        context.delete(sailor)
        try context.save()
        #expect(findings(other).map(\.rule) == [.minimumModelCount])
        crew.sailors = [Sailor()]
        try other.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Sailor>()) == 1)
    }

    @Test("A7: a required reference to a deleted object is a finding under .nullify too")
    func requiredReferences() throws {
        let store = try TestStore(Rung.self)
        let context = store.context()
        let ladder = Ladder()
        context.insert(ladder)
        try context.save()
        let other = store.context()
        other.danglingReferences = .nullify
        other.insert(Rung(try other.first(Ladder.self)))
        context.delete(ladder)
        try context.save()
        #expect(findings(other).map(\.rule) == [.required])
        #expect(try store.reopened().fetchCount(FetchDescriptor<Rung>()) == 0)
    }

    @Test("A7: all findings come in one error, equal unique values among them")
    func allFindingsAtOnce() throws {
        let store = try TestStore(User.self, Crew.self)
        let context = store.context()
        let (first, second) = (User("a"), User("b"))
        context.insert(first)
        context.insert(second)
        try context.save()
        second.email = "a"
        let crew = Crew()
        context.insert(crew)
        let found = findings(context)
        #expect(Set(found.map(\.rule.rawValue)) == ["unique", "minimumModelCount"])
        let duplicate = found.first { $0.rule.rawValue == "unique" }
        #expect(duplicate?.object == second.persistentModelID)
        #expect(duplicate?.propertyName == "email")
        // No part of it stays, and the next save is not affected.
        #expect(try store.context().fetchCount(FetchDescriptor<Crew>()) == 0)
        second.email = "c"
        crew.sailors = [Sailor()]
        try context.save()
        #expect(Set(try store.reopened().all(User.self).map(\.email)) == ["a", "c"])
    }

    @Test("A20: an object of another context that is deleted makes the save throw")
    func deletingObjectsOfAnotherContext() throws {
        let store = try TestStore(Song.self)
        let (context, other) = (store.context(), store.context())
        let song = Song("s")
        context.insert(song)
        try context.save()
        other.delete(song)
        #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
        // The code was called once.
        try other.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Song>()) == 1)
    }
}

@Model final class Depot {
    @Relationship(deleteRule: .deny, inverse: \Crate.depot) var crates: [Crate] = []
    @Relationship(deleteRule: .cascade, inverse: \DepotNote.depot) var notes: [DepotNote] = []
    @Transient var whileValidating: (() throws -> Void)? = nil

    init() {}
}

extension Depot: ObjectLifecycle {
    func validateForDelete() throws { try whileValidating?() }
}

@Model final class Ladder {
    init() {}
}

@Model final class Rung {
    @Relationship var ladder: Ladder

    init(_ ladder: Ladder) { self.ladder = ladder }
}

@Model final class Crate {
    var depot: Depot?
    init() {}
}

@Model final class DepotNote {
    var depot: Depot?
    init() {}
}
