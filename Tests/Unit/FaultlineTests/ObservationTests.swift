import Faultline
import FaultlineObjects
import Synchronization
import Testing

/// The notifications that `withObservationTracking` gets from model objects.
@Suite struct ObservationTests {
    /// Counts notifications.
    private final class Watch: Sendable {
        private let told = Atomic<Int>(0)
        var count: Int { told.load(ordering: .sequentiallyConsistent) }

        /// Watches the properties that `body` reads until the first change.
        init(_ body: () -> Void) {
            withObservationTracking(body) { self.told.add(1, ordering: .sequentiallyConsistent) }
        }
    }

    /// A folder with two documents and a label, stored.
    private func filed() throws -> (store: TestStore, context: ModelContext, folder: Folder, documents: [Document]) {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("folder")
        context.insert(folder)
        folder.documents = [Document("a", number: 1), Document("b", number: 2)]
        folder.documents[0].labels = [Label("label")]
        try context.save()
        return (store, context, folder, folder.documents)
    }

    // MARK: Single properties

    @Test func theTrackedPropertyAloneNotifies() throws {
        let (_, _, _, documents) = try filed()
        let watch = Watch { _ = documents[0].title }
        documents[0].number = 7
        documents[1].title = "other"
        #expect(watch.count == 0)
        documents[0].title = "new"
        #expect(watch.count == 1)
        // Only once, as Swift defines it.
        documents[0].title = "newer"
        #expect(watch.count == 1)
    }

    @Test func everyKindOfPropertyIsTracked() throws {
        let store = try TestStore(Scalars.self, Optionals.self, place: .memory)
        let context = store.context()
        let object = Scalars()
        let optionals = Optionals()
        context.insert(object)
        context.insert(optionals)
        try context.save()
        let accesses: [(read: () -> Void, write: () -> Void)] = [
            ({ _ = object.bool }, { object.bool = true }),
            ({ _ = object.int }, { object.int = 1 }),
            ({ _ = object.uint8 }, { object.uint8 = 1 }),
            ({ _ = object.float }, { object.float = 1 }),
            ({ _ = object.double }, { object.double = 1 }),
            ({ _ = object.string }, { object.string = "1" }),
            ({ _ = object.date }, { object.date = .now }),
            ({ _ = object.uuid }, { object.uuid = UUID() }),
            ({ _ = object.url }, { object.url = URL(filePath: "/1") }),
            ({ _ = object.decimal }, { object.decimal = 1 }),
            ({ _ = object.data }, { object.data = Data([1]) }),
            ({ _ = object.rank }, { object.rank = .high }),
            ({ _ = object.color }, { object.color = .blue }),
            ({ _ = object.place }, { object.place = Place(city: "Paris") }),
            ({ _ = object.shape }, { object.shape = .circle(radius: 1) }),
            ({ _ = object.numbers }, { object.numbers = [1] }),
            ({ _ = optionals.int }, { optionals.int = 1 }),
            ({ _ = optionals.string }, { optionals.string = "1" }),
            ({ _ = optionals.rank }, { optionals.rank = .low }),
            ({ _ = optionals.place }, { optionals.place = Place() }),
        ]
        let watches = accesses.map { Watch($0.read) }
        for (place, access) in accesses.enumerated() {
            access.write()
            #expect(watches.map(\.count) == accesses.indices.map { $0 <= place ? 1 : 0 }, "access \(place)")
        }
    }

    @Test func anObjectWhoseRowWasGivenUpStillNotifies() throws {
        let (_, context, _, documents) = try filed()
        let watch = Watch { _ = documents[0].title }
        context.core.forgetRows()
        #expect(documents[0].number == 1)
        #expect(watch.count == 0)
        documents[0].number = 5
        try context.save()
        #expect(watch.count == 0)
        context.core.forgetRows()
        documents[0].title = "new"
        #expect(watch.count == 1)
    }

    @Test func anObjectInNoContextNotifiesAndGoesOnWhenItIsSaved() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let document = Document("a")
        let titles = Watch { _ = document.title }
        document.title = "b"
        #expect(titles.count == 1)
        let numbers = Watch { _ = document.number }
        context.insert(document)
        try context.save()
        #expect(numbers.count == 0)
        document.number = 5
        #expect(numbers.count == 1)
    }

    // MARK: Relationships

    @Test func bothSidesOfARelationshipNotify() throws {
        let (_, context, folder, documents) = try filed()
        let members = Watch { _ = folder.documents }
        let name = Watch { _ = folder.name }
        let target = Watch { _ = documents[1].folder }
        documents[1].folder = nil
        #expect((members.count, target.count, name.count) == (1, 1, 0))
        let joining = Watch { _ = documents[1].folder }
        folder.documents.append(documents[1])
        #expect(joining.count == 1)
        let label = try context.first(Label.self)
        let labelled = Watch { _ = label.documents }
        documents[1].labels.append(label)
        #expect(labelled.count == 1)
    }

    @Test func bothSidesNotifyInNoContext() {
        let folder = Folder("folder")
        let document = Document("a")
        let members = Watch { _ = folder.documents }
        document.folder = folder
        #expect(members.count == 1)
        let target = Watch { _ = document.folder }
        folder.documents = []
        #expect(target.count == 1)
    }

    // MARK: Whole contexts

    @Test func aRollbackNotifies() throws {
        let (_, context, folder, documents) = try filed()
        documents[0].title = "new"
        folder.documents.removeLast()
        let title = Watch { _ = documents[0].title }
        let other = Watch { _ = documents[1].title }
        let members = Watch { _ = folder.documents }
        context.rollback()
        #expect((title.count, members.count) == (1, 1))
        #expect(folder.documents.count == 2)
        documents[1].title = "new"
        #expect(other.count == 1)
    }

    @Test func aDeletionNotifiesTheObjectAndWhatLeadsToIt() throws {
        let (_, context, folder, documents) = try filed()
        let own = Watch { _ = documents[0].title }
        let other = Watch { _ = documents[1].title }
        let members = Watch { _ = folder.documents }
        let name = Watch { _ = folder.name }
        context.delete(documents[0])
        #expect((own.count, members.count, other.count, name.count) == (1, 1, 0, 0))
    }

    @Test("S72: changes by another context notify when this one moves on")
    func whatAnotherContextSavedNotifiesWhenThisOneMovesOn() throws {
        let (store, context, folder, documents) = try filed()
        let changed = Watch { _ = documents[0].title }
        let unchanged = Watch { _ = documents[1].title }
        let members = Watch { _ = folder.documents }
        let name = Watch { _ = folder.name }
        let other = store.context()
        try #require(try other.all(Document.self).first { $0.number == 1 }).title = "new"
        let added = Document("c", number: 3)
        other.insert(added)
        added.folder = try other.first(Folder.self)
        try other.save()
        #expect((changed.count, members.count) == (0, 0))
        _ = try context.all(Document.self)
        #expect((changed.count, members.count, unchanged.count, name.count) == (1, 1, 0, 0))
        #expect(documents[0].title == "new")
        #expect(folder.documents.count == 3)
    }

    @Test func anObjectWhosePlaceIsTakenNotifies() throws {
        let store = try TestStore(Team.self, place: .memory)
        let context = store.context()
        context.insert(User("mail", age: 1))
        try context.save()
        let stored = try context.first(User.self)
        let watch = Watch { _ = stored.age }
        let new = User("mail", age: 2)
        let ofNew = Watch { _ = new.age }
        context.insert(new)
        try context.save()
        #expect(watch.count == 1)
        #expect(stored.age == 2)
        // From now on, it does not matter which of the two is set.
        let again = Watch { _ = new.age }
        stored.age = 3
        #expect(again.count == 1)
        #expect(ofNew.count == 1)
    }

    // MARK: Cost

    @Test func nothingIsMadeForAnObjectThatNobodyWatches() throws {
        let store = try TestStore(Document.self, place: .memory)
        let writer = store.context()
        for number in 0..<1_000 { writer.insert(Document("\(number)", number: number)) }
        try writer.save()
        let context = store.context()
        let documents = try context.all(Document.self)
        for document in documents {
            #expect(document.title == "\(document.number)")
            document.number += 1
        }
        #expect(context.core.observedCount == 0)
        let watch = Watch { _ = documents[500].title }
        for document in documents { document.number += 1 }
        try context.save()
        #expect(context.core.observedCount == 1)
        #expect(watch.count == 0)
    }

    @Test func aFetchTracksNothing() throws {
        let (_, context, _, documents) = try filed()
        documents[1].number = 3
        let watch = Watch {
            // Neither can be evaluated on the stored bytes.
            let predicate = #Predicate<Document> { $0.folder?.name == "folder" && $0.number > 0 }
            let order = [SortDescriptor(\Document.folder?.name)]
            let found = try? context.fetch(FetchDescriptor(predicate: predicate, sortBy: order))
            #expect(found?.count == 2)
        }
        #expect(context.core.observedCount == 0)
        documents[1].number = 4
        #expect(watch.count == 0)
    }

    @Test func whoIsToldMayChangeTheContext() throws {
        let store = try TestStore(Team.self, place: .memory)
        let context = store.context()
        context.insert(User("mail", age: 1))
        try context.save()
        let stored = try context.first(User.self)
        let follower = Follower(context)
        withObservationTracking {
            _ = stored.age
        } onChange: {
            follower.follow()
        }
        context.insert(User("mail", age: 2))
        try context.save()
        #expect(context.insertedModelsArray.count == 1)
        try context.save()
        #expect(try Set(store.context().all(User.self).map(\.email)) == ["mail", "follower"])
    }

    /// Inserts an object when it is notified.
    // Safe because it is notified on the test's own thread.
    private final class Follower: @unchecked Sendable {
        private let context: ModelContext

        init(_ context: ModelContext) { self.context = context }

        func follow() { context.insert(User("follower")) }
    }

    @Test func objectsThatAreGoneAreNotKeptInMind() throws {
        let store = try TestStore(Document.self, place: .memory)
        let writer = store.context()
        for number in 0..<1_000 { writer.insert(Document("\(number)", number: number)) }
        try writer.save()
        let context = store.context()
        for number in 0..<1_000 {
            let found = try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number == number }))
            _ = Watch { _ = found.first?.title }
        }
        #expect(context.core.observedCount < 100)
    }

    @Test func trackingConcernsOneThread() throws {
        let (store, _, _, documents) = try filed()
        let reader = OtherReader(store.container)
        let watch = Watch {
            _ = documents[0].title
            reader.run()
        }
        // The other thread's reads are not tracked unless it tracks them itself.
        #expect(reader.observedCounts == [0, 1])
        documents[0].title = "new"
        #expect(watch.count == 1)
    }

    /// Reads on its own thread, and waits for it.
    // Safe because the data that both threads use is under the condition.
    private final class OtherReader: @unchecked Sendable {
        private let container: ModelContainer
        private let condition = NSCondition()
        private var isDone = false
        private(set) var observedCounts: [Int] = []

        init(_ container: ModelContainer) { self.container = container }

        func run() {
            Thread { [self] in
                let context = ModelContext(container)
                let document = try? context.fetch(FetchDescriptor<Document>()).first
                _ = document?.number
                var counts = [context.core.observedCount]
                _ = Watch { _ = document?.number }
                counts.append(context.core.observedCount)
                condition.withLock {
                    observedCounts = counts
                    isDone = true
                }
                condition.broadcast()
            }.start()
            condition.lock()
            while !isDone { condition.wait() }
            condition.unlock()
        }
    }
}
