import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineObjects
import FaultlineStore
import Foundation
import Testing

/// `container.changes(of:matching:)`: its batches, its tokens, its ends.
@Suite(.timeLimit(.minutes(5))) struct ChangeStreamTests {
    private func container() throws -> ModelContainer {
        try ModelContainer(for: Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @discardableResult
    private func add(_ numbers: some Sequence<Int>, to context: ModelContext) throws -> [Document] {
        let documents = numbers.map { Document("\($0)", number: $0) }
        documents.forEach(context.insert)
        try context.save()
        return documents
    }

    private func numbers(_ batch: ChangeBatch?) -> [Int] {
        (batch?.values ?? []).compactMap { $0["number"]?.int }
    }

    @Test func `it begins with the stored objects, then has what joins and leaves the result`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let documents = try add(1...6, to: context)
        var changes = container.changes(
            of: Document.self, matching: #Predicate { $0.number > 3 }, including: []
        ).makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(numbers(first) == [4, 5, 6] && first.inserted == documents[3...].map(\.persistentModelID))
        #expect(first.updated.isEmpty && first.deleted.isEmpty && first.isComplete)
        #expect(first.token == (try context.historyToken()))

        documents[0].number = 10  // begins to satisfy the predicate
        documents[3].number = 1  // ceases to
        documents[4].title = "changed"
        documents[1].title = "outside"
        context.delete(documents[5])
        context.delete(documents[2])
        try context.save()
        let second = try #require(try await changes.next())
        #expect(second.inserted == [documents[0].persistentModelID])
        #expect(second.updated == [documents[4].persistentModelID])
        #expect(second.deleted == [documents[3].persistentModelID, documents[5].persistentModelID])
        #expect(second.values.map { $0["title"]?.string } == ["1", "changed"])
        #expect(second.token == (try context.historyToken()))
    }

    @Test func `a change of an object that a relationship leads to is met, in the same entity too`() async throws {
        let container = try ModelContainer(
            for: Folder.self, Company.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let (parent, child) = (Folder("parent"), Folder("child"))
        child.parent = parent
        let company = Company("company")
        let visitor = Visitor("visitor")
        visitor.company = company
        for object in [parent, child, company, visitor] as [any PersistentModel] { context.insert(object) }
        try context.save()
        var folders = container.changes(
            of: Folder.self, matching: #Predicate { $0.parent?.name == "renamed" }, including: []
        ).makeAsyncIterator()
        var visitors = container.changes(
            of: Visitor.self, matching: #Predicate { !($0.company != nil && $0.name.count > 2) }, including: []
        ).makeAsyncIterator()
        #expect(try await folders.next()?.inserted == [])
        #expect(try await visitors.next()?.inserted == [])
        parent.name = "renamed"
        context.delete(company)
        try context.save()
        #expect(try await folders.next()?.inserted == [child.persistentModelID])
        #expect(try await visitors.next()?.inserted == [visitor.persistentModelID])
    }

    @Test func `saves while the reader is away are one batch, each object once`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let document = try add([1], to: context)[0]
        var changes = container.changes(of: Document.self).makeAsyncIterator()
        _ = try await changes.next()
        for number in 0..<500 {
            document.number = number
            let passing = try add([number], to: context)[0]
            if number > 0 {
                context.delete(passing)
                try context.save()
            }
        }
        let batch = try #require(try await changes.next())
        #expect(batch.inserted.count == 1 && batch.updated == [document.persistentModelID] && batch.deleted.isEmpty)
        #expect(batch.isComplete && batch.values.isEmpty)
        #expect(await changes.reader.isDelivering == false)
        // The context of the reader serves the next one.
        #expect(container.performing.contexts.idleCount == 1)
    }

    @Test func `a state with many changes comes in batches that show this state`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let documents = try add(0..<35, to: context)
        var changes = container.changes(of: Document.self, batchSize: 10, including: []).makeAsyncIterator()
        var found: [Int] = []
        for place in 0..<4 {
            let batch = try #require(try await changes.next())
            #expect(batch.isComplete == (place == 3) && (batch.token != nil) == (place == 3))
            #expect(batch.inserted.count == (place == 3 ? 5 : 10))
            found += numbers(batch)
            documents.forEach { $0.number += 100 }
            try context.save()
        }
        #expect(found == Array(0..<35))
        var updated: [Int] = []
        while true {
            let batch = try #require(try await changes.next())
            #expect(batch.inserted.isEmpty)
            updated += numbers(batch)
            if batch.isComplete { break }
        }
        #expect(updated == Array(400..<435))
    }

    @Test func `a change of a related object can change the result`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let (red, blue) = (Folder("red"), Folder("blue"))
        let documents = try add(1...4, to: context)
        documents[0].folder = red
        documents[1].folder = blue
        try context.save()
        var changes = container.changes(
            of: Document.self, matching: #Predicate { $0.folder?.name == "red" }
        ).makeAsyncIterator()
        #expect(try await changes.next()?.inserted == [documents[0].persistentModelID])
        (red.name, blue.name) = ("blue", "red")
        documents[2].folder = blue
        try context.save()
        let batch = try #require(try await changes.next())
        #expect(batch.inserted == [documents[1], documents[2]].map(\.persistentModelID))
        #expect(batch.deleted == [documents[0].persistentModelID] && batch.updated.isEmpty)
    }

    @Test func `without objects there is one empty batch, and nothing comes of other saves`() async throws {
        let container = try container()
        let context = ModelContext(container)
        var changes = container.changes(of: Document.self).makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(first.inserted.isEmpty && first.isComplete && first.token != nil)
        context.insert(Label("other"))
        try context.save()
        let document = try add([7], to: context)[0]
        #expect(try await changes.next()?.inserted == [document.persistentModelID])
    }

    @Test func `objects without classes are followed by name`() async throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        var changes = store.container.changes(
            of: FetchRequest(entityName: "Department", filter: Filter.key("name") == "a"), including: []
        ).makeAsyncIterator()
        #expect(try await changes.next()?.inserted.isEmpty == true)
        let department = try context.insertNewObject(forEntityName: "Department")
        department.setValue("b", forKey: "name")
        try context.save()
        department.setValue("a", forKey: "name")
        try context.save()
        #expect(try await changes.next()?.values.map { $0["name"]?.string } == ["a"])
    }

    // MARK: Tokens

    @Test func `a stream goes on from a token`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let documents = try add(1...6, to: context)
        let token = try #require(try context.historyToken())
        documents[0].number = 10
        documents[3].number = 1
        documents[4].title = "changed"
        context.delete(documents[5])
        let new = Document("new", number: 20)
        context.insert(new)
        try context.save()
        let coded = try JSONDecoder().decode(DefaultHistoryToken.self, from: try JSONEncoder().encode(token))
        var changes = container.changes(
            of: Document.self, matching: #Predicate { $0.number > 3 }, after: coded
        ).makeAsyncIterator()
        let batch = try #require(try await changes.next())
        // An object that satisfies the predicate now may have done so before.
        #expect(batch.inserted == [new.persistentModelID])
        #expect(batch.updated == [documents[0], documents[4]].map(\.persistentModelID))
        #expect(batch.deleted == [documents[3], documents[5]].map(\.persistentModelID))
        documents[1].number = 30
        new.number = 0
        try context.save()
        let next = try #require(try await changes.next())
        #expect(next.inserted == [documents[1].persistentModelID])
        #expect(next.deleted == [new.persistentModelID] && next.updated.isEmpty)
    }

    @Test func `a token of the newest state brings only what follows`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let documents = try add(1...6, to: context)
        var changes = container.changes(
            of: Document.self, matching: #Predicate { $0.number > 3 }, after: try context.historyToken()
        ).makeAsyncIterator()
        let reader = changes.reader
        let waiting = Task { try await reader.next() }
        documents[3].number = 0
        documents[4].title = "changed"
        try context.save()
        let batch = try #require(try await waiting.value)
        #expect(batch.updated == [documents[4].persistentModelID])
        #expect(batch.deleted == [documents[3].persistentModelID] && batch.inserted.isEmpty)
        documents[0].number = 9
        try context.save()
        #expect(try await changes.next()?.inserted == [documents[0].persistentModelID])
    }

    @Test func `a token whose save the history no longer has is refused`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let documents = try add(1...3, to: context)
        let token = try context.historyToken()
        var live = container.changes(of: Document.self).makeAsyncIterator()
        _ = try await live.next()
        documents[0].number = 9
        try context.save()
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        documents[1].number = 9
        try context.save()
        var late = container.changes(of: Document.self, after: token).makeAsyncIterator()
        await #expect(throws: SwiftDataError.historyTokenExpired) { _ = try await late.next() }
        await #expect(throws: SwiftDataError.historyTokenExpired) { _ = try await live.next() }
        #expect(try await live.next() == nil)
    }

    @Test func `saves that were deleted before they were read are missed by none`() async throws {
        let container = try container()
        let context = ModelContext(container)
        try add(1...3, to: context)
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        var (first, second) = (
            container.changes(of: Document.self).makeAsyncIterator(),
            container.changes(of: Document.self).makeAsyncIterator()
        )
        let begin = try #require(try await first.next())
        #expect(begin.isComplete && begin.token == nil)
        _ = try await second.next()
        let document = try add([4], to: context)[0]
        #expect(try await first.next()?.inserted == [document.persistentModelID])
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try add([5], to: context)
        await #expect(throws: SwiftDataError.historyTokenExpired) { _ = try await second.next() }
    }

    @Test func `a predicate about related objects cannot go on from a token if they have changed`() async throws {
        let container = try container()
        let context = ModelContext(container)
        let folder = Folder("red")
        let document = try add([1], to: context)[0]
        document.folder = folder
        try context.save()
        let token = try context.historyToken()
        folder.name = "blue"
        try context.save()
        var changes = container.changes(
            of: Document.self, matching: #Predicate { $0.folder?.name == "red" }, after: token
        ).makeAsyncIterator()
        await #expect(throws: SwiftDataError.historyTokenExpired) { _ = try await changes.next() }
    }

    @Test func `a container without a history has no changes`() async throws {
        var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        configuration.options.history = .off
        let container = try ModelContainer(for: Folder.self, configurations: configuration)
        var changes = container.changes(of: Document.self).makeAsyncIterator()
        await #expect(throws: SwiftDataError.invalidTransactionFetchRequest) { _ = try await changes.next() }
    }

    // MARK: Ends

    @Test func `a waiting stream ends when its task is cancelled, and when the container is closed`() async throws {
        let container = try container()
        let context = ModelContext(container)
        try add(1...3, to: context)
        func wait() -> Task<Void, any Error> {
            Task { for try await batch in container.changes(of: Document.self) { #expect(batch.inserted.count == 3) } }
        }
        let (first, second) = (wait(), wait())
        while container.performing.contexts.idleCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try container.close()
        let error = await #expect(throws: StorageError.self) { try await second.value }
        #expect(error?.code == .closed)
    }

    @Test func `many streams have no threads of their own`() async throws {
        let store = try PerformingStore(threads: 2)
        let container = store.container
        let heard = SharedCount()
        let streams = (0..<100).map { _ in
            Task {
                for try await batch in container.changes(of: Document.self) where !batch.inserted.isEmpty {
                    heard.add()
                }
            }
        }
        try await container.perform { context in
            context.insert(Document("a"))
            try context.save()
        }
        while heard.value < 100 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(store.counts.threads <= 2)
        streams.forEach { $0.cancel() }
        for stream in streams { await #expect(throws: CancellationError.self) { try await stream.value } }
    }

    // MARK: Another process

    @Test func `a container that only reads follows the writer`() async throws {
        let disk = MemoryDisk()
        let url = URL(filePath: "/followed")
        let writer = try StoreDisk.$current.withValue(disk) {
            try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: url))
        }
        let context = ModelContext(writer)
        let documents = try add(1...3, to: context)
        try writer.checkpoint()
        // As another process: it shares no engine with the writer.
        let reader = try StoreDisk.$current.withValue(ForwardingDisk(over: disk)) {
            try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        }
        #expect(reader.rowStore.log !== writer.rowStore.log)
        var changes = reader.changes(
            of: Document.self, matching: #Predicate { $0.number > 1 }, including: []
        ).makeAsyncIterator()
        #expect(numbers(try await changes.next()) == [2, 3])
        #expect(try !reader.refresh())
        documents[0].number = 7
        context.delete(documents[2])
        try context.save()
        try writer.checkpoint()
        let batch = try #require(try await changes.next())
        #expect(numbers(batch) == [7] && batch.deleted == [documents[2].persistentModelID])
        documents[1].number = 8
        try context.save()
        try writer.checkpoint()
        #expect(try reader.refresh())
        let readContext = ModelContext(reader)
        #expect(readContext.model(for: documents[1].persistentModelID) is Document)
        #expect(try readContext.historyToken() == (try context.historyToken()))
        #expect(try await changes.next()?.updated == [documents[1].persistentModelID])
    }
}
