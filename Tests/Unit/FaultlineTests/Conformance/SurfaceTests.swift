import Faultline
import FaultlineTestSupport
import Testing

/// A use of each symbol of SwiftData that other suites do not use: `docs/features/SwiftDataSurface.md`.
@Suite(.timeLimit(.minutes(2))) struct SurfaceTests {
    /// A user's own protocol, to which a context conforms by itself.
    protocol Repository {
        var hasChanges: Bool { get }
        func insert<T: PersistentModel>(_ model: T)
        func delete<T: PersistentModel>(_ model: T)
        func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T]
        func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int
        func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]
        func save() throws
        func rollback()
    }

    @Test func `a context conforms to a user's protocol, and direct calls are counted by their place`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let repository: any Repository = context
        repository.insert(Folder("a"))
        try repository.save()
        let account = FaultAccount()
        context.faultAccount = account
        let found = try repository.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "a" }))
        #expect(found.map(\.name) == ["a"] && !repository.hasChanges)
        #expect(account.entries.map(\.source.site) == ["through a protocol:0"])
        account.reset()
        context.reset()
        _ = try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "a" }))
        let line = #line - 1
        #expect(account.entries.map(\.source.site).contains("FaultlineTests/SurfaceTests.swift:\(line)"))
        let function: (FetchDescriptor<Folder>) throws -> [Folder] = context.fetch
        #expect(try function(FetchDescriptor()).count == 1)
        repository.delete(found[0])
        repository.rollback()
        #expect(try repository.fetchCount(FetchDescriptor<Folder>()) == 1)
        #expect(try repository.fetchIdentifiers(FetchDescriptor<Folder>()) == [found[0].persistentModelID])
    }

    @Test func `errors that a fetch throws`() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        context.insert(Scalars())
        try context.save()
        var descriptor = FetchDescriptor<Scalars>()
        descriptor.propertiesToFetch = [\.scratch]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
        let limit = Int.max
        descriptor = FetchDescriptor(predicate: #Predicate { $0.int - 1 - limit - limit < 0 })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.fetch(descriptor) }
        // Unsaved objects are sorted by identifier, where SwiftData throws.
        context.insert(Scalars())
        let sorted = try context.fetch(FetchDescriptor<Scalars>(sortBy: [SortDescriptor(\.persistentModelID)]))
        #expect(sorted.count == 2)
        #expect(SwiftDataError.sortingPendingChangesWithIdentifiers != .unsupportedSortDescriptor)
    }

    @Test func `all and any of a collection, and the order of texts`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for (title, texts) in [("Zoe", ["x", "x"]), ("ada", ["x", "y"]), ("Äda", [])] {
            let document = Document(title)
            document.labels = texts.map { Label($0) }
            context.insert(document)
        }
        try context.save()
        func titles(_ predicate: Predicate<Document>) throws -> Set<String> {
            Set(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.title))
        }
        #expect(try titles(#Predicate { $0.labels.allSatisfy { $0.text == "x" } }) == ["Zoe", "Äda"])
        #expect(try titles(#Predicate { $0.labels.contains { $0.text == "y" } }) == ["ada"])
        #expect(try titles(#Predicate { $0.labels.filter { $0.text == "x" }.count == 2 }) == ["Zoe"])
        #expect(try titles(#Predicate { $0.title.localizedStandardContains("ADA") }) == ["ada", "Äda"])
        let order = FetchDescriptor<Document>(sortBy: [SortDescriptor(\.title, comparator: .lexical)])
        #expect(try context.fetch(order).map(\.title) == ["Zoe", "ada", "Äda"])
    }

    @Test func `identifiers as text and by key`() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("a")
        context.insert(folder)
        try context.save()
        let id = folder.persistentModelID
        #expect(id.entityName == "Folder" && id.storeIdentifier != nil && folder.id == id)
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id))
        #expect(decoded == id && decoded.id == id.id && !(id < id))
        let key = try #require(id.primaryKey)
        let made = try PersistentIdentifier.identifier(
            for: #require(id.storeIdentifier), entityName: "Folder", primaryKey: key)
        #expect(made == id && context.model(for: made) === folder)
        let registered: Folder? = context.registeredModel(for: id)
        #expect(registered === folder)
    }

    @Test func `subclasses can be left out of a deletion`() throws {
        let store = try TestStore(Trip.self, PrivateTrip.self)
        let context = store.context()
        context.insert(Trip(name: "a"))
        context.insert(PrivateTrip(name: "b"))
        try context.save()
        try context.delete(model: Trip.self, includeSubclasses: false)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Trip>()).map(\.name) == ["b"])
        try context.delete(model: Trip.self, where: nil)
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 0)
    }

    @Test func `schemas and their parts`() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: "\(folder.path)/schema.json")
        let schema = Schema(Folder.self, version: Schema.Version(2, 1, 0))
        try schema.save(to: url)
        let read = try Schema.load(from: url)
        #expect(read == schema && read.version == schema.version && read.hashValue == schema.hashValue)
        #expect(schema.encodingVersion == Schema.schemaEncodingVersion)
        #expect(Schema.entityName(for: Document.self) == "Document")
        let entity = try #require(schema.entity(for: Document.self))
        #expect(entity.attributesByName["title"]?.valueType == String.self && entity.superentity == nil)
        #expect(entity.relationshipsByName["labels"]?.isToOneRelationship == false)
        #expect(entity.relationshipsByName["labels"]?.deleteRule == .nullify && entity.storedProperties.count == 5)
        #expect(entity.storedPropertiesByName["body"]?.isRelationship == true)
        #expect(entity.inheritedPropertiesByName.isEmpty && entity.subentities.isEmpty)
        let attribute = Schema.Attribute(
            .unique, .preserveValueOnDeletion, .allowsCloudEncryption, originalName: "old", hashModifier: "1")
        #expect(attribute.isUnique && attribute.originalName == "old" && attribute.hashModifier == "1")
        let made = Schema.Attribute(name: "n", options: [.externalStorage], valueType: Data?.self)
        #expect(made.isOptional && !made.isTransformable && made.isAttribute && !made.isTransient)
        let relationship = Schema.Relationship(deleteRule: .cascade, inverse: \Document.folder)
        #expect(relationship.deleteRule == .cascade && relationship.inverseKeyPath == \Document.folder)
        let index = Schema.Index<Document>([\.title], [\.title, \.number])
        #expect(index.indices.count == 2 && !index.isUnique)
        #expect(Schema.Unique<Document>([\.title]).constraints == [[\.title]])
        let parent = Schema.Entity("P", subentities: Schema.Entity("C"), properties: made)
        #expect(parent.subentities.first?.superentityName == "P" && parent.indices.isEmpty)
        #expect(parent.uniquenessConstraints.isEmpty)
        let metadata = Schema.PropertyMetadata(
            name: "title", keypath: \Document.title, defaultValue: "x", metadata: nil)
        _ = metadata
    }

    @Test func `configurations`() throws {
        let plain = ModelConfiguration(isStoredInMemoryOnly: true)
        #expect(plain.isStoredInMemoryOnly && plain.allowsSave)
        #expect(plain.groupAppContainerIdentifier == nil && plain.cloudKitContainerIdentifier == nil)
        let named = ModelConfiguration(
            "named", schema: Schema(Folder.self), isStoredInMemoryOnly: true, allowsSave: true, groupContainer: .none,
            cloudKitDatabase: .private("x"))
        #expect(named.name == "named" && named.schema != nil && named.id == named.url)
        #expect(named.groupContainer == .none && named.cloudKitDatabase == .private("x"))
        try ModelConfiguration(for: Folder.self, isStoredInMemoryOnly: true).validate()
        let container = try ModelContainer(for: Folder.self, configurations: plain)
        #expect(container.configurations == [plain] && container.migrationPlan == nil && container == container)
        let long = ModelConfiguration(String(repeating: "x", count: 400))
        #expect(throws: SwiftDataError.configurationFileNameTooLong) { try long.validate() }
        let slashed = ModelConfiguration("a/b")
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) { try slashed.validate() }
        try container.close()
    }

    @Test func `history as protocols`() throws {
        func changes<T: HistoryProviding>(_ provider: T) throws -> [T.HistoryType] {
            try provider.fetchHistory(HistoryDescriptor<T.HistoryType>())
        }
        let store = try TestStore(Folder.self)
        let context = store.context()
        context.author = "me"
        context.insert(Folder("a"))
        try context.save()
        let transaction = try #require(try changes(context).last)
        #expect(transaction.author == "me" && transaction.changes.count == 1)
        if case .insert(let insert) = transaction.changes[0] {
            #expect(insert.changedPersistentIdentifier.entityName == "Folder")
        } else {
            Issue.record("The change is no insertion.")
        }
        let token = transaction.token
        #expect(token.tokenValue?.count == 1)
        let later = HistoryDescriptor<DefaultHistoryTransaction>(
            predicate: #Predicate { $0.token > token }, sortBy: [SortDescriptor(\.timestamp)])
        #expect(try context.fetchHistory(later).isEmpty)
    }

    @ModelActor actor Worker {
        func add(_ name: String) throws -> PersistentIdentifier {
            let folder = Folder(name)
            modelContext.insert(folder)
            try modelContext.save()
            return folder.persistentModelID
        }

        func name(_ id: PersistentIdentifier) -> String? { self[id, as: Folder.self]?.name }
    }

    @Test func `model actors`() async throws {
        let store = try TestStore(Folder.self)
        let worker = Worker(modelContainer: store.container)
        let id = try await worker.add("a")
        #expect(await worker.name(id) == "a" && worker.modelContainer === store.container)
        let executor: any ModelExecutor = DefaultSerialModelExecutor(modelContext: store.context())
        #expect(executor is any SerialModelExecutor && executor.modelContext.container === store.container)
    }
}

extension ModelContext: SurfaceTests.Repository {}
