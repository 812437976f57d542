import Faultline
import FaultlineTestSupport
import Testing

@Model private final class KeptNote {
    @Attribute(.unique) var number: Int
    var text: String
    @Attribute(.externalStorage) var scan: Data
    init(_ number: Int, _ text: String) {
        self.number = number
        self.text = text
        scan = Data(repeating: UInt8(number % 251), count: 20_000)
    }
}

private enum KeptSchema2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [KeptNote.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class KeptNote {
        @Attribute(.unique) var number: Int
        @Attribute(originalName: "text") var words: String
        init(_ number: Int, _ words: String) {
            self.number = number
            self.words = words
        }
    }
}

/// `StoreOptions.retention`, by contexts of the past and by undo.
struct RetentionOptionTests {
    private let folder = TemporaryDirectory()

    private func configuration(_ retention: StoreOptions.Retention) -> ModelConfiguration {
        var configuration = ModelConfiguration(url: URL(filePath: folder.path + "/store"))
        configuration.options.retention = retention
        return configuration
    }

    private func open(_ retention: StoreOptions.Retention) throws -> ModelContainer {
        try ModelContainer(for: KeptNote.self, configurations: configuration(retention))
    }

    private func texts(_ context: ModelContext) throws -> [String] {
        try context.fetch(FetchDescriptor<KeptNote>(sortBy: [SortDescriptor(\.number)])).map(\.text)
    }

    /// Writes 200 notes, renames all of them, and deletes half.
    private func fill(_ container: ModelContainer) throws -> (first: DefaultHistoryToken, second: Date) {
        let context = ModelContext(container)
        for number in 0..<200 { context.insert(KeptNote(number, "first \(number)")) }
        try context.save()
        let begin = try #require(try context.historyToken())
        for note in try context.fetch(FetchDescriptor<KeptNote>()) {
            note.text = "second \(note.number)"
            note.scan = Data(repeating: 7, count: 21_000)
        }
        try context.save()
        let middle = Date.now
        // The clock of the store may give its next save the same microsecond.
        usleep(2_000)
        for note in try context.fetch(FetchDescriptor<KeptNote>(predicate: #Predicate { $0.number >= 100 })) {
            context.delete(note)
        }
        try context.save()
        return (begin, middle)
    }

    @Test func `past states outlive compaction, closing, and a migration`() async throws {
        let container = try open(.kept(for: .seconds(3_600)))
        // A migration begins the history anew, so a token does not lead behind it.
        let (begin, middle) = try fill(container)
        for _ in 0..<3 {
            try container.checkpoint()
            _ = try container.compact()
        }
        let old = try ModelContext(container, asOf: .token(begin))
        #expect(try texts(old).count == 200)
        #expect(try old.first(\KeptNote.number, equals: 150)?.scan == Data(repeating: 150, count: 20_000))
        try container.close()

        var migrating = configuration(.unchanged)
        migrating.options.migration.unhandledData = .drop
        let migrated = try ModelContainer(
            for: Schema(versionedSchema: KeptSchema2.self), configurations: migrating)
        try migrated.checkpoint()
        _ = try migrated.compact()
        #expect(try ModelContext(migrated).fetchCount(FetchDescriptor<KeptSchema2.KeptNote>()) == 100)
        // The past has the schema of its time.
        let then = try await migrated.past(at: .date(middle))
        let notes = try ModelContext(then).fetch(FetchRequest(entityName: "KeptNote"))
        #expect(notes.count == 200)
        #expect(notes.allSatisfy { ($0["text"] as? String)?.hasPrefix("second") == true })
        try then.close()
        try migrated.close()
    }

    @Test func `a save is undone after compaction`() throws {
        let container = try open(.kept(for: .seconds(3_600)))
        _ = try fill(container)
        let context = ModelContext(container)
        let deletion = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        for _ in 0..<3 {
            try container.checkpoint()
            _ = try container.compact()
        }
        try context.undo(deletion)
        try context.save()
        #expect(try texts(context).count == 200)
        #expect(try context.first(\KeptNote.number, equals: 199)?.scan == Data(repeating: 7, count: 21_000))
        try container.close()
    }

    @Test func `a window that is taken back gives its files back`() throws {
        let container = try open(.kept(for: .seconds(3_600), byteCountMax: 1 << 30))
        let (begin, _) = try fill(container)
        _ = try container.compact()
        try container.close()
        let again = try open(.none)
        _ = try again.compact()
        #expect(throws: BackupError.self) { try ModelContext(again, asOf: .token(begin)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/store/retained") == [])
        #expect(try texts(ModelContext(again)).count == 100)
        try again.close()
    }
}
