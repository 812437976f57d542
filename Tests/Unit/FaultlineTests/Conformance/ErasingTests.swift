import Faultline
import FaultlineTestSupport
import Testing

/// `erase()` and `deleteAllData()`: all objects of a store are gone, and everything stays usable.
@Suite(.timeLimit(.minutes(2))) struct ErasingTests {
    private func fill(_ store: TestStore, _ count: Int = 3) throws {
        let context = store.context()
        for number in 0..<count {
            let folder = Folder("f\(number)")
            let document = Document("d\(number)", number: number)
            document.folder = folder
            document.labels = [Label("a\(number)"), Label("b\(number)")]
            document.body = Body(Data(repeating: 7, count: 40_000))
            context.insert(folder)
        }
        try context.save()
        // Leaves a hole in the numbers.
        try context.delete(model: Document.self, where: #Predicate { $0.number == 1 })
        try context.save()
    }

    private func counts(_ context: ModelContext) throws -> [Int] {
        [
            try context.fetchCount(FetchDescriptor<Folder>()), try context.fetchCount(FetchDescriptor<Document>()),
            try context.fetchCount(FetchDescriptor<Label>()), try context.fetchCount(FetchDescriptor<Body>()),
        ]
    }

    @Test(arguments: TestStore.Place.allCases)
    func `all objects, links and large values are gone, and new ones can be saved`(place: TestStore.Place) throws {
        let store = try TestStore(Folder.self, place: place)
        try fill(store)
        let before = store.context()
        #expect(try counts(before) == [3, 2, 6, 2])
        let folder = try #require(try before.fetch(FetchDescriptor<Folder>()).first)
        try store.container.erase()
        #expect(try counts(before) == [0, 0, 0, 0])
        _ = folder.name
        #expect(folder.isDeleted)
        #expect(try store.context().fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "f0" })).isEmpty)
        try store.reopen()
        #expect(try counts(store.context()) == [0, 0, 0, 0])
        try fill(store)
        try store.reopen()
        #expect(try counts(store.context()) == [3, 2, 6, 2])
        try store.container.erase()
        try store.container.erase()
        try store.reopen()
    }

    @Test func `objects of subclasses, and unique values, are gone`() throws {
        let store = try TestStore(Trip.self, ConferenceTrip.self, PrivateTrip.self, Traveller.self)
        for _ in 0..<2 {
            let context = store.context()
            let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
            trip.code = "x"
            trip.traveller = Traveller("t")
            context.insert(trip)
            context.insert(PrivateTrip(name: "p"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
            try store.container.erase()
            #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 0)
            try store.reopen()
        }
    }

    @Test func `a deny rule does not stop it, and the history names each object`() throws {
        let store = try TestStore(Trip.self, BusinessTrip.self, Agency.self)
        let context = store.context()
        let trip = BusinessTrip(name: "a", company: "b", agency: Agency("g"))
        trip.ticket = "kept"
        context.insert(trip)
        try context.save()
        let id = trip.persistentModelID
        let count = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count
        try store.container.erase()
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let changes = history.dropFirst(count).flatMap(\.changes)
        #expect(history.count == count + 1)
        #expect(changes.count == 2 && changes.contains { $0.changedPersistentIdentifier == id })
        let isDeletion = changes.allSatisfy { if case .delete = $0 { true } else { false } }
        #expect(isDeletion)
    }

    @MainActor @Test func `unsaved changes of the main context are dropped`() throws {
        let store = try TestStore(Folder.self)
        let main = store.container.mainContext
        main.autosaveEnabled = false
        main.insert(Folder("stored"))
        try main.save()
        main.insert(Folder("unsaved"))
        try main.fetch(FetchDescriptor<Folder>())[0].name = "changed"
        try store.container.erase()
        #expect(!main.hasChanges && main.insertedModelsArray.isEmpty)
        #expect(try main.fetchCount(FetchDescriptor<Folder>()) == 0)
        main.insert(Folder("next"))
        try main.save()
        store.container.deleteAllData()
        #expect(try main.fetchCount(FetchDescriptor<Folder>()) == 0)
    }

    @Test func `another container of the store sees it, and a change there is refused`() throws {
        let store = try TestStore(Folder.self)
        try fill(store)
        let url = try #require(store.url)
        let other = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(other)
        let folder = try #require(try context.fetch(FetchDescriptor<Folder>()).first)
        folder.name = "changed"
        try store.container.erase()
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        #expect(try counts(context) == [0, 0, 0, 0])
        try other.close()
    }

    @MainActor @Test func `a container that may not write throws`() throws {
        let store = try TestStore(Folder.self)
        try fill(store)
        let url = try #require(store.url)
        try store.container.close()
        let reading = try ModelContainer(
            for: Folder.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        #expect { try reading.erase() } throws: { ($0 as? StorageError)?.code == .readOnly }
        #expect(try counts(ModelContext(reading)) == [3, 2, 6, 2])
        reading.deleteAllData()
        #expect(throws: StorageError.self) { try reading.mainContext.save() }
        try reading.close()
    }
}
