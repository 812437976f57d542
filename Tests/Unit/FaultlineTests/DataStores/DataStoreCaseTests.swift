import Faultline
import FaultlineDisk
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Synchronization
import Testing

@Model class Vessel {
    var name: String
    var harbor: Harbor?

    init(_ name: String) { self.name = name }
}

@Model final class Ferry: Vessel {
    var cars: Int

    init(_ name: String, cars: Int) {
        self.cars = cars
        super.init(name)
    }
}

@Model final class Buoy {
    #Unique<Buoy>([\.code], [\.slug])
    var code: String
    var slug: String

    init(_ code: String, _ slug: String) {
        self.code = code
        self.slug = slug
    }
}

@Model final class Harbor {
    var name: String
    @Relationship(inverse: \Vessel.harbor) var vessels: [Vessel] = []

    init(_ name: String) { self.name = name }
}

/// A task that a call of a data store starts, and that goes on once the call has ended.
private final class Later: Sendable {
    private let mayGoOn = Atomic<Bool>(false)
    private let task = Guarded<Task<Int, any Error>?>(nil)

    func start(_ body: @escaping @Sendable () throws -> Int) {
        let isFirst = task.withLock { $0 == nil }
        guard isFirst else { return }
        let made = Task { [self] in
            while !mayGoOn.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
            return try body()
        }
        task.withLock { $0 = made }
    }

    func result() async throws -> Int? {
        mayGoOn.store(true, ordering: .releasing)
        return try await task.withLock { $0 }?.value
    }
}

private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

/// Cases in which a data store and its local copy could disagree.
@Suite(.timeLimit(.minutes(2))) struct DataStoreCaseTests {
    private let server: Server

    init() { server = Server("server \(UUID().uuidString)") }

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Voyage.self, configurations: ServerConfiguration(server))
    }

    private func voyages(_ context: ModelContext) throws -> [Voyage] {
        try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.code)]))
    }

    @Test func `a reference to a new object that takes a stored one's place is kept`() throws {
        let container = try container()
        let context = ModelContext(container)
        let stored = Voyage("A")
        stored.tags = [Pennant("old")]
        context.insert(stored)
        try context.save()
        let other = ModelContext(container)
        let twin = Voyage("A", title: "new")
        let leg = Leg("one")
        leg.voyage = twin
        twin.tags = [Pennant("new")]
        other.insert(leg)
        other.insert(twin)
        try other.save()
        let fresh = ModelContext(try self.container())
        let found = try #require(try voyages(fresh).first)
        #expect(found.title == "new" && found.legs.map(\.place) == ["one"])
        #expect(found.tags.map(\.name).sorted() == ["new", "old"])
        #expect(try fresh.fetchCount(FetchDescriptor<Voyage>()) == 1)
    }

    @Test func `new objects with one unique value are one object in the store`() throws {
        let context = ModelContext(try container())
        let first = Voyage("A", title: "first")
        first.legs = [Leg("one")]
        let second = Voyage("A", title: "second")
        second.legs = [Leg("two")]
        context.insert(first)
        context.insert(second)
        context.insert(Voyage("A", title: "third"))
        try context.save()
        let found = try voyages(ModelContext(try container()))
        #expect(found.map(\.title) == ["third"] && found[0].legs.map(\.place).sorted() == ["one", "two"])
        #expect(try voyages(context).map(\.title) == ["third"])
    }

    @Test(arguments: [false, true])
    func `new objects with one of two unique values are one object`(isOrdinary: Bool) throws {
        func container() throws -> ModelContainer {
            isOrdinary
                ? try ModelContainer(for: Buoy.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
                : try ModelContainer(for: Buoy.self, configurations: ServerConfiguration(server))
        }
        let first = try container()
        let context = ModelContext(first)
        for slug in ["x", "y", "z"] { context.insert(Buoy("A", slug)) }
        try context.save()
        context.insert(Buoy("B", "x"))
        try context.save()
        let other = ModelContext(isOrdinary ? first : try container())
        let found = try other.fetch(FetchDescriptor<Buoy>())
        #expect(found.map { "\($0.code) \($0.slug)" }.sorted() == ["A z", "B x"])
    }

    @Test func `an object that another context has related to a deleted one loses it in the store`() throws {
        func container() throws -> ModelContainer {
            try ModelContainer(for: Vessel.self, Ferry.self, Harbor.self, configurations: ServerConfiguration(server))
        }
        let both = try container()
        let context = ModelContext(both)
        let harbor = Harbor("Hook")
        context.insert(harbor)
        context.insert(Vessel("sloop"))
        try context.save()
        context.delete(harbor)
        let other = ModelContext(both)
        try other.fetch(FetchDescriptor<Vessel>())[0].harbor = try other.fetch(FetchDescriptor<Harbor>())[0]
        try other.save()
        try context.save()
        let stored = server.state.withLock { Array($0.objects.values) }
        #expect(stored.map(\.entityName) == ["Vessel"] && stored[0]["harbor"] == .null)
        #expect(try ModelContext(try container()).fetch(FetchDescriptor<Vessel>())[0].harbor == nil)
    }

    @Test func `a save sends the values that other contexts have saved`() throws {
        let container = try container()
        let context = ModelContext(container)
        let voyage = Voyage("A")
        context.insert(voyage)
        try context.save()
        let other = ModelContext(container)
        voyage.title = "north"
        let same = try voyages(other)[0]
        same.tags = [Pennant("red")]
        same.cost = 5
        try other.save()
        try context.save()
        let found = try voyages(ModelContext(try self.container()))
        #expect(found.map(\.title) == ["north"] && found.map(\.cost) == [5])
        #expect(found[0].tags.map(\.name) == ["red"])
    }

    @Test func `subclasses stay when objects of the superclass are fetched`() throws {
        let directory = TemporaryDirectory()
        let file = URL(filePath: directory.path).appending(path: "fleet-\(directory.path.suffix(6)).json")
        func container(findsExactly: Bool = false) throws -> ModelContainer {
            var configuration = JSONStoreConfiguration(name: "fleet", fileURL: file)
            configuration.findsExactly = findsExactly
            return try ModelContainer(
                for: Vessel.self, Ferry.self, Harbor.self, configurations: configuration)
        }
        let context = ModelContext(try container())
        let harbor = Harbor("Hook")
        harbor.vessels = [Vessel("sloop"), Ferry("Stena", cars: 90)]
        context.insert(harbor)
        try context.save()
        let exact = ModelContext(try container(findsExactly: true))
        #expect(try exact.fetch(FetchDescriptor<Vessel>()).map(\.name) == ["sloop"])
        #expect(try exact.fetch(FetchDescriptor<Harbor>())[0].vessels.count == 2)
        #expect(try exact.fetch(FetchDescriptor<Vessel>()).map(\.name) == ["sloop"])
        let history = HistoryDescriptor<DefaultHistoryTransaction>()
        #expect(
            try exact.fetchHistory(history).flatMap(\.changes).allSatisfy {
                if case .delete = $0 { false } else { true }
            })
        let other = ModelContext(try container())
        let all = try other.fetch(FetchDescriptor<Vessel>(sortBy: [SortDescriptor(\.name)]))
        #expect(all.map(\.name) == ["Stena", "sloop"] && (all[0] as? Ferry)?.cars == 90)
        #expect(try other.fetch(FetchDescriptor<Ferry>()).map(\.cars) == [90])
        try other.delete(model: Vessel.self, includeSubclasses: false)
        try other.save()
        #expect(try other.fetch(FetchDescriptor<Vessel>()).map(\.name) == ["Stena"])
        #expect(try ModelContext(container()).fetch(FetchDescriptor<Harbor>()).first?.vessels.map(\.name) == ["Stena"])
    }

    @Test func `a loaded object whose unique value another one has by now gives way`() throws {
        let context = ModelContext(try container())
        let old = Voyage("A")
        context.insert(old)
        context.insert(Voyage("B"))
        try context.save()
        let other = ModelContext(try container())
        for voyage in try voyages(other) where voyage.code == "A" { other.delete(voyage) }
        try other.save()
        other.insert(Voyage("A", title: "another"))
        try other.save()
        var descriptor = FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.code)])
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 1
        let found = try context.fetch(descriptor)
        #expect(found.map(\.title) == ["another"])
        _ = old.code
        #expect(old.isDeleted)
    }

    @Test func `a server that does not answer is no missing object`() throws {
        struct Offline: Error {}
        let context = ModelContext(try container())
        let voyage = Voyage("A")
        context.insert(voyage)
        try context.save()
        let other = ModelContext(try container())
        server.state.withLock { $0.onCall = { throw Offline() } }
        #expect(throws: Offline.self) { try other.existing(voyage.persistentModelID, as: Voyage.self) }
        server.state.withLock { $0.onCall = nil }
        #expect(try other.existing(voyage.persistentModelID, as: Voyage.self)?.code == "A")
        #expect(try other.existing(primaryKey: 1, as: Voyage.self)?.code == "A")
        #expect(try other.existing(primaryKey: 3, as: Voyage.self) == nil)
    }

    @Test func `a task that a call has started may use the container later`() async throws {
        let container = try container()
        let context = ModelContext(container)
        context.insert(Voyage("A"))
        try context.save()
        let later = Later()
        server.state.withLock { state in
            state.onCall = { later.start { try ModelContext(container).fetch(FetchDescriptor<Voyage>()).count } }
        }
        _ = try voyages(context)
        let count = try await later.result()
        #expect(count == 1)
    }

    @Test func `a save that failed after the store had saved doubles nothing`() throws {
        server.state.withLock { $0.forgetsLastIdentifier = true }
        let context = ModelContext(try container())
        context.insert(Pennant("one"))
        context.insert(Pennant("two"))
        #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(context.insertedModelsArray.count == 2)
        server.state.withLock { $0.forgetsLastIdentifier = false }
        _ = server.takeCalls()
        try context.save()
        #expect(server.takeCalls() == ["save 1 1 0"])
        #expect(try context.fetch(FetchDescriptor<Pennant>()).map(\.name).sorted() == ["one", "two"])
    }

    @Test func `saves and fetches of several threads show each object once`() async throws {
        let container = try container()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let context = ModelContext(container)
                    for number in 0..<15 {
                        context.insert(Voyage("\(writer)-\(number)"))
                        try context.save()
                        let found = try context.fetch(FetchDescriptor<Voyage>())
                        #expect(Set(found.map(\.code)).count == found.count)
                        if number % 3 == 2, let first = found.first(where: { $0.code.hasPrefix("\(writer)-") }) {
                            context.delete(first)
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let codes = try voyages(ModelContext(container)).map(\.code)
        #expect(codes.count == 40 && Set(codes).count == 40)
        #expect(try voyages(ModelContext(self.container())).map(\.code) == codes)
    }

    @Test func `a fetch sees the objects of each save that the store has acknowledged`() async throws {
        let container = try container()
        let end = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    let context = ModelContext(container)
                    for round in 0..<40 {
                        // Large saves, which take a while to be written.
                        let pennants = (0..<100).map { Pennant("\(writer) \(round) \($0)") }
                        pennants.forEach(context.insert)
                        try context.save()
                        pennants.forEach(context.delete)
                        try context.save()
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    let context = ModelContext(container)
                    while !end.isSet, !Task.isCancelled {
                        _ = try context.fetch(FetchDescriptor<Pennant>())
                        await Task.yield()
                    }
                }
            }
            for _ in 0..<2 { try await group.next() }
            end.set()
            try await group.waitForAll()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Pennant>()) == 0)
    }
}
