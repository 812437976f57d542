import Faultline
import FaultlineLog
import FaultlineStore
import Testing

/// A reference whose object is deleted always reads as nil.
@Suite struct DanglingReferenceTests {
    /// Three visitors: of a company that stays, of none, and of a deleted one.
    private func visited() throws -> (store: TestStore, context: ModelContext, gone: Company) {
        let store = try TestStore(Company.self)
        let context = store.context()
        let companies = ["stays", "goes"].map(Company.init)
        companies.forEach(context.insert)
        for (name, company) in [("a", companies[0]), ("b", nil), ("c", companies[1])] {
            let visitor = Visitor(name)
            context.insert(visitor)
            visitor.company = company
        }
        try context.save()
        return (store, context, companies[1])
    }

    /// Checks getter, predicates and order.
    private func expectGone(
        _ context: ModelContext, _ gone: PersistentIdentifier, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        func names(_ predicate: Predicate<Visitor>) throws -> [String] {
            let found = try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
            let evaluated = try context.all(Visitor.self).filter { try predicate.evaluate($0) }.map(\.name).sorted()
            #expect(found == evaluated, sourceLocation: sourceLocation)
            #expect(
                try context.fetchCount(FetchDescriptor(predicate: predicate)) == found.count,
                sourceLocation: sourceLocation)
            return found
        }
        let visitors = try context.all(Visitor.self)
        #expect(visitors.map { $0.company?.name } == ["stays", nil, nil], sourceLocation: sourceLocation)
        let ids: [PersistentIdentifier] = [gone]
        #expect(try names(#Predicate { $0.company == nil }) == ["b", "c"], sourceLocation: sourceLocation)
        #expect(try names(#Predicate { $0.company != nil }) == ["a"], sourceLocation: sourceLocation)
        #expect(
            try names(#Predicate { $0.company == nil || $0.name == "a" }) == ["a", "b", "c"],
            sourceLocation: sourceLocation)
        #expect(
            try names(#Predicate { !($0.company == nil) && $0.name != "z" }) == ["a"], sourceLocation: sourceLocation)
        #expect(try names(#Predicate { $0.company?.name == "goes" }) == [], sourceLocation: sourceLocation)
        #expect(try names(#Predicate { $0.company?.name == nil }) == ["b", "c"], sourceLocation: sourceLocation)
        #expect(
            try names(#Predicate { $0.company?.persistentModelID == gone }) == [], sourceLocation: sourceLocation)
        #expect(
            try names(#Predicate { $0.company?.persistentModelID != gone }) == ["a", "b", "c"],
            sourceLocation: sourceLocation)
        #expect(
            try names(#Predicate { $0.company.flatMap { ids.contains($0.persistentModelID) } == true }) == [],
            sourceLocation: sourceLocation)
        let sorted = try context.all(Visitor.self, sortBy: [SortDescriptor(\.company?.name), SortDescriptor(\.name)])
        #expect(sorted.map(\.name) == ["b", "c", "a"], sourceLocation: sourceLocation)
    }

    @Test func aRuleThatLeavesReferencesAloneLeavesNil() throws {
        let (store, context, company) = try visited()
        let gone = company.persistentModelID
        context.delete(company)
        // In its own context before the save, and everywhere afterwards.
        try expectGone(context, gone)
        let without = FetchDescriptor<Visitor>(predicate: #Predicate { $0.company == nil })
        #expect(try store.context().fetchCount(without) == 1)
        try context.save()
        try expectGone(context, gone)
        try expectGone(try store.reopened(), gone)
    }

    @Test func aRelationshipWithoutAnInverseDangles() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let lists = ["kept", "lost", "none"].map(Playlist.init)
        lists.forEach(context.insert)
        let songs = ["1", "2"].map(Song.init)
        lists[0].favourite = songs[0]
        lists[1].favourite = songs[1]
        try context.save()
        context.delete(songs[1])
        try context.save()
        for context in [context, try store.reopened()] {
            let found = try context.fetch(FetchDescriptor<Playlist>(predicate: #Predicate { $0.favourite == nil }))
            #expect(Set(found.map(\.name)) == ["lost", "none"])
            #expect(try context.all(Playlist.self).filter { $0.favourite == nil }.count == 2)
        }
    }

    @Test func anUnreadObjectThatAnotherContextDeletedIsNoTarget() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let song = Song("1")
        let list = Playlist("lost")
        context.insert(list)
        list.favourite = song
        try context.save()
        let holding = store.context()
        let held = try #require(holding.model(for: song.persistentModelID) as? Song)
        context.delete(song)
        try context.save()
        let found = try #require(try holding.all(Playlist.self).first)
        #expect(found.favourite == nil)
        #expect(held.persistentModelID == song.persistentModelID)
    }

    @Test(arguments: DanglingReferencePolicy.allCases)
    func aChangedReferenceIsRefusedOrCleared(policy: DanglingReferencePolicy) throws {
        let (store, context, company) = try visited()
        let other = store.context()
        other.danglingReferences = policy
        let visitor = try #require(try other.all(Visitor.self).first { $0.name == "b" })
        visitor.company = try other.all(Company.self).first { $0.name == "goes" }
        visitor.name = "bb"
        context.delete(company)
        try context.save()
        if policy == .refuse {
            #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
        } else {
            try other.save()
            #expect(visitor.company == nil)
        }
        let read = try store.reopened()
        #expect(try read.all(Visitor.self).map { $0.company?.name } == ["stays", nil, nil])
        #expect(try read.all(Visitor.self).map(\.name) == ["a", policy == .refuse ? "b" : "bb", "c"])
        #expect(try read.fetchCount(FetchDescriptor<Visitor>(predicate: #Predicate { $0.company == nil })) == 2)
    }

    @Test func nothingIsAskedWhereNothingWasDeleted() throws {
        let (store, context, company) = try visited()
        let rows = store.container.rowStore
        let table = try #require(rows.storage.entity(named: "Company")).table
        #expect(ReferenceTargets(in: table, of: rows.log.snapshot(), without: []) == nil)
        #expect(ReferenceTargets(in: table, of: rows.log.snapshot(), without: [1]) != nil)
        context.delete(company)
        try context.save()
        let targets = try #require(ReferenceTargets(in: table, of: rows.log.snapshot(), without: [1]))
        #expect((0..<4).map(targets.isGone) == [false, true, true, true])
        try targets.check()
    }
}
