import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineStore
import Synchronization
import Testing

@Suite struct DeletionTests {
    @Test func cascadeFollowsTheDeclaredSide() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let root = Folder("root")
        let inner = Folder("inner")
        root.folders = [inner]
        inner.documents = [Document("a"), Document("b")]
        inner.documents[0].body = Body(Data(repeating: 1, count: 10_000))
        inner.documents[0].labels = [Label("kept")]
        let outside = Document("outside")
        context.insert(root)
        context.insert(outside)
        try context.save()
        // Unsaved objects are deleted too.
        let late = Document("late")
        inner.documents.append(late)
        context.delete(root)
        #expect(root.isDeleted)
        try context.save()
        #expect(late.modelContext == nil)
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<Folder>()) == 0)
        #expect(try again.all(Document.self).map(\.title) == ["outside"])
        #expect(try again.fetchCount(FetchDescriptor<Body>()) == 0)
        #expect(try again.first(Label.self).documents.isEmpty)
    }

    @Test func `a cascade follows an unsaved reference, and not the stored one`() throws {
        let store = try TestStore(Document.self)
        let context = store.context()
        let document = Document("d")
        document.body = Body(Data([1]))
        context.insert(document)
        try context.save()
        document.body = Body(Data([2]))
        context.delete(document)
        try context.save()
        #expect(try store.context().fetch(FetchDescriptor<Body>()).map(\.bytes) == [Data([1])])

        let second = Document("e")
        context.insert(second)
        try context.save()
        let bodies = try context.fetch(FetchDescriptor<Body>())
        second.body = bodies[0]
        context.delete(second)
        try context.save()
        #expect(try store.context().fetchCount(FetchDescriptor<Body>()) == 0)
    }

    @Test func nullifyClearsTheOtherSide() throws {
        let store = try TestStore(Folder.self, User.self)
        let context = store.context()
        let document = Document("d")
        let labels = [Label("1"), Label("2")]
        document.labels = labels
        let other = Document("e")
        other.labels = labels
        context.insert(document)
        context.insert(other)
        let team = Team("t")
        team.users = [User("a"), User("b")]
        context.insert(team)
        try context.save()
        context.delete(document)
        context.delete(team)
        try context.save()
        #expect(labels[0].documents == [other])
        let again = try store.reopened()
        #expect(try again.all(Label.self).map { $0.documents.map(\.title) } == [["e"], ["e"]])
        #expect(try again.all(User.self).allSatisfy { $0.team == nil })
        // Deletes from the side that declares nothing.
        again.delete(try again.first(Label.self))
        try again.save()
        let last = try store.reopened()
        #expect(try last.first(Document.self).labels.map(\.text) == ["2"])
    }

    @Test func denyRefusesAndSavesNothing() throws {
        let store = try TestStore(Company.self)
        let context = store.context()
        let company = Company("c")
        let worker = Worker("w")
        company.workers = [worker]
        context.insert(company)
        try context.save()
        company.name = "changed"
        context.delete(company)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try store.context().first(Company.self).name == "c")
        context.rollback()
        #expect(!company.isDeleted)
        #expect(company.name == "c")
        // Deleting both in one save is allowed, in either order.
        context.delete(company)
        context.delete(worker)
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Company>()) == 0)
    }

    @Test func noActionLeavesADanglingReferenceThatIsNil() throws {
        let store = try TestStore(Company.self)
        let context = store.context()
        let company = Company("c")
        company.visitors = [Visitor("v")]
        context.insert(company)
        try context.save()
        context.delete(company)
        try context.save()
        let again = try store.reopened()
        let visitor = try again.first(Visitor.self)
        #expect(visitor.company == nil)
        visitor.company = Company("new")
        try again.save()
        #expect(try store.reopened().first(Visitor.self).company?.name == "new")
    }

    @Test func parentAndChildAreDeletedInOneSave() throws {
        let store = try TestStore(Folder.self)
        for order in 0..<2 {
            let context = store.context()
            let folder = Folder("f")
            folder.documents = [Document("a"), Document("b")]
            folder.documents[0].labels = [Label("l")]
            context.insert(folder)
            try context.save()
            let document = folder.documents[0]
            let label = document.labels[0]
            for object in order == 0 ? [0, 1, 2] : [2, 1, 0] {
                switch object {
                case 0: context.delete(folder)
                case 1: context.delete(document)
                default: context.delete(label)
                }
            }
            try context.save()
            let again = try store.reopened()
            #expect(try again.fetchCount(FetchDescriptor<Document>()) == 0)
            #expect(try again.fetchCount(FetchDescriptor<Label>()) == 0)
            #expect(try again.fetchCount(FetchDescriptor<Folder>()) == 0)
            // No link remains.
            for entity in store.container.rowStore.storage.entities {
                for case .toMany(let relationship) in entity.slots {
                    guard case .link(let side, _) = relationship.members else { continue }
                    #expect(store.container.rowStore.log.snapshot().recordCount(of: side.table) == 0)
                }
            }
        }
    }

    @Test func aDeletedObjectIsOutOfFetchesAndCollectionsAtOnce() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        folder.documents = [Document("a"), Document("b")]
        context.insert(folder)
        try context.save()
        let document = folder.documents[0]
        context.delete(document)
        #expect(document.isDeleted)
        #expect(folder.documents.map(\.title) == ["b"])
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 1)
        #expect(try context.all(Document.self).map(\.title) == ["b"])
        // Inserting it again reverts the deletion.
        context.insert(document)
        #expect(!document.isDeleted)
        #expect(folder.documents.map(\.title) == ["a", "b"])
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Document>()) == 2)
    }

    @Test func deletingTwiceOrBeforeSavingIsHarmless() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let saved = Document("s")
        context.insert(saved)
        try context.save()
        context.delete(saved)
        context.delete(saved)
        let unsaved = Document("u")
        context.insert(unsaved)
        unsaved.folder = Folder("f")
        context.delete(unsaved)
        context.delete(unsaved)
        try context.save()
        #expect(unsaved.modelContext == nil)
        context.delete(saved)
        context.delete(unsaved)
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Document>()) == 0)
    }

    @Test func aDeletedObjectAnswersWithItsLastValues() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        for number in 0..<3 {
            let photo = Photo("\(number)")
            photo.small = Data([UInt8(number)])
            context.insert(photo)
        }
        try context.save()
        let other = try store.reopened()
        let photos = try other.all(Photo.self)
        _ = photos[0].name
        photos[1].name = "changed"
        photos.forEach { other.delete($0) }
        try other.save()
        // One that was read, one that was changed, and one that was never loaded.
        #expect(photos.map(\.name) == ["0", "changed", "2"])
        #expect(photos[2].small == Data([2]))
        #expect(photos.map(\.isDeleted) == [true, true, true])
        #expect(photos[0].modelContext == nil)
        photos[0].name = "harmless"
        try other.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Photo>()) == 0)
    }

    @Test func aDeletedObjectAnswersWithItsLastLargeValues() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        for number in 0..<3 {
            let photo = Photo("\(number)")
            photo.large = Data(repeating: UInt8(number), count: 200_000)
            photo.external = Data([UInt8(number)])
            context.insert(photo)
        }
        try context.save()
        let other = try store.reopened()
        let errors = Errors()
        other.errorHandler = { errors.add($0) }
        let photos = try other.all(Photo.self)
        photos[1].name = "changed"
        photos[2].large = Data(repeating: 9, count: 5_000)
        let before = other.counters.blobBytesRead
        photos.forEach { other.delete($0) }
        try other.save()
        // The save reads none of them.
        #expect(other.counters.blobBytesRead == before)
        // Other work continues, and a getter still finds the bytes.
        let new = Photo("new")
        new.large = Data(repeating: 5, count: 300_000)
        other.insert(new)
        try other.save()
        try store.container.checkpoint()
        #expect(photos.map(\.large.count) == [200_000, 200_000, 5_000])
        #expect(photos[0].large == Data(repeating: 0, count: 200_000))
        #expect(photos[1].large == Data(repeating: 1, count: 200_000))
        #expect(photos[2].large == Data(repeating: 9, count: 5_000))
        #expect(photos.map(\.external) == [Data([0]), Data([1]), Data([2])])
        let blob = try #require(photos[0].blob(\.large))
        #expect(try blob.data(in: 100_000..<100_003) == Data([0, 0, 0]))
        // When its value is passed on, the other object gets its own copy.
        new.setBlob(photos[1].blob(\.large), for: \.large)
        try other.save()
        #expect(errors.count == 0)
        #expect(try store.reopened().first(Photo.self).large == Data(repeating: 1, count: 200_000))
    }

    @Test(arguments: [true, false]) func aValueThatWasPassedOnOutlivesTheObjectThatHadIt(isNew: Bool) throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let (first, second) = (Photo("first"), Photo("second"))
        first.large = Data(repeating: 1, count: 50_000)
        context.insert(first)
        if !isNew { context.insert(second) }
        try context.save()
        let read = context.counters.blobBytesRead
        second.setBlob(first.blob(\.large), for: \.large)
        context.insert(second)
        try context.save()
        #expect(context.counters.blobBytesRead == read)
        #expect(store.container.rowStore.log.snapshot().recordCount(of: .blobs) == 2)
        context.delete(first)
        try context.save()
        #expect(store.container.rowStore.log.snapshot().recordCount(of: .blobs) == 1)
        #expect(try store.reopened().first(Photo.self).large == Data(repeating: 1, count: 50_000))
    }

    @Test func aDeletedObjectHoldsNoOldStateOfTheStore() throws {
        let store = try TestStore(Photo.self, place: .memory)
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 1, count: 10_000)
        context.insert(photo)
        try context.save()
        weak let old = store.container.rowStore.log.snapshot()
        context.delete(photo)
        try context.save()
        #expect(old == nil)
        #expect(photo.large.count == 10_000)
    }

    @Test func deletesByPredicate() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        for number in 0..<20 { context.insert(Document("d", number: number)) }
        try context.save()
        context.insert(Document("new", number: 3))
        try context.delete(model: Document.self, where: #Predicate { $0.number < 10 })
        try context.save()
        #expect(try store.reopened().all(Document.self).map(\.number) == Array(10..<20))
    }
}

/// Counts the errors that an error handler receives.
private final class Errors: Sendable {
    private let told = Guarded(0)
    var count: Int { told.withLock { $0 } }
    func add(_ error: any Error) { told.withLock { $0 += 1 } }
}
