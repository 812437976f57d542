import Faultline
import Testing

@Model final class Crew {
    @Attribute(.unique) var name: String?
    @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Sailor.crew) var sailors: [Sailor] = []
    @Relationship(minimumModelCount: 2, maximumModelCount: 2, inverse: \Sailor.watches) var watch: [Sailor]? = nil
    @Relationship(maximumModelCount: 1) var boats: [Boat] = []

    init(_ name: String? = nil, sailors: [Sailor] = []) {
        self.name = name
        self.sailors = sailors
    }
}

@Model final class Sailor {
    var crew: Crew?
    var watches: [Crew] = []
    var port: Port?
    init() {}
}

@Model final class Port {
    @Relationship(deleteRule: .cascade, inverse: \Sailor.port) var sailors: [Sailor] = []
    @Relationship(deleteRule: .deny, inverse: \Lighthouse.port) var lighthouses: [Lighthouse] = []
    init() {}
}

@Model final class Lighthouse {
    var port: Port?
    init() {}
}

@Model final class Boat {
    init() {}
}

@Model final class Fleet {
    // A relationship without an inverse.
    @Relationship(minimumModelCount: 1) var boats: [Boat] = []
    init(_ boats: [Boat]) { self.boats = boats }
}

@Suite struct MemberCountTests {
    private func expectRefusal(
        _ context: ModelContext, _ part: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            try context.save()
            Issue.record("It was saved: \(part)", sourceLocation: sourceLocation)
        } catch let error as SwiftDataError {
            #expect(error == .modelValidationFailure, sourceLocation: sourceLocation)
            #expect(error.explanation.contains(part), "\(error)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }

    @Test("S36: members of new collections are counted") func newCollectionsAreCounted() throws {
        let store = try TestStore(Crew.self, place: .memory)
        let context = store.context()
        let crew = Crew()
        context.insert(crew)
        expectRefusal(context, "Crew.sailors has 0 objects, and its minimumModelCount is 1")
        crew.sailors = (0..<4).map { _ in Sailor() }
        expectRefusal(context, "Crew.sailors has 4 objects, and its maximumModelCount is 3")
        crew.sailors.removeLast()
        // An optional collection may be empty, but otherwise has at least its minimum.
        crew.watch = [crew.sailors[0]]
        expectRefusal(context, "Crew.watch has 1 objects, and its minimumModelCount is 2")
        crew.watch = crew.sailors
        expectRefusal(context, "Crew.watch has 3 objects, and its maximumModelCount is 2")
        crew.watch = nil
        crew.boats = [Boat(), Boat()]
        expectRefusal(context, "Crew.boats has 2 objects, and its maximumModelCount is 1")
        crew.boats.removeLast()
        try context.save()
        #expect(try store.context().first(Crew.self).sailors.count == 3)
    }

    @Test func storedCollectionsAreCountedFromEitherSide() throws {
        let store = try TestStore(Crew.self, place: .memory)
        let context = store.context()
        let sailors = (0..<2).map { _ in Sailor() }
        let crew = Crew(sailors: sailors)
        context.insert(crew)
        try context.save()
        for sailor in sailors { sailor.crew = nil }
        expectRefusal(context, "Crew.sailors has 0 objects")
        context.rollback()
        #expect(crew.sailors.count == 2)
        context.delete(sailors[0])
        try context.save()
        context.delete(sailors[1])
        expectRefusal(context, "Crew.sailors has 0 objects")
        // Deleting it along with its owner is allowed.
        context.delete(crew)
        try context.save()
        let other = Crew(sailors: [Sailor()])
        context.insert(other)
        try context.save()
        for _ in 0..<3 {
            let sailor = Sailor()
            context.insert(sailor)
            sailor.crew = other
        }
        expectRefusal(context, "Crew.sailors has 4 objects")
    }

    @Test func aCollectionThatKnowsItsMembersAloneIsCounted() throws {
        let store = try TestStore(Fleet.self, place: .memory)
        let context = store.context()
        let boats = [Boat(), Boat()]
        context.insert(Fleet(boats))
        try context.save()
        context.delete(boats[0])
        try context.save()
        context.delete(boats[1])
        expectRefusal(context, "Fleet.boats has 0 objects")
    }

    @Test func anObjectThatTakesAStoredOnesPlaceHasItsMembersToo() throws {
        let store = try TestStore(Crew.self, place: .memory)
        let context = store.context()
        context.insert(Crew("a", sailors: [Sailor(), Sailor()]))
        try context.save()
        context.insert(Crew("a"))
        try context.save()
        context.insert(Crew("a", sailors: [Sailor()]))
        try context.save()
        #expect(try context.first(Crew.self).sailors.count == 3)
        context.insert(Crew("a", sailors: [Sailor()]))
        expectRefusal(context, "Crew.sailors has 4 objects")
        context.rollback()
        context.insert(Crew("b"))
        expectRefusal(context, "Crew.sailors has 0 objects")
    }

    @Test func membersThatACascadeDeletesAreCounted() throws {
        let store = try TestStore(Crew.self, place: .memory)
        let context = store.context()
        let sailors = (0..<3).map { _ in Sailor() }
        let crew = Crew("a", sailors: Array(sailors[..<2]))
        crew.watch = [sailors[1], sailors[2]]
        let port = Port()
        port.sailors = Array(sailors[..<2])
        context.insert(crew)
        context.insert(port)
        try context.save()
        // Only the port is loaded.
        let other = store.context()
        let read = try other.first(Port.self)
        let id = crew.persistentModelID
        let wanted = [
            "sailors minimumModelCount", "watch minimumModelCount",
        ]
        func rules(_ findings: [ValidationFinding]) -> [String] {
            #expect(findings.allSatisfy { $0.object == id })
            return findings.map { "\($0.propertyName ?? "") \($0.rule)" }.sorted()
        }
        #expect(rules(try other.deletePlan(for: read).refusals) == wanted)
        other.delete(read)
        let error = #expect(throws: SwiftDataError.self) { try other.save() }
        #expect(rules(error?.findings ?? []) == wanted)
        // The context is unchanged: the collection can be deleted along with its owner.
        other.delete(try other.first(Crew.self))
        try other.save()
        let last = store.context()
        #expect(try last.fetchCount(FetchDescriptor<Sailor>()) == 1)
        #expect(try last.fetchCount(FetchDescriptor<Crew>()) == 0)
    }

    @Test func aDeletePlanCountsTheMembersOfUnsavedObjects() throws {
        let store = try TestStore(Crew.self, place: .memory)
        let context = store.context()
        let sailors = [Sailor(), Sailor()]
        for sailor in sailors { context.insert(sailor) }
        try context.save()
        let crew = Crew(sailors: [sailors[0]])
        crew.watch = sailors
        context.insert(crew)
        func rules(_ sailor: Sailor) throws -> [String] {
            try context.deletePlan(for: sailor).refusals.map { "\($0.propertyName ?? "") \($0.rule)" }.sorted()
        }
        #expect(try rules(sailors[0]) == ["sailors minimumModelCount", "watch minimumModelCount"])
        #expect(try rules(sailors[1]) == ["watch minimumModelCount"])
        context.delete(sailors[1])
        expectRefusal(context, "Crew.watch has 1 objects, and its minimumModelCount is 2")
        context.delete(crew)
        #expect(try context.deletePlan(for: sailors[0]).isAllowed)
    }

    @Test func oneErrorListsAllFindings() throws {
        let store = try TestStore(Crew.self, Fleet.self, place: .memory)
        let context = store.context()
        let port = Port()
        port.lighthouses = [Lighthouse(), Lighthouse()]
        context.insert(port)
        try context.save()
        context.delete(port)
        let crew = Crew("a", sailors: (0..<4).map { _ in Sailor() })
        let empty = Fleet([])
        context.insert(crew)
        context.insert(empty)
        crew.boats = [Boat(), Boat()]
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        let found = Set((error?.findings ?? []).map { "\($0.object.entityName).\($0.propertyName ?? "") \($0.rule)" })
        #expect(
            found == [
                "Port.lighthouses deny", "Fleet.boats minimumModelCount", "Crew.sailors maximumModelCount",
                "Crew.boats maximumModelCount",
            ])
        #expect(error?.findings.first { $0.rule == .deny }?.object == port.persistentModelID)
        #expect(error?.explanation.contains("denies it while it has 2 objects") == true)
        context.insert(port)
        empty.boats = [Boat()]
        let second = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(
            Set((second?.findings ?? []).map(\.description)) == [
                "Crew.sailors has 4 objects, and its maximumModelCount is 3",
                "Crew.boats has 2 objects, and its maximumModelCount is 1",
            ])
        crew.boats = []
        crew.sailors.removeLast()
        try context.save()
        #expect(try store.context().first(Port.self).lighthouses.count == 2)
    }
}
