import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineObjects
import FaultlineStore
import FaultlineTestSupport
import Testing

/// A19: a reader beside a writer of another process sees its saves.
@Suite struct FollowingTests {
    private let disk = MemoryDisk()
    private static let types = [Folder._$modelType, Document._$modelType, Label._$modelType, Body._$modelType]

    private var options: LogOptions {
        var options = LogOptions()
        options.maintenance = .manual
        return options
    }

    private func writer() throws -> ModelContainer {
        try ModelContainer(for: [Folder.self], directory: "/store", on: disk, options: options)
    }

    /// Opens the store as another process would: otherwise this process would share the writer's engine.
    private func reader() throws -> ModelContext {
        var reading = options
        reading.access = .reading
        let log = try Log.open(
            "/store", on: ForwardingDisk(over: disk), clock: .system, options: reading, deriver: RowIndexDeriver())
        let opened = try #require(try StoredOpening.open(log, isReadOnly: true))
        return ModelContext(ContextCore(store: opened.store, types: Self.types, isReadOnly: true), owner: nil)
    }

    private func titles(_ context: ModelContext) throws -> [String] {
        try context.all(Document.self, sortBy: [SortDescriptor(\.number)]).map(\.title)
    }

    @Test("A19: each fetch of a reader shows the saves that are known to be synchronized")
    func follows() throws {
        let container = try writer()
        let context = ModelContext(container)
        context.insert(Document("a", number: 1))
        try context.save()
        try container.checkpoint()
        let reader = try reader()
        #expect(try titles(reader) == ["a"])
        let first = try #require(try reader.all(Document.self).first)
        for number in 2...20 {
            context.insert(Document("d", number: number))
            try context.all(Document.self).first { $0.number == 1 }?.title = "a\(number)"
            try context.save()
            if number % 7 == 0 { try container.checkpoint() }
            // The last save is known to be synchronized only after a later save or a checkpoint.
            #expect(try titles(reader).count >= number - 1)
        }
        try container.checkpoint()
        #expect(try titles(reader) == ["a20"] + Array(repeating: "d", count: 19))
        #expect(first.title == "a20")
        let all = try context.all(Document.self)
        all.prefix(10).forEach(context.delete)
        try context.save()
        try container.checkpoint()
        #expect(try titles(reader).count == 10)
    }

    @Test("A19: a reader that is pinned stays, and goes on when it is not")
    func pinned() throws {
        let container = try writer()
        let context = ModelContext(container)
        context.insert(Document("a", number: 1))
        try context.save()
        try container.checkpoint()
        let reader = try reader()
        try reader.pin("test")
        context.insert(Document("b", number: 2))
        try context.save()
        try container.checkpoint()
        #expect(try titles(reader) == ["a"])
        reader.unpin()
        #expect(try titles(reader) == ["a", "b"])
    }
}
