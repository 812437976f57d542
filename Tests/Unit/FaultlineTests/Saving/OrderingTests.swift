import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

/// The order of a collection where a member cannot be read, and where the save fails.
@Suite struct OrderingTests {
    private struct Failure: Error {}

    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        context.insert(Folder("g"))
        folder.documents = (0..<3).map { Document("title-of-\($0)", number: $0) }
        try context.save()
    }

    private func folder(in context: ModelContext, _ name: String = "f") throws -> Folder {
        try #require(try context.all(Folder.self).first { $0.name == name })
    }

    /// Makes the row of a document unreadable.
    private func damage(_ title: String) throws {
        try store.container.close()
        let url = try #require(store.url)
        let names = try FileManager.default.subpathsOfDirectory(atPath: url.path)
        var count = 0
        for name in names {
            let file = url.appending(path: name)
            guard var data = try? Data(contentsOf: file), let range = data.range(of: Data(title.utf8)) else { continue }
            data[range.lowerBound] ^= 1
            try data.write(to: file)
            count += 1
        }
        #expect(count == 1)
    }

    @Test("an order that cannot be kept, because a member cannot be read, is refused; the handler may save")
    func unreadableMember() throws {
        try damage("title-of-1")
        let container = try ModelContainer(
            for: Schema([Folder.self]), configurations: [ModelConfiguration(url: try #require(store.url))])
        let context = ModelContext(container)
        let told = Guarded(0)
        context.errorHandler = { _ in
            let other = ModelContext(container)
            other.insert(Label("told"))
            try? other.save()
            told.withLock { $0 += 1 }
        }
        let folder = try folder(in: context)
        folder.name = "changed"
        let members = folder.documents
        folder.documents = [members[1], members[2], members[0]]
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() } }
        #expect(told.withLock { $0 } > 0)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Label>()) == told.withLock { $0 })
        #expect(try ModelContext(container).all(Folder.self).map(\.name) == ["f", "g"])
        context.rollback()
        folder.name = "changed"
        try context.save()
        #expect(folder.documents.count == 3)
        try container.close()
    }

    @Test("a save that fails leaves no property marked that it gave another place")
    func failedSave() throws {
        let context = store.context()
        let folder = try folder(in: context)
        let members = folder.documents
        members[0].title = "new"
        folder.documents = [members[1], members[2], members[0]]
        #expect(throws: Failure.self) { try context.core.save { _, _ in throw Failure() } }
        folder.documents = members
        let other = store.context()
        let moved = try #require(try other.all(Document.self).first { $0.number == 0 })
        moved.folder = try self.folder(in: other, "g")
        try other.save()
        try context.save()
        let read = try #require(try store.reopened().all(Document.self).first { $0.number == 0 })
        #expect(read.title == "new" && read.folder?.name == "g")
    }
}
