import Faultline
import FaultlineTestSupport
import Testing

@Model private final class PastNote {
    @Attribute(.unique) var number: Int
    var text: String
    var scan: Data
    @Relationship(deleteRule: .cascade, inverse: \PastMark.note) var marks: [PastMark] = []
    init(_ number: Int, _ text: String) {
        self.number = number
        self.text = text
        scan = Data(repeating: UInt8(number % 251), count: 9_000)
    }
}

@Model private final class PastMark {
    var page: Int
    var note: PastNote?
    init(_ page: Int) { self.page = page }
}

private enum PastSchema2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [PastNote.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class PastNote {
        @Attribute(.unique) var number: Int
        @Attribute(originalName: "text") var words: String
        var scan: Data
        init(_ number: Int, _ words: String) {
            self.number = number
            self.words = words
            scan = Data()
        }
    }
}

struct PastTests {
    private let folder = TemporaryDirectory()
    private var configuration: ModelConfiguration { ModelConfiguration(url: URL(filePath: folder.path + "/store")) }

    private func texts(_ context: ModelContext) throws -> [String] {
        try context.fetch(FetchDescriptor<PastNote>(sortBy: [SortDescriptor(\.number)])).map(\.text)
    }

    @Test func `a context reads the store as it was after a save`() async throws {
        let container = try ModelContainer(for: PastNote.self, configurations: configuration)
        let context = ModelContext(container)
        let first = PastNote(1, "one")
        first.marks = [PastMark(4), PastMark(5)]
        context.insert(first)
        context.insert(PastNote(2, "two"))
        try context.save()
        let begin = try #require(try context.historyToken())
        first.text = "uno"
        first.scan = Data([1, 2, 3])
        first.marks.removeLast()
        try context.save()
        let middle = try #require(try context.historyToken())
        context.delete(first)
        context.insert(PastNote(3, "three"))
        try context.save()
        #expect(try texts(context) == ["two", "three"])

        let old = try ModelContext(container, asOf: .token(begin))
        #expect(try texts(old) == ["one", "two"])
        let note = try #require(try old.first(\PastNote.number, equals: 1))
        #expect(note.scan == Data(repeating: 1, count: 9_000) && note.marks.map(\.page).sorted() == [4, 5])
        // Objects have the identifiers that they have in the store.
        let second = try #require(try context.first(\PastNote.number, equals: 2))
        #expect(try old.existing(second.persistentModelID, as: PastNote.self)?.text == "two")

        let then = try await container.past(at: .token(middle))
        let other = ModelContext(then)
        #expect(try texts(other) == ["uno", "two"])
        #expect(try other.first(\PastNote.number, equals: 1)?.scan == Data([1, 2, 3]))
        // The past does not change with the store.
        for number in 10..<40 { context.insert(PastNote(number, "\(number)")) }
        try context.save()
        try container.checkpoint()
        _ = try container.compact()
        #expect(try texts(other) == ["uno", "two"] && texts(old) == ["one", "two"])
        #expect(try texts(context).count == 32)
        try then.close()
        try container.close()
    }

    @Test func `the past cannot be saved`() throws {
        let container = try ModelContainer(for: PastNote.self, configurations: configuration)
        let context = ModelContext(container)
        context.insert(PastNote(1, "one"))
        try context.save()
        let old = try ModelContext(container, asOf: .date(.now))
        old.insert(PastNote(2, "two"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try old.save() }
        #expect(try texts(ModelContext(container)) == ["one"])
        try container.close()
    }

    @Test func `a store in memory has a past`() throws {
        let container = try ModelContainer(
            for: PastNote.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let note = PastNote(1, "one")
        context.insert(note)
        try context.save()
        let token = try #require(try context.historyToken())
        note.text = "uno"
        try context.save()
        #expect(try texts(ModelContext(container, asOf: .token(token))) == ["one"])
        try container.close()
    }

    @Test func `a state before a migration has the schema of that time`() async throws {
        var container = try ModelContainer(for: PastNote.self, PastMark.self, configurations: configuration)
        var context = ModelContext(container)
        context.insert(PastNote(1, "one"))
        try context.save()
        let token = try #require(try context.historyToken())
        _ = try await container.backup(to: URL(filePath: folder.path + "/backups"))
        try container.close()

        var migrating = configuration
        migrating.options.migration.unhandledData = .drop
        container = try ModelContainer(for: PastSchema2.PastNote.self, configurations: migrating)
        context = ModelContext(container)
        try #expect(context.fetch(FetchDescriptor<PastSchema2.PastNote>()).map(\.words) == ["one"])
        let then = try await ModelContainer.past(
            inBackups: URL(filePath: folder.path + "/backups"), at: .newest)
        #expect(then.schema.entitiesByName["PastNote"]?.attributesByName["text"] != nil)
        let notes = try ModelContext(then).fetch(FetchRequest(entityName: "PastNote"))
        #expect(notes.map { $0["text"] as? String } == ["one"])
        do {
            let old = try await container.past(at: .token(token))
            #expect(old.schema.entitiesByName["PastNote"]?.attributesByName["text"] != nil)
            try old.close()
        } catch let error as SwiftDataError {
            // A migration may begin the history anew.
            #expect(error == .historyTokenExpired)
        }
        try then.close()
        try container.close()
    }

    @Test func `a token of another store, and one of no save, are expired`() throws {
        let container = try ModelContainer(for: PastNote.self, configurations: configuration)
        let empty = try ModelContext(container).historyToken()
        let other = try ModelContainer(
            for: PastNote.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(other)
        context.insert(PastNote(1, "one"))
        try context.save()
        for token in [empty, try context.historyToken()] {
            guard let token else { continue }
            #expect(throws: SwiftDataError.historyTokenExpired) { try ModelContext(container, asOf: .token(token)) }
        }
        try container.close()
        try other.close()
    }

    @Test func `a container of the past has no backup`() async throws {
        let container = try ModelContainer(for: PastNote.self, configurations: configuration)
        let context = ModelContext(container)
        context.insert(PastNote(1, "one"))
        try context.save()
        let past = try await container.past(at: .date(.now))
        let error = await #expect(throws: BackupError.self) {
            try await past.backup(to: URL(filePath: folder.path + "/backups"))
        }
        #expect(error?.code == .unsuitable)
        // The past has a past.
        #expect(try texts(ModelContext(past, asOf: .date(.now))) == ["one"])
        try past.close()
        try container.close()
    }

    @Test func `a state without a schema is refused`() throws {
        let container = try ModelContainer(for: PastNote.self, configurations: configuration)
        #expect(throws: SwiftDataError.unknownSchema) { try ModelContext(container, asOf: .transaction(0)) }
        let error = #expect(throws: BackupError.self) { try ModelContext(container, asOf: .transaction(1 << 40)) }
        #expect(error?.code == .notInLog)
        try container.close()
    }
}
