import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// One container and one context over two stores.
@Suite(.timeLimit(.minutes(2))) struct SeveralStoresTests {
    private let stores: HarborStores
    private var context: ModelContext { stores.context }

    init() throws { stores = try HarborStores() }

    private func filled() throws -> (pier: HarborPier, boat: HarborBoat, visit: HarborVisit) {
        let (pier, boat, visit) = (HarborPier("north"), HarborBoat("Ada"), HarborVisit(1))
        context.insert(pier)
        pier.boats.append(boat)
        context.insert(visit)
        try context.save()
        return (pier, boat, visit)
    }

    @Test func `objects of both stores are in one context, and each in its store's files`() throws {
        let (pier, boat, visit) = try filled()
        #expect(pier.modelContext === context && boat.modelContext === context && visit.modelContext === context)
        #expect(boat.pier === pier)
        #expect(!context.hasChanges)
        let again = try stores.reopened()
        #expect(try again.fetch(FetchDescriptor<HarborPier>()).map(\.boats.count) == [1])
        #expect(try again.fetchCount(FetchDescriptor<HarborVisit>()) == 1)
        try again.container.close()
        let piers = try ModelContainer(opening: HarborStores.configuration("piers", stores.folder.path))
        #expect(Set(piers.schema.entities.map(\.name)) == ["HarborPier", "HarborBoat"])
        #expect(try ModelContext(piers).count(for: FetchRequest(entityName: "HarborBoat")) == 1)
        let visits = try ModelContainer(opening: HarborStores.configuration("visits", stores.folder.path))
        #expect(visits.schema.entities.map(\.name) == ["HarborVisit"])
    }

    @Test func `identifiers say their store, and lead back to their object`() throws {
        let (pier, boat, visit) = try filled()
        #expect(pier.persistentModelID.storeIdentifier == boat.persistentModelID.storeIdentifier)
        #expect(pier.persistentModelID.storeIdentifier != visit.persistentModelID.storeIdentifier)
        let other = ModelContext(stores.container)
        for identifier in [pier.persistentModelID, boat.persistentModelID, visit.persistentModelID] {
            let found = try #require(try other.existing(identifier))
            #expect(found.persistentModelID == identifier)
            #expect(other.model(for: identifier).persistentModelID == identifier)
            let read = try JSONDecoder().decode(PersistentIdentifier.self, from: try JSONEncoder().encode(identifier))
            #expect(read == identifier)
        }
        let known = try #require(try other.existing(visit.persistentModelID, as: HarborVisit.self))
        let registered: HarborVisit? = other.registeredModel(for: visit.persistentModelID)
        #expect(registered === known && known.code == 1)
        // The same numbers in other stores are other objects.
        let elsewhere = ModelContext(try HarborStores.inMemory())
        #expect(try elsewhere.existing(visit.persistentModelID) == nil)
        #expect(try elsewhere.existing(pier.persistentModelID) == nil)
    }

    @Test func `changes of both stores are one context's changes`() throws {
        let (pier, _, visit) = try filled()
        let new = HarborVisit(2)
        context.insert(new)
        visit.note = "late"
        context.delete(pier)
        #expect(context.hasChanges)
        #expect(context.insertedModelsArray.count == 1 && context.changedModelsArray.count == 1)
        #expect(context.deletedModelsArray.count == 1)
        let plan = try context.deletePlan()
        #expect(plan.deleted.map(\.entityName).sorted() == ["HarborBoat", "HarborPier"])
        context.rollback()
        #expect(!context.hasChanges && visit.note.isEmpty)
        #expect(try context.fetchCount(FetchDescriptor<HarborPier>()) == 1)
        #expect(new.modelContext == nil)
        #expect(throws: CancellationError.self) {
            try context.transaction {
                visit.note = "early"
                pier.name = "south"
                throw CancellationError()
            }
        }
        #expect(visit.note.isEmpty && pier.name == "north")
    }

    @Test func `an undo takes back changes of both stores`() throws {
        let (pier, _, visit) = try filled()
        context.undoManager = UndoManager()
        pier.name = "south"
        visit.note = "late"
        context.processPendingChanges()
        #expect(context.undoManager?.undoCount == 1)
        context.undoManager?.undo()
        #expect(pier.name == "north" && visit.note.isEmpty)
        context.undoManager?.redo()
        #expect(pier.name == "south" && visit.note == "late")
        context.undoManager?.removeAllActions(withTarget: context)
        #expect(context.undoManager?.canUndo == false)
    }

    @Test func `settings are those of every store`() throws {
        context.author = "harbor master"
        context.mergePolicy = .error
        context.uniquenessConflicts = .error
        _ = try filled()
        for container in [
            try stores.container.store(for: HarborPier.self), try stores.container.store(for: HarborVisit.self),
        ] {
            let saves = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            #expect(saves.map(\.author) == ["harbor master"])
        }
        context.insert(HarborVisit(1))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        context.insert(HarborPier("north"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func `every way to find objects asks the store that has them`() throws {
        let (pier, _, visit) = try filled()
        let byName = FetchRequest(entityName: "HarborVisit")
        #expect(try context.fetch(byName).count == 1 && context.count(for: byName) == 1)
        #expect(try context.fetchIdentifiers(FetchDescriptor<HarborVisit>()) == [visit.persistentModelID])
        #expect(try context.first(\HarborVisit.code, equals: 1) === visit)
        #expect(try context.first(\HarborPier.name, equals: "north") === pier)
        let code = 1
        #expect(try context.fetch(FetchDescriptor<HarborVisit>(predicate: #Predicate { $0.code == code })) == [visit])
        #expect(try context.fetchPage(FetchDescriptor<HarborVisit>(), size: 5).objects.count == 1)
        #expect(try context.fetchDistinct(\HarborVisit.code) == [1])
        #expect(try context.explain(FetchDescriptor<HarborVisit>()).foundCount == 1)
        var seen = 0
        try context.enumerate(FetchDescriptor<HarborVisit>()) { _ in seen += 1 }
        #expect(seen == 1)
        #expect(try context.existing(primaryKey: 1, as: HarborVisit.self) === visit)
        #expect(try context.existing(primaryKey: 1, entityName: "HarborVisit") != nil)
        #expect(context.object(with: visit.persistentModelID)?.value(forKey: "code") as? Int == 1)
        try context.insertNewObject(forEntityName: "HarborVisit").setValue(7, forKey: "code")
        try context.save()
        try context.batchInsert(HarborVisit.self, [["code": 8]])
        #expect(try context.batchUpdate(byName, set: ["note": "x"]).objectCounts == ["HarborVisit": 3])
        #expect(try context.fetch(FetchDescriptor<HarborVisit>()).map(\.note) == ["x", "x", "x"])
        #expect(try context.batchDelete(HarborVisit.self).objectCounts == ["HarborVisit": 3])
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<Song>()) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchRequest(entityName: "HarborVisits")) }
        context.insert(Song("s"))
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
    }

    @Test func `reads are counted over both stores`() throws {
        _ = try filled()
        let other = ModelContext(stores.container)
        let before = other.counters
        for pier in try other.fetch(FetchDescriptor<HarborPier>()) { _ = pier.name }
        for visit in try other.fetch(FetchDescriptor<HarborVisit>()) { _ = visit.code }
        #expect((other.counters - before).faultsFired == 2)
        #expect(stores.container.counters.faultsFired >= 2)
    }

    @Test func `a pin holds the states of both stores`() throws {
        let (pier, _, visit) = try filled()
        let pinned = ModelContext(stores.container)
        try pinned.pin()
        #expect(pinned.isPinned && stores.container.pins.count { $0.isPinned } == 2)
        pier.name = "south"
        visit.note = "late"
        try context.save()
        #expect(try pinned.fetch(FetchDescriptor<HarborPier>()).map(\.name) == ["north"])
        #expect(try pinned.fetch(FetchDescriptor<HarborVisit>()).map(\.note) == [""])
        pinned.unpin()
        #expect(!pinned.isPinned)
        #expect(try pinned.fetch(FetchDescriptor<HarborVisit>()).map(\.note) == ["late"])
    }

    @Test func `a container and its stores are freed with their last context`() throws {
        weak var whole: ModelContainer?
        weak var part: ModelContainer?
        weak var known: HarborVisit?
        do {
            let context = ModelContext(try HarborStores.inMemory())
            whole = context.container
            part = try context.container.store(for: HarborVisit.self)
            let visit = HarborVisit(1)
            context.insert(visit)
            known = visit
            #expect(whole != nil && part != nil)
        }
        #expect(whole == nil && part == nil && known == nil)
    }

    @Test func `an object outlives its context`() throws {
        var context: ModelContext? = ModelContext(stores.container)
        let visit = HarborVisit(3)
        context?.insert(visit)
        try context?.save()
        #expect(visit.modelContext === context)
        context = nil
        #expect(visit.modelContext == nil && visit.code == 3)
    }

    @MainActor @Test func `the main context is kept, and saves both stores by itself`() async throws {
        let container = try HarborStores.inMemory()
        let context = container.mainContext
        #expect(container.mainContext === context && context.autosaveEnabled)
        let (pier, visit) = (HarborPier("north"), HarborVisit(1))
        context.insert(pier)
        context.insert(visit)
        for _ in 0..<200 where context.hasChanges { try await Task.sleep(for: .milliseconds(20)) }
        #expect(!context.hasChanges && visit.modelContext === context)
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<HarborPier>()) == 1)
        #expect(try other.fetchCount(FetchDescriptor<HarborVisit>()) == 1)
    }

    @Test func `calls of perform have a context over both stores`() async throws {
        try await stores.container.perform { context in
            context.insert(HarborPier("west"))
            context.insert(HarborVisit(4))
            try context.save()
        }
        try await stores.container.perform { (context: TaskContext) async throws in
            context.insert(HarborVisit(5))
            try await context.save()
        }
        #expect(try context.fetchCount(FetchDescriptor<HarborPier>()) == 1)
        #expect(try context.fetchCount(FetchDescriptor<HarborVisit>()) == 2)
        var codes: [PropertyValue?] = []
        for try await visits in stores.container.stream(FetchDescriptor<HarborVisit>()) {
            codes += visits.map { $0["code"] }
        }
        #expect(Set(codes) == [.integer(4), .integer(5)])
    }
}
