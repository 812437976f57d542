import Faultline
import FaultlineDisk
import FaultlineObjects
import Foundation
import Synchronization
import Testing

/// A container asks its data store, and keeps nothing that the store has not acknowledged.
@Suite(.timeLimit(.minutes(2))) struct DataStoreTests {
    private let server: Server

    init() { server = Server("server \(UUID().uuidString)") }

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Voyage.self, configurations: ServerConfiguration(server))
    }

    private func fill(_ codes: [String]) throws -> ModelContext {
        let context = ModelContext(try container())
        for code in codes { context.insert(Voyage(code)) }
        try context.save()
        _ = server.takeCalls()
        return context
    }

    private func above(_ code: String) -> FetchDescriptor<Voyage> {
        FetchDescriptor(predicate: #Predicate { $0.code > code }, sortBy: [SortDescriptor(\.code, order: .reverse)])
    }

    @Test func `the store's selection, order and window are the answer`() throws {
        _ = try fill(["a", "b", "c", "d"])
        let context = ModelContext(try container())
        var descriptor = above("a")
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        #expect(try context.fetch(descriptor).map(\.code) == ["c", "b"])
        #expect(server.takeCalls() == ["fetch Voyage"])
        #expect(try context.fetchCount(above("b")) == 2)
        #expect(server.takeCalls() == ["count Voyage"])
    }

    @Test func `objects that others have deleted disappear, those that have changed stay`() throws {
        let context = try fill(["a", "b", "c", "d"])
        let all = try context.fetch(above(""))
        let (d, c) = (all[0], all[1])
        server.remove(d.persistentModelID)
        server.set("code", to: .string("A"), of: c.persistentModelID)
        #expect(try context.fetch(above("a")).map(\.code) == ["b"])
        #expect(c.code == "A" && !c.isDeleted)
        _ = d.code
        #expect(d.isDeleted)
    }

    @Test func `related objects are loaded with an object, and only those`() throws {
        let context = ModelContext(try container())
        let first = Voyage("a")
        let second = Voyage("b")
        first.legs = [Leg("one"), Leg("two")]
        first.tags = [Pennant("x"), Pennant("y")]
        second.legs = [Leg("three")]
        context.insert(first)
        context.insert(second)
        try context.save()
        _ = server.takeCalls()
        let container = try container()
        let other = ModelContext(container)
        let found: Voyage = try #require(try other.existing(first.persistentModelID, as: Voyage.self))
        #expect(server.takeCalls().sorted() == ["fetch Leg", "fetch Pennant", "fetch Voyage"])
        #expect(found.legs.map(\.place) == ["one", "two"] && found.tags.map(\.name) == ["x", "y"])
        #expect(server.takeCalls().isEmpty)
        let none: Voyage? = try other.existing(
            PersistentIdentifier.identifier(for: server.name, entityName: "Voyage", primaryKey: 999), as: Voyage.self)
        #expect(none == nil)
    }

    @Test func `values that the store sets while it saves are shown`() throws {
        server.state.withLock { $0.setsTitles = true }
        let context = ModelContext(try container())
        let voyage = Voyage("a", title: "mine")
        context.insert(voyage)
        try context.save()
        #expect(voyage.title == "by the server" && !context.hasChanges)
    }

    @Test func `a store that throws, or names no object, fails the save`() throws {
        struct Offline: Error {}
        let context = try fill(["a"])
        let voyage = try context.fetch(above(""))[0]
        server.state.withLock { $0.onCall = { throw Offline() } }
        voyage.title = "changed"
        #expect(throws: Offline.self) { try context.save() }
        #expect(throws: Offline.self) { try context.fetch(above("")) }
        #expect(context.hasChanges && voyage.title == "changed")
        server.state.withLock { $0.onCall = nil }
        try context.save()
        server.state.withLock { $0.forgetsIdentifiers = true }
        context.insert(Voyage("b"))
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.explanation.contains("remappedIdentifiers") == true)
    }

    @Test func `a store that uses its container gets an error, and nothing waits`() throws {
        let container = try container()
        let context = ModelContext(container)
        server.state.withLock { state in
            state.onCall = { _ = try ModelContext(container).fetch(FetchDescriptor<Voyage>()) }
        }
        let error = #expect(throws: SwiftDataError.self) { try context.fetch(FetchDescriptor<Voyage>()) }
        #expect(error?.explanation.contains("has used the container") == true)
    }

    @Test func `rules are checked before the store is asked`() throws {
        let context = try fill(["a"])
        let identifier = try context.fetch(above(""))[0].persistentModelID
        _ = server.takeCalls()
        let absent = Leg("nowhere")
        context.insert(absent)
        absent.voyage =
            context.model(
                for: try PersistentIdentifier.identifier(
                    for: server.name, entityName: "Voyage", primaryKey: 77)) as? Voyage
        _ = server.takeCalls()
        #expect(throws: (any Error).self) { try context.save() }
        #expect(!server.takeCalls().contains { $0.hasPrefix("save") })
        context.rollback()
        #expect(try context.existing(identifier, as: Voyage.self) != nil)
    }

    @Test func `a batch deletion is the store's, and other batches are refused`() throws {
        let context = try fill(["a", "b", "c"])
        let deleted = try context.batchDelete(Voyage.self, where: #Predicate { $0.code > "a" })
        #expect(deleted.objectCounts == ["Voyage": 2])
        #expect(try context.fetch(FetchDescriptor<Voyage>()).map(\.code) == ["a"])
        #expect(throws: DataStoreError.unsupportedFeature) {
            try context.batchInsert(Voyage.self, [["code": "z"]])
        }
    }

    @Test func `keys of decoded identifiers are forgotten, those of the store are not`() throws {
        let context = try fill(["a"])
        let voyage = try context.fetch(above(""))[0]
        let identifier = voyage.persistentModelID
        let decoder = JSONDecoder()
        for number in 0..<70_000 {
            let text = "{\"store\":\"\(server.name)\",\"entity\":\"Voyage\",\"key\":\"stranger \(number)\"}"
            _ = try decoder.decode(PersistentIdentifier.self, from: Data(text.utf8))
        }
        #expect(DataStoreKeys.of(server.name).keyCount("Voyage") <= 65_540)
        #expect(identifier.primaryKeyText == "1")
        #expect(throws: DecodingError.self) {
            let text = "{\"store\":\"unknown\",\"entity\":\"Voyage\",\"key\":\"1\"}"
            _ = try decoder.decode(PersistentIdentifier.self, from: Data(text.utf8))
        }
    }

    @Test func `a data store is erased, with its local copy`() throws {
        let container = try container()
        let context = ModelContext(container)
        context.insert(Voyage("a"))
        context.insert(Pennant("x"))
        try context.save()
        let voyage = try context.fetch(above(""))[0]
        try container.erase()
        #expect(server.state.withLock { $0.objects.isEmpty })
        #expect(try context.fetchCount(FetchDescriptor<Pennant>()) == 0)
        #expect(try context.existing(voyage.persistentModelID, as: Voyage.self) == nil)
        context.insert(Voyage("a"))
        try context.save()
        #expect(try context.fetch(above("")).map(\.code) == ["a"])
    }

    @Test func `two configurations, and schemas without classes, are refused`() throws {
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Voyage.self, configurations: ServerConfiguration(server), ServerConfiguration(Server("other")))
        }
        #expect(throws: SwiftDataError.unknownSchema) {
            try ModelContainer(for: Schema(entities: []), configurations: [ServerConfiguration(server)])
        }
    }
}
