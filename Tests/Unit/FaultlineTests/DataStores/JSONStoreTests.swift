import Faultline
import FaultlineTestSupport
import Foundation
import Testing

/// A store in a file of JSON behind a container: the published sample.
@Suite(.timeLimit(.minutes(2))) struct JSONStoreTests {
    private let directory = TemporaryDirectory()

    private var file: URL { URL(filePath: directory.path).appending(path: "\(directory.path.suffix(6)).json") }

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Voyage.self, configurations: JSONStoreConfiguration(name: "voyages", fileURL: file))
    }

    private func snapshots() throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]])
    }

    private func voyage(_ context: ModelContext, _ code: String) throws -> Voyage? {
        try context.fetch(FetchDescriptor<Voyage>(predicate: #Predicate { $0.code == code })).first
    }

    @Test func `all kinds of values return from the file`() throws {
        let context = ModelContext(try container())
        let voyage = Voyage("N1", title: "North", cost: Decimal(string: "12.34")!)
        voyage.mood = .rough
        voyage.berth = Berth(deck: 3, name: "stern")
        voyage.photo = Data(repeating: 7, count: 100_000)
        voyage.legs = [Leg("Oslo"), Leg("Bergen")]
        voyage.tags = [Pennant("cold")]
        context.insert(voyage)
        try context.save()
        #expect(try snapshots().count == 4)

        let other = ModelContext(try container())
        let found = try #require(try self.voyage(other, "N1"))
        #expect(found.title == "North" && found.cost == Decimal(string: "12.34") && found.mood == .rough)
        #expect(found.berth == Berth(deck: 3, name: "stern") && found.photo == Data(repeating: 7, count: 100_000))
        #expect(found.begins == Date(timeIntervalSinceReferenceDate: 1))
        #expect(found.legs.map(\.place) == ["Oslo", "Bergen"] && found.legs.allSatisfy { $0.voyage === found })
        #expect(found.tags.map(\.name) == ["cold"] && found.tags[0].voyages == [found])
    }

    @Test func `identifiers are those of the store, in each container`() throws {
        let context = ModelContext(try container())
        let voyage = Voyage("A")
        context.insert(voyage)
        #expect(voyage.persistentModelID.storeIdentifier == nil)
        try context.save()
        let identifier = voyage.persistentModelID
        #expect(identifier.storeIdentifier == file.lastPathComponent && identifier.primaryKey == nil)
        let key = try #require(identifier.primaryKeyText.flatMap(UUID.init(uuidString:)))
        let made = try PersistentIdentifier.identifier(
            for: file.lastPathComponent, entityName: "Voyage", primaryKey: key)
        #expect(made == identifier)
        let decoded = try JSONDecoder().decode(
            PersistentIdentifier.self, from: JSONEncoder().encode(identifier))
        #expect(decoded == identifier && PersistentIdentifier(identifier.description) == identifier)

        let other = ModelContext(try container())
        let found: Voyage? = try other.existing(identifier, as: Voyage.self)
        #expect(found?.code == "A")
        let third = ModelContext(try container())
        #expect((third.model(for: identifier) as? Voyage)?.code == "A")
    }

    @Test func `changes and deletions reach the file, with both sides of relationships`() throws {
        let context = ModelContext(try container())
        let first = Voyage("A")
        let second = Voyage("B")
        first.legs = [Leg("one"), Leg("two")]
        context.insert(first)
        context.insert(second)
        try context.save()
        first.legs[0].voyage = second
        first.title = "changed"
        try context.save()
        var stored = try snapshots()
        func legs(_ code: String) -> Int? {
            (stored.first { $0["code"] as? String == code }?["legs"] as? [Any])?.count
        }
        #expect(legs("A") == 1 && legs("B") == 1)
        context.delete(second)
        try context.save()
        stored = try snapshots()
        #expect(stored.count == 2 && stored.contains { $0["title"] as? String == "changed" })
        #expect(try ModelContext(container()).fetchCount(FetchDescriptor<Leg>()) == 1)
    }

    @Test func `the owners of a deleted member lose it in the file`() throws {
        let context = ModelContext(try container())
        let voyage = Voyage("A")
        voyage.legs = [Leg("one"), Leg("two")]
        voyage.tags = [Pennant("red")]
        context.insert(voyage)
        try context.save()
        // A context that has not read the collections.
        let other = ModelContext(try container())
        other.delete(try #require(try other.fetch(FetchDescriptor<Leg>()).first))
        other.delete(try #require(try other.fetch(FetchDescriptor<Pennant>()).first))
        try other.save()
        let stored = try snapshots().first { $0["code"] as? String == "A" }
        #expect((stored?["legs"] as? [Any])?.count == 1 && (stored?["tags"] as? [Any])?.isEmpty == true)
    }

    @Test func `a fetch selects, sorts and cuts, with unsaved changes`() throws {
        let container = try container()
        let context = ModelContext(container)
        for number in 0..<20 { context.insert(Voyage("\(100 + number)", title: "t", cost: Decimal(number % 5))) }
        try context.save()
        var descriptor = FetchDescriptor<Voyage>(
            predicate: #Predicate { $0.code > "104" }, sortBy: [SortDescriptor(\.code, order: .reverse)])
        descriptor.fetchLimit = 3
        descriptor.fetchOffset = 1
        let other = ModelContext(container)
        #expect(try other.fetch(descriptor).map(\.code) == ["118", "117", "116"])
        other.insert(Voyage("200"))
        #expect(try other.fetch(descriptor).map(\.code) == ["119", "118", "117"])
        #expect(try other.fetchCount(FetchDescriptor<Voyage>()) == 21)
        #expect(try other.fetchIdentifiers(FetchDescriptor<Voyage>()).count == 21)
        other.rollback()
        #expect(try other.fetchCount(FetchDescriptor<Voyage>()) == 20)
        #expect(try other.first(\Voyage.code, equals: "107")?.code == "107")
    }

    @Test func `another writer of the file is seen by the next fetch`() throws {
        let here = ModelContext(try container())
        let voyage = Voyage("A")
        voyage.legs = [Leg("one")]
        here.insert(voyage)
        here.insert(Voyage("B"))
        try here.save()

        let there = ModelContext(try container())
        let same = try #require(try self.voyage(there, "A"))
        same.title = "from there"
        same.legs.append(Leg("two"))
        there.delete(try #require(try self.voyage(there, "B")))
        there.insert(Voyage("C"))
        try there.save()

        #expect(voyage.title.isEmpty)
        let codes = try here.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.code)])).map(\.code)
        #expect(codes == ["A", "C"])
        #expect(voyage.title == "from there" && voyage.legs.map(\.place) == ["one", "two"])
    }

    @Test func `an object that takes the place of a stored one updates it`() throws {
        let container = try container()
        let context = ModelContext(container)
        let voyage = Voyage("A", title: "old")
        voyage.legs = [Leg("one")]
        context.insert(voyage)
        try context.save()
        let other = ModelContext(container)
        other.insert(Voyage("A", title: "new"))
        try other.save()
        #expect(try snapshots().count == 2)
        let found = try #require(try self.voyage(ModelContext(self.container()), "A"))
        #expect(found.title == "new" && found.legs.map(\.place) == ["one"])
        #expect(found.persistentModelID == voyage.persistentModelID)
    }

    @Test func `a refused save leaves the file and the changes as they were`() throws {
        let context = ModelContext(try container())
        let voyage = Voyage("A")
        context.insert(voyage)
        try context.save()
        let before = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        voyage.title = "changed"
        context.insert(Voyage("B"))
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.hasChanges && context.insertedModelsArray.count == 1 && voyage.title == "changed")
        try FileManager.default.removeItem(at: file)
        try before.write(to: file)
        try context.save()
        #expect(try snapshots().count == 2)
    }

    @Test func `damaged files throw, and the next fetch works`() throws {
        let context = ModelContext(try container())
        context.insert(Voyage("A"))
        try context.save()
        let good = try Data(contentsOf: file)
        try Data("[{".utf8).write(to: file)
        #expect(throws: DecodingError.self) { try context.fetch(FetchDescriptor<Voyage>()) }
        try good.write(to: file)
        #expect(try context.fetch(FetchDescriptor<Voyage>()).count == 1)
    }

    @Test func `a value that its property cannot have is refused by name`() throws {
        let context = ModelContext(try container())
        context.insert(Voyage("A"))
        try context.save()
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing("\"code\" : \"A\"", with: "\"code\" : null").write(
            to: file, atomically: true, encoding: .utf8)
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContext(self.container()).fetch(FetchDescriptor<Voyage>())
        }
        #expect(error?.explanation.contains("Voyage.code") == true)
    }
}
