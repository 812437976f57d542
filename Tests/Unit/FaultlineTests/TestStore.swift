import Faultline
import FaultlineLog
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A store in a temporary folder, or in memory, that is verified at every reopening and at the end.
final class TestStore {
    let types: [any PersistentModel.Type]
    let folder: TemporaryDirectory?
    private(set) var container: ModelContainer
    private let options: StoreOptions

    /// Where a test's store is.
    enum Place: CaseIterable {
        case folder, memory
    }

    init(_ types: any PersistentModel.Type..., place: Place = .folder, memoryBudget: Int = 64 << 20) throws {
        self.types = types
        options = Self.options(memoryBudget)
        folder = place == .folder ? TemporaryDirectory() : nil
        container = try Self.open(types, folder, options)
    }

    private static func options(_ memoryBudget: Int) -> StoreOptions {
        var options = StoreOptions()
        options.durability = .async
        options.memoryBudget = memoryBudget
        return options
    }

    var url: URL? { folder.map { URL(filePath: "\($0.path)/test.store") } }

    private static func open(
        _ types: [any PersistentModel.Type], _ folder: TemporaryDirectory?, _ options: StoreOptions
    ) throws -> ModelContainer {
        var configuration =
            folder.map { ModelConfiguration(url: URL(filePath: "\($0.path)/test.store")) }
            ?? ModelConfiguration(isStoredInMemoryOnly: true)
        configuration.options = options
        return try ModelContainer(for: Schema(types), configurations: [configuration])
    }

    func context() -> ModelContext { ModelContext(container) }

    /// Closes the store and opens it again, so that everything is read from the disk.
    ///
    /// A store in memory stays as it is.
    func reopen() throws {
        try verify()
        guard let folder else { return }
        try container.close()
        container = try Self.open(types, folder, options)
        try verify()
    }

    /// Checks every record, blob and index entry.
    func verify(sourceLocation: SourceLocation = #_sourceLocation) throws {
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        #expect(findings.isEmpty, sourceLocation: sourceLocation)
    }

    /// Reopens the store, and returns a context that has read nothing.
    func reopened() throws -> ModelContext {
        try reopen()
        return context()
    }
}

extension TestStore {
    /// A store of documents whose numbers begin with 0.
    static func ofDocuments(_ count: Int) throws -> TestStore {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<count { context.insert(Document("d\(number)", number: number)) }
        try context.save()
        return store
    }
}

extension ModelContext {
    func all<T: PersistentModel>(_ type: T.Type = T.self, sortBy: [SortDescriptor<T>] = []) throws -> [T] {
        try fetch(FetchDescriptor<T>(sortBy: sortBy))
    }

    func first<T: PersistentModel>(_ type: T.Type = T.self) throws -> T { try #require(try all(type).first) }
}
