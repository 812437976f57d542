import Faultline
import FaultlineLog
import FaultlineObjects
import FaultlineTestSupport
import Testing

/// Counts the costs of reading.
@Suite struct ReadingCostTests {
    private func documents(_ count: Int) throws -> TestStore {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        for number in 0..<count {
            let document = Document("d", number: (number * 7_919) % count)
            document.folder = folder
            context.insert(document)
        }
        try context.save()
        return store
    }

    @Test("A18: a range beyond a blob's bytes is an error")
    func blobRange() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 7, count: 6_000)
        photo.small = Data([1, 2, 3])
        context.insert(photo)
        try context.save()
        let read = try store.reopened().first(Photo.self)
        for (blob, count) in [(read.blob(\.large), 6_000), (read.blob(\.small), 3)] {
            let blob = try #require(blob)
            for range in [0..<count + 1, count + 1..<count + 2, -1..<1, Int.min..<Int.max] {
                let error = #expect(throws: StorageError.self) { try blob.data(in: range) }
                #expect(error?.code == .outOfRange)
            }
            #expect(try blob.data(in: count - 1..<count).count == 1 && blob.data(in: 1..<3).count == 2)
        }
    }

    @Test("C5: a stream lists the objects that an index names once")
    func streamedCandidates() async throws {
        let store = try documents(1_000)
        let folder = try store.context().first(Folder.self).persistentModelID
        let core = ContextCore(
            store: store.container.rowStore, types: [Folder._$modelType, Document._$modelType], isReadOnly: true)
        let descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.folder?.persistentModelID == folder })
        let reader = ValueStreamReader.reading(
            descriptor, 10, [], on: store.container.performing.pool
        ) { core }
        var count = 0
        while let batch = try await reader.nextBatch() { count += batch.count }
        #expect(count == 1_000)
        #expect(core.reports.walked.candidateListings == 1)
    }

    @Test("C7: a window far behind the beginning keeps its own rows only")
    func deepWindow() throws {
        let store = try documents(20_000)
        let context = try store.reopened()
        var descriptor = FetchDescriptor<Document>(sortBy: [SortDescriptor(\.number)])
        descriptor.fetchOffset = 19_000
        descriptor.fetchLimit = 50
        let found = try context.fetch(descriptor)
        #expect(found.map(\.number) == Array(19_000..<19_050))
        #expect(context.core.loadedByteCount <= 2 * RowArena.blockByteCount)
        #expect(context.counters.faultsFired == 0)
    }

    @Test("C7: every window of a sorted fetch is the one of all that was found", arguments: [0, 1, 31, 33, 500, 4_999])
    func windows(offset: Int) throws {
        let store = try documents(5_000)
        let context = store.context()
        for limit in [1, 30, 700, 5_000, 0] {
            for order in [SortOrder.forward, .reverse] {
                var descriptor = FetchDescriptor<Document>(
                    sortBy: [SortDescriptor(\.title), SortDescriptor(\.number, order: order)])
                let all = order == .forward ? Array(0..<5_000) : Array((0..<5_000).reversed())
                descriptor.fetchOffset = offset
                descriptor.fetchLimit = limit == 0 ? nil : limit
                let wanted = Array(all.dropFirst(offset).prefix(limit == 0 ? 5_000 : limit))
                #expect(try context.fetch(descriptor).map(\.number) == wanted)
                #expect(try context.fetchIdentifiers(descriptor).count == wanted.count)
            }
        }
    }

    @Test("C6: an object that is taken back leaves the others where they are")
    func takingBack() throws {
        let store = try documents(2_000)
        let context = store.context()
        let all = try context.all(Document.self)
        all.forEach(context.delete)
        for document in all.dropFirst(500) { context.insert(document) }
        #expect(
            Set(context.deletedModelsArray.map(\.persistentModelID)) == Set(all.prefix(500).map(\.persistentModelID)))
        for document in all.dropFirst(500) { document.title = "changed" }
        for document in all.dropFirst(1_000) { context.refresh(document, mergeChanges: false) }
        context.delete(all[1_999])
        context.insert(all[499])
        try context.save()
        let stored = try store.reopened().all(Document.self)
        #expect(stored.count == 1_500 && stored.count { $0.title == "changed" } == 500)
    }
}
