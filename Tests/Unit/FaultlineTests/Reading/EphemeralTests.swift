import Faultline
import FaultlineLog
import FaultlineTestSupport
import Testing

@Model final class Visit {
    @Attribute(.unique) var name: String
    @Attribute(.ephemeral) var count: Int = 7
    @Attribute(.ephemeral) var note: String?
    @Attribute(.ephemeral) var picture: Data = Data()
    var place: String = ""

    init(_ name: String) { self.name = name }
}

/// A5: ephemeral attributes live with their object, and are never written.
@Suite struct EphemeralTests {
    private func visits() throws -> (store: TestStore, context: ModelContext, visit: Visit) {
        let store = try TestStore(Visit.self)
        let context = store.context()
        let visit = Visit("v")
        visit.count = 12
        visit.note = "a secret that no file may have"
        visit.picture = Data(repeating: 0xA5, count: 20_000)
        context.insert(visit)
        try context.save()
        return (store, context, visit)
    }

    @Test("A5: ephemeral values stay on a live object, and are the defaults of a fault")
    func live() throws {
        let (store, context, visit) = try visits()
        #expect(visit.count == 12 && visit.note != nil && visit.picture.count == 20_000)
        visit.place = "Rome"
        try context.save()
        #expect(visit.count == 12)
        #expect(try context.first(Visit.self).count == 12)
        let read = try store.reopened().first(Visit.self)
        #expect(read.count == 7 && read.note == nil && read.picture.isEmpty && read.place == "Rome")
        read.count = 8
        #expect(read.count == 8)
    }

    @Test("A5: ephemeral values are in no file of the store")
    func files() throws {
        let (store, context, visit) = try visits()
        visit.note = "a secret that no file may have, changed"
        visit.place = "Oslo"
        try context.save()
        try context.batchInsert(Visit.self, [["name": "w"]])
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchUpdate(Visit.self, .set(\.note, to: "a secret that no file may have"))
        }
        try store.container.checkpoint()
        let folder = try #require(store.url)
        let secrets = [Data("secret that no file".utf8), Data(repeating: 0xA5, count: 1_000)]
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var byteCount = 0
        while let file = files?.nextObject() as? URL {
            guard let bytes = try? Data(contentsOf: file, options: .mappedIfSafe) else { continue }
            byteCount += bytes.count
            for secret in secrets { #expect(bytes.range(of: secret) == nil, "\(file.lastPathComponent)") }
        }
        #expect(byteCount > 0)
    }

    @Test("A5: setting an ephemeral value is no change to save, and refresh without merging takes it back")
    func changes() throws {
        let (_, context, visit) = try visits()
        visit.count = 99
        #expect(!context.hasChanges && visit.count == 99)
        context.rollback()
        #expect(visit.count == 99)
        context.refresh(visit, mergeChanges: false)
        #expect(visit.count == 7)
        context.delete(visit)
        visit.note = "gone"
        try context.save()
        #expect(visit.note == "gone")
    }

    @Test("A5: predicates and orders see the values of the context")
    func queries() throws {
        let (_, context, visit) = try visits()
        context.insert(Visit("w"))
        try context.save()
        let twelve = FetchDescriptor<Visit>(predicate: #Predicate { $0.count == 12 })
        #expect(try context.fetch(twelve) == [visit])
        let sorted = try context.fetch(FetchDescriptor<Visit>(sortBy: [SortDescriptor(\.count)]))
        #expect(sorted.map(\.count) == [7, 12])
        #expect(throws: (any Error).self) { try context.fetchAggregates(FetchDescriptor<Visit>(), .sum(\.count)) }
    }

    @Test("A5: a new object that takes a stored one's place brings its ephemeral values")
    func upserts() throws {
        let (_, context, visit) = try visits()
        let other = Visit("v")
        other.count = 3
        context.insert(other)
        try context.save()
        #expect(other.count == 3 && visit.count == 3)
    }

    @Test("A5: dynamic objects keep ephemeral values too")
    func dynamicObjects() throws {
        let entity = Schema.Entity(
            "Note", subentities: [],
            properties: [
                Schema.Attribute(name: "text", valueType: String.self),
                Schema.Attribute(name: "mark", options: [.ephemeral], valueType: Int.self, defaultValue: 5),
            ])
        let folder = TemporaryDirectory()
        let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/test.store"))
        let container = try ModelContainer(
            for: Schema(entities: [entity]), configurations: [configuration])
        let context = ModelContext(container)
        let note = ManagedObject(entity: try #require(container.schema.entitiesByName["Note"]), insertInto: context)
        note.setValue("t", forKey: "text")
        note.setValue(9, forKey: "mark")
        try context.save()
        #expect(note.value(forKey: "mark") as? Int == 9)
        let read = try #require(try ModelContext(container).fetch(FetchRequest(entityName: "Note")).first)
        #expect(read.value(forKey: "mark") as? Int == 5)
        #expect(throws: (any Error).self) {
            try context.fetch(FetchRequest(entityName: "Note", filter: Filter.key("mark") == 5))
        }
    }

    @Test("A5: an ephemeral attribute cannot be unique")
    func unique() {
        let entity = Schema.Entity(
            "Note", properties: Schema.Attribute(name: "mark", options: [.ephemeral, .unique], valueType: Int.self))
        #expect { try Schema(entities: [entity]).validate() } throws: {
            ($0 as? SchemaError)?.code == .uniqueOnEphemeral
        }
    }
}
