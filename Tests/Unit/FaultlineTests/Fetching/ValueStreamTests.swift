import Faultline
import FaultlineDisk
import FaultlineObjects
import Synchronization
import Testing

/// Value copies of objects, and streams of them.
@Suite struct ValueCopyTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, Scalars.self, Optionals.self, Photo.self)
    }

    @Test func aCopyHasTheValuesAndGoesAnywhere() async throws {
        let context = store.context()
        let folder = Folder("f")
        let document = Document("d", number: 3)
        document.folder = folder
        document.labels = [Label("l1"), Label("l2")]
        context.insert(document)
        try context.save()
        let labels = document.labels.map(\.persistentModelID)
        let copy = try document.valueCopy(including: .collections)
        #expect(copy.id == document.persistentModelID && copy["title"] == .string("d") && copy["number"]?.int == 3)
        #expect(copy["folder"]?.identifier == folder.persistentModelID && copy["body"] == .null)
        #expect(copy["labels"] == .objects(labels) && copy["nothing"] == nil)
        #expect(copy[\Document.title] == .string("d") && copy[\Folder.name] == nil)
        #expect(try document.valueCopy()["labels"] == nil)
        // Sent to another task: the copy includes unsaved changes, and an earlier copy stays unchanged.
        #expect(await Task.detached { copy["title"] }.value == .string("d"))
        document.title = "changed"
        document.folder = nil
        document.labels.removeLast()
        let changed = try document.valueCopy(including: .collections)
        #expect(changed["title"]?.string == "changed" && changed["folder"] == .null && copy["title"] == .string("d"))
        #expect(changed["labels"] == .objects([labels[0]]) && changed != copy)
    }

    @Test func everyKindOfAttributeIsCopied() throws {
        let context = store.context()
        let scalars = Scalars()
        scalars.uint64 = .max
        scalars.int8 = -8
        scalars.rank = .high
        scalars.place = Place(city: "Bern")
        scalars.decimal = Decimal(string: "12.5") ?? 0
        context.insert(scalars)
        context.insert(Optionals())
        try context.save()
        let copy = try store.reopened().first(Scalars.self).valueCopy()
        #expect(copy["uint64"] == .integer(Int128(UInt64.max)) && copy["int8"] == .integer(-8))
        #expect(copy["rank"] == .integer(9) && copy["color"] == .string("red") && copy["bool"] == .bool(false))
        #expect(copy["decimal"] == .decimal(12.5) && copy["double"]?.double == 0 && copy["float"] == .float(0))
        #expect(
            copy["date"] == .date(Date(timeIntervalSinceReferenceDate: 0)) && copy["url"] == .url(URL(filePath: "/")))
        guard case .codable(let place) = copy["place"] else { throw SwiftDataError.unsupportedKeyPath }
        #expect(try place.decode(as: Place.self).city == "Bern" && copy["scratch"] == nil)
        #expect(copy.values.count == 25)
        let optionals = try store.context().first(Optionals.self).valueCopy()
        #expect(optionals["bool"] == .null && optionals["place"] == .null && optionals["preset"] == .integer(42))
    }

    @Test func largeValuesAreReadOnRequest() throws {
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 5, count: 50_000)
        context.insert(photo)
        try context.save()
        let again = try store.reopened()
        let found = try again.first(Photo.self)
        #expect(try found.valueCopy()["large"] == .outOfRow(byteCount: 50_000))
        #expect(again.counters.blobBytesRead == 0)
        #expect(try found.valueCopy(including: .largeValues)["large"] == .data(Data(repeating: 5, count: 50_000)))
    }

    @Test func whatIsGoneOrInNoContextSaysSo() throws {
        let context = store.context()
        let document = Document("d")
        document.labels = [Label("l")]
        let detached = try document.valueCopy(including: .collections)
        #expect(detached["title"] == .string("d") && detached.id == document.persistentModelID)
        #expect(detached["labels"] == .objects(document.labels.map(\.persistentModelID)))
        context.insert(document)
        try context.save()
        let other = store.context()
        let twin = try other.first(Document.self)
        context.delete(document)
        try context.save()
        // The object deleted here has its last values; the one that was never read has none.
        #expect(try document.valueCopy()["title"] == .string("d"))
        _ = try other.fetchCount(FetchDescriptor<Document>())
        #expect(throws: SwiftDataError.missingModelContext) { try twin.valueCopy() }
    }
}

/// A value that several tasks share.
private final class Shared<Value: Sendable>: Sendable {
    private let held: Guarded<Value>

    init(_ value: Value) { held = Guarded(value) }

    var value: Value {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}

/// Fetches as value copies, batch by batch, and code on its own queues.
@Suite struct ValueStreamTests {
    private let store: TestStore

    init() throws { store = try TestStore(Folder.self, Document.self, Label.self, Body.self) }

    private func fill(_ count: Int) throws {
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        try context.save()
        let identifier = folder.persistentModelID
        try context.batchInsert(
            Document.self,
            (0..<count).lazy.map { (number: Int) -> [String: Any?] in
                ["title": "d\(number % 10)", "number": number, "folder": identifier]
            })
    }

    private func numbers(_ stream: ValueStream) async throws -> [Int] {
        var numbers: [Int] = []
        for try await batch in stream { numbers += batch.compactMap { $0["number"]?.int } }
        return numbers
    }

    @Test(arguments: [1, 64, 1_000])
    func batchesHaveEveryObjectOnceInItsOrder(_ size: Int) async throws {
        try fill(500)
        let container = store.container
        #expect(try await numbers(container.stream(FetchDescriptor<Document>(), batchSize: size)) == Array(0..<500))
        var descriptor = FetchDescriptor<Document>(
            predicate: #Predicate { $0.number % 2 == 0 }, sortBy: [SortDescriptor(\.number, order: .reverse)])
        #expect(
            try await numbers(container.stream(descriptor, batchSize: size))
                == Array(stride(from: 498, through: 0, by: -2)))
        descriptor.fetchOffset = 10
        descriptor.fetchLimit = 20
        #expect(
            try await numbers(container.stream(descriptor, batchSize: size))
                == Array(stride(from: 478, to: 438, by: -2)))
        descriptor.sortBy = []
        descriptor.predicate = #Predicate { $0.title.count == 2 && $0.number > 100 }
        #expect(try await numbers(container.stream(descriptor, batchSize: size)) == Array(111..<131))
    }

    @Test func aStreamShowsOneStateAndHoldsOneBatch() async throws {
        try fill(20_000)
        let container = store.container
        var iterator = container.stream(FetchDescriptor<Document>(), batchSize: 100).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.count == 100 && container.pins.map(\.label) == ["stream"])
        let context = store.context()
        try context.batchDelete(Document.self, where: #Predicate { $0.number % 2 == 0 })
        try context.batchUpdate(Document.self, .set(\.title, to: "new"))
        let before = container.counters
        let second = try #require(try await iterator.next())
        #expect(second.compactMap { $0["number"]?.int } == Array(100..<200) && second[0]["title"] == .string("d0"))
        #expect(second[0]["folder"]?.identifier == first[0]["folder"]?.identifier)
        // Nothing is read ahead of the consumer, and no object is made.
        #expect((container.counters - before).rowsRead < 600 && (container.counters - before).faultsFired == 0)
        var count = 200
        while let batch = try await iterator.next() { count += batch.count }
        #expect(count == 20_000 && container.pins.isEmpty)
        #expect(try await iterator.next() == nil)
    }

    @Test func aCancelledTaskEndsItsStreamBetweenTwoRows() async throws {
        try fill(20_000)
        let container = store.container
        let taken = Shared(0)
        let task = Task {
            for try await batch in container.stream(FetchDescriptor<Document>(), batchSize: 50) {
                taken.value += batch.count
                if taken.value == 200 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(taken.value == 200 && container.pins.isEmpty)
        // A stream cancelled in the middle of a batch does not read the batch to its end.
        let before = container.counters
        let other = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in container.stream(FetchDescriptor<Document>(), batchSize: 20_000) {}
        }
        await #expect(throws: CancellationError.self) { try await other.value }
        #expect((container.counters - before).rowsRead == 0)
    }

    @Test func anIteratorThatIsDroppedLetsGo() async throws {
        try fill(1_000)
        let container = store.container
        for try await _ in container.stream(FetchDescriptor<Document>(), batchSize: 10) { break }
        for _ in 0..<1_000 where !container.pins.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        #expect(container.pins.isEmpty)
    }

    @Test func readersBlockNoSharedThread() async throws {
        try fill(2_000)
        let container = store.container
        // More blocked closures and streams than shared threads; this task still continues, and other tasks run.
        let gate = Shared(false)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    try await container.perform { context in
                        while !gate.value { Thread.sleep(forTimeInterval: 0.001) }
                        return try context.fetchCount(FetchDescriptor<Document>())
                    }
                }
            }
            for _ in 0..<16 {
                group.addTask {
                    var count = 0
                    for try await batch in container.stream(FetchDescriptor<Document>(), batchSize: 100) {
                        count += batch.count
                    }
                    return count
                }
            }
            for _ in 0..<16 { #expect(await Task { 1 }.value == 1) }
            gate.value = true
            for try await count in group { #expect(count == 2_000) }
        }
    }

    @Test func codeWithAContextOfItsOwnSaves() async throws {
        try fill(10)
        let container = store.container
        let identifier = try await container.perform { context in
            let document = Document("new", number: 99)
            context.insert(document)
            try context.save()
            return document.persistentModelID
        }
        let copy = try await container.perform { context in
            try (context.model(for: identifier) as? Document)?.valueCopy()
        }
        #expect(copy?["number"]?.int == 99)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await container.perform { context in
                context.insert(Document("dropped"))
                throw Stop()
            }
        }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.perform { try $0.fetchCount(FetchDescriptor<Document>()) }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try store.reopened().fetchCount(FetchDescriptor<Document>()) == 11)
    }

    @Test func anOrderThatRowsDoNotHaveIsRefused() async throws {
        try fill(10)
        let descriptor = FetchDescriptor<Document>(sortBy: [SortDescriptor(\.folder?.name)])
        await #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try await numbers(store.container.stream(descriptor))
        }
        #expect(store.container.pins.isEmpty)
    }

    @Test func objectsWithoutClassesAreStreamed() async throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let department = try context.make("Department", ["name": "d"])
        for number in 0..<30 { _ = try context.make("Person", ["name": "p\(number)", "department": department]) }
        try context.save()
        var copies: [ValueCopy] = []
        let request = FetchRequest(entityName: "Department")
        for try await batch in store.container.stream(request, including: .collections) { copies += batch }
        guard case .objects(let people) = copies.first?["people"] else { throw SwiftDataError.unsupportedKeyPath }
        #expect(copies.count == 1 && people.count == 30)
        #expect(try department.valueCopy(including: .collections) == copies[0])
        var names: [String] = []
        let sorted = FetchRequest(entityName: "Person", sortedBy: [.descending("name")])
        for try await batch in store.container.stream(sorted, batchSize: 7) {
            names += batch.compactMap { $0["name"]?.string }
        }
        #expect(names == names.sorted(by: >) && names.count == 30)
    }
}
