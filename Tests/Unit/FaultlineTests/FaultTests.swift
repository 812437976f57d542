import Faultline
import FaultlineTestSupport
import Testing

@Suite struct FaultTests {
    private func photos(_ count: Int, memoryBudget: Int = 64 << 20) throws -> TestStore {
        let store = try TestStore(Photo.self, memoryBudget: memoryBudget)
        let context = store.context()
        for number in 0..<count {
            let photo = Photo("\(number)")
            photo.small = Data(repeating: UInt8(number % 256), count: 200)
            photo.large = Data(repeating: UInt8(number % 256), count: 6_000)
            photo.external = Data([UInt8(number % 256)])
            context.insert(photo)
        }
        try context.save()
        return store
    }

    @Test func aListReadsNoRows() throws {
        let store = try photos(100)
        let context = try store.reopened()
        let list = try context.all(Photo.self)
        #expect(list.count == 100)
        #expect(context.counters.rowsRead == 0)
        #expect(context.counters.faultsFired == 0)
    }

    @Test func aTouchReadsOneRowAndNoValueOutOfIt() throws {
        let store = try photos(100)
        let context = try store.reopened()
        let list = try context.all(Photo.self)
        #expect(list[50].name == "50")
        #expect(context.counters.faultsFired == 1)
        #expect(context.counters.rowsRead == 1)
        #expect(list[50].small.count == 200)
        #expect(context.counters.faultsFired == 1)
        #expect(context.counters.blobBytesRead == 0)
        #expect(list[50].external == Data([50]))
        #expect(context.counters.blobBytesRead == 1)
        #expect(list[50].large.count == 6_000)
        #expect(context.counters.blobBytesRead == 6_001)
        #expect(context.counters.rowsRead == 1)
    }

    @Test func aPredicateOnNilReadsNoValueOutOfTheRow() throws {
        let store = try photos(50)
        let context = try store.reopened()
        #expect(try context.fetchCount(FetchDescriptor<Photo>(predicate: #Predicate { $0.external != nil })) == 50)
        #expect(context.counters.blobBytesRead == 0)
        #expect(context.counters.rowsRead == 50)
    }

    @Test func anUpdateReadsNoOtherValueOutOfTheRow() throws {
        let store = try photos(10)
        let context = try store.reopened()
        let photo = try context.all(Photo.self)[3]
        photo.name = "changed"
        photo.external = Data([7])
        try context.save()
        #expect(context.counters.blobBytesRead == 0)
        let again = try store.reopened().all(Photo.self)[3]
        #expect(again.large == Data(repeating: 3, count: 6_000))
        #expect(again.external == Data([7]))
    }

    @Test func oneRowIsOneObject() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        folder.documents = [Document("a"), Document("b")]
        context.insert(folder)
        try context.save()
        #expect(try context.first(Folder.self) === folder)
        let second = try store.reopened()
        let documents = try second.all(Document.self)
        let again = try second.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title == "b" }))
        #expect(again[0] === documents[1])
        #expect(documents[0].folder === documents[1].folder)
        #expect(try second.first(Folder.self) === documents[0].folder)
        #expect(second.model(for: documents[0].persistentModelID) as? Document === documents[0])
        let registered: Document? = second.registeredModel(for: documents[0].persistentModelID)
        #expect(registered === documents[0])
        var walked: [Document] = []
        try second.enumerate(FetchDescriptor<Document>()) { walked.append($0) }
        #expect(walked[1] === documents[1])
        #expect(try store.context().first(Document.self) !== documents[0])
    }

    @Test func anObjectReachedThroughARelationshipCanBeChanged() throws {
        let store = try TestStore(Cached.self, Folder.self)
        let context = store.context()
        let one = Cached(1)
        one.next = Cached(2)
        context.insert(one)
        let document = Document("d")
        document.folder = Folder("f")
        context.insert(document)
        try context.save()
        let second = try store.reopened()
        let read = try second.first(Document.self)
        read.folder?.name = "changed"
        let cached = try #require(try second.all(Cached.self).first { $0.value == 1 })
        #expect(cached.before == [1, 2, 3])
        #expect(cached.behind == "text")
        cached.next?.value = 20
        cached.next?.before.append(4)
        #expect(cached.next?.before == [1, 2, 3, 4])
        try second.save()
        let third = try store.reopened()
        #expect(try third.first(Folder.self).name == "changed")
        #expect(Set(try third.all(Cached.self).map(\.value)) == [1, 20])
    }

    @Test func anObjectFoundByItsIdentifierCanBeChangedBeforeAnyOther() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let list = Playlist("p")
        list.favourite = Song("s")
        context.insert(list)
        try context.save()
        let identifier = try #require(list.favourite?.persistentModelID)
        let second = store.context()
        let song = try #require(second.model(for: identifier) as? Song)
        song.name = "changed"
        try second.save()
        #expect(try store.reopened().first(Song.self).name == "changed")
    }

    @Test func objectsOutliveTheirContext() throws {
        let store = try TestStore(Folder.self)
        var context: ModelContext? = store.context()
        let folder = Folder("f")
        folder.documents = [Document("a"), Document("b")]
        context?.insert(folder)
        try context?.save()
        context = store.context()
        let read = try #require(try context?.first(Folder.self))
        #expect(read.modelContext === context)
        context = nil
        #expect(read.modelContext == nil)
        #expect(read.name == "f")
        #expect(read.documents.map(\.title) == ["a", "b"])
        read.name = "only here"
        #expect(read.name == "only here")
    }

    @Test func aContextThatIsDroppedWithChangesIsFreed() throws {
        let store = try TestStore(Folder.self)
        weak var saved: Document?
        weak var unsaved: Document?
        do {
            let context = store.context()
            let document = Document("a")
            context.insert(document)
            try context.save()
            document.title = "b"
            let other = Document("c")
            other.folder = Folder("f")
            context.insert(other)
            saved = document
            unsaved = other
        }
        #expect(saved == nil)
        #expect(unsaved == nil)
    }

    @Test func objectsThatAreGoneAreMadeAnewAndChangesAreHeld() throws {
        let store = try photos(3_000)
        let context = store.context()
        for round in 0..<3 {
            for photo in try context.all(Photo.self) where photo.name.hasSuffix("7") { photo.name = "7 \(round)7" }
            #expect(context.changedModelsArray.count == 300)
            #expect(try context.all(Photo.self).filter { $0.name == "7 \(round)7" }.count == 300)
            try context.save()
        }
    }

    @Test func anObjectThatWasLetGoIsNotReadAgain() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<300 { context.insert(Folder("\(number)")) }
        try context.save()
        let reader = try store.reopened()
        let identifiers = try reader.fetchIdentifiers(FetchDescriptor<Folder>())
        func name(_ place: Int) -> String? { (reader.model(for: identifiers[place]) as? Folder)?.name }
        // The first fault of an entity is not recorded.
        #expect(name(299) == "299")
        #expect(name(7) == "7")
        let before = reader.counters
        #expect(name(7) == "7")
        #expect((reader.counters - before).rowsRead == 0)
        // 256 numbers later, one entry replaces the other.
        #expect(name(7 + 256) == "263")
        #expect(name(7) == "7")
        #expect((reader.counters - before).rowsRead == 2)

        // Rows that other contexts have replaced or deleted since are not used.
        let other = store.context()
        let folder = try #require(other.model(for: identifiers[7]) as? Folder)
        folder.name = "seven"
        try other.save()
        _ = try reader.fetchCount(FetchDescriptor<Folder>())
        #expect(name(7) == "seven")
        other.delete(folder)
        try other.save()
        _ = try reader.fetchCount(FetchDescriptor<Folder>())
        #expect(name(7) == "")
    }

    @Test func missingRowsAnswerWithStandIns() throws {
        let store = try TestStore(Optionals.self, Folder.self)
        let context = store.context()
        let document = Document("d")
        context.insert(document)
        let optionals = Optionals()
        context.insert(optionals)
        try context.save()
        let other = store.context()
        let held = try other.first(Document.self)
        let optionalsHeld = try other.first(Optionals.self)
        context.delete(document)
        context.delete(optionals)
        try context.save()
        _ = try other.all(Document.self)
        #expect(held.title == "")
        #expect(held.folder == nil)
        #expect(held.labels.isEmpty)
        #expect(held.isDeleted)
        #expect(optionalsHeld.place == nil)
        held.title = "x"
        let refused = #expect(throws: SwiftDataError.self) { try other.save() }
        #expect(refused?.findings.map(\.rule) == [.deletedElsewhere] && held.title == "")
        try other.save()
        let unknown = try #require(other.model(for: document.persistentModelID) as? Document)
        #expect(unknown.number == 0)
    }

    @Test func objectsAreReleasedOnOtherThreadsWhileTheContextFetches() async throws {
        let store = try photos(2_000)
        // Safe because the thread only releases references; the objects are used here.
        struct Cargo: @unchecked Sendable { let objects: [Photo] }
        let context = store.context()
        var random = Seed(7)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                var objects = (try? context.all(Photo.self)) ?? []
                for _ in 0..<50 {
                    let object = objects[random.below(objects.count)]
                    #expect(Int(object.name).map { UInt8($0 % 256) } == object.small.first)
                }
                objects.shuffle(using: &random)
                let cargo = Cargo(objects: objects)
                objects = []
                group.addTask { _ = cargo.objects.count }
            }
        }
        let names = Set(try context.all(Photo.self).map(\.name))
        #expect(names.count == 2_000)
    }

    @Test func theCacheStaysWithinItsBudget() throws {
        let budget = 4 << 20
        let store = try TestStore(Photo.self, memoryBudget: budget)
        for part in 0..<20 {
            let context = store.context()
            for number in 0..<1_400 {
                let photo = Photo("\(part) \(number)")
                photo.small = Data(repeating: UInt8(part), count: 3_000)
                context.insert(photo)
            }
            try context.save()
        }
        try store.container.checkpoint()
        let context = try store.reopened()
        var largest = 0
        var sum = 0
        let all = try context.all(Photo.self)
        #expect(all.count == 28_000)
        for (place, photo) in all.enumerated() {
            sum += photo.small.count
            if place % 64 == 0 { largest = max(largest, context.counters.cacheBytes) }
        }
        #expect(sum == 28_000 * 3_000)
        #expect(largest <= budget, "\(largest)")
        // Reads them again, in random order.
        var random = Seed(3)
        for _ in 0..<3_000 { #expect(all[random.below(all.count)].small.count == 3_000) }
        #expect(context.counters.cacheBytes <= budget)
    }
}
