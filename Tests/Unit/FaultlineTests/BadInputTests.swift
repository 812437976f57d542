import Faultline
import FaultlineTestSupport
import Glibc
import Testing

/// Its relationship has an inverse that is not persisted.
@Model final class Warden {
    @Relationship(inverse: \Ward.warden) var ward: Ward?
    init() {}
}

@Model final class Ward {
    @Transient var warden: Warden?
    init() {}
}

@Suite struct BadInputTests {
    private func open(_ path: String) throws -> ModelContainer {
        try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: URL(filePath: path)))
    }

    private func expectError(
        _ code: StorageError.Code, opening path: String, naming file: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            _ = try open(path)
            Issue.record("The store was opened.", sourceLocation: sourceLocation)
        } catch let error as StorageError {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
            #expect(error.path?.contains(file ?? path) == true, "\(error)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(type(of: error)): \(error)", sourceLocation: sourceLocation)
        }
    }

    @Test func aFileIsNoStore() throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/file"
        try Data("hello".utf8).write(to: URL(filePath: path))
        expectError(.notAStore, opening: path)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("hello".utf8))
    }

    @Test func aFolderOfOtherFilesIsNoStore() throws {
        let folder = TemporaryDirectory()
        try Data("hello".utf8).write(to: URL(filePath: "\(folder.path)/notes.txt"))
        expectError(.notAStore, opening: folder.path)
    }

    @Test func aSchemaOfABrokenClassIsRefused() throws {
        let schema = Schema([Warden.self])
        #expect(schema.entities.isEmpty)
        #expect {
            try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        } throws: {
            ($0 as? SchemaError)?.code == .unknownInverse
        }
        #expect(throws: SchemaError.self) { try schema.validate() }
    }

    private func made(_ count: Int = 10) throws -> (TemporaryDirectory, String) {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/a.store"
        let container = try open(path)
        let context = ModelContext(container)
        for number in 0..<count { context.insert(Document("document \(number)", number: number)) }
        try context.save()
        try container.close()
        return (folder, path)
    }

    @Test func aLockedStoreIsRefused() throws {
        let (folder, path) = try made()
        let lock = try HeldLock(ofStoreIn: path)
        expectError(.lockedByAnother, opening: path)
        lock.release()
        #expect(try ModelContext(open(path)).fetchCount(FetchDescriptor<Document>()) == 10)
        _ = folder
    }

    @Test func aDamagedStoreIsRefusedOrSaysSoAndNeverLies() throws {
        let (folder, path) = try made(200)
        var random = Seed(11)
        var refused = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
            let whole = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
            guard !whole.isEmpty else { continue }
            for trial in 0..<6 {
                let copy = "\(folder.path)/\(name) \(trial)"
                try FileManager.default.copyItem(atPath: path, toPath: copy)
                var broken = whole
                broken[random.below(min(broken.count, 12_000))] ^= UInt8(1 + random.below(255))
                try broken.write(to: URL(filePath: "\(copy)/\(name)"))
                do {
                    let container = try open(copy)
                    let context = ModelContext(container)
                    for document in try context.all(Document.self) {
                        let title = document.title
                        #expect(title == "document \(document.number)" || title.isEmpty, "\(name) \(trial)")
                    }
                    try container.close()
                } catch let error as StorageError {
                    refused += 1
                    #expect(!error.message.isEmpty)
                } catch {
                    Issue.record("\(name): \(type(of: error)) \(error)")
                }
            }
        }
        #expect(refused > 0)
        _ = folder
    }

    @Test func aChangedSchemaThatNeedsAPlanIsNamed() throws {
        let (folder, path) = try made()
        // Opens the same store with another set of classes, without a plan.
        do {
            _ = try ModelContainer(for: Team.self, configurations: ModelConfiguration(url: URL(filePath: path)))
        } catch {
            #expect("\(error)".count > 20)
        }
        _ = folder
    }

    @Test func aClassThatTheContainerDoesNotKnowIsNamed() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<Song>()) }
        context.insert(Song("s"))
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        try context.save()
    }

    private func openForReading(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: Folder.self, configurations: ModelConfiguration(url: URL(filePath: path), allowsSave: false))
    }

    @Test func aContainerThatMayNotSaveMakesNoStore() throws {
        let folder = TemporaryDirectory()
        let path = "\(folder.path)/deep/none.store"
        let error = #expect(throws: StorageError.self) { try openForReading(path) }
        #expect(error?.code == .notAStore)
        #expect(error?.path == path)
        #expect(error?.message.contains("for writing") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aContainerThatMayNotSaveWritesNothing() throws {
        let (folder, path) = try made()
        func files() throws -> [String: Data] {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                files[name] = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
            }
            return files
        }
        let before = try files()
        do {
            let container = try openForReading(path)
            let context = ModelContext(container)
            #expect(try context.fetchCount(FetchDescriptor<Document>()) == 10)
            context.insert(Document("new", number: 11))
            #expect(throws: (any Error).self) { try context.save() }
            try container.close()
        }
        #expect(try files() == before)
        // Opened beside a container that saves, in one process, it sees the other's saves.
        let writer = try open(path)
        let reader = try openForReading(path)
        let context = ModelContext(writer)
        context.insert(Document("new", number: 11))
        try context.save()
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Document>()) == 11)
        try reader.close()
        try writer.close()
        _ = folder
    }

    @Test func aReadOnlyFolderIsRefused() throws {
        let (folder, path) = try made()
        try #require(chmod(path, 0o500) == 0)
        defer { _ = chmod(path, 0o700) }
        // The superuser may write everywhere.
        if access(path, W_OK) != 0 { expectError(.readOnly, opening: path) }
        _ = folder
    }
}
