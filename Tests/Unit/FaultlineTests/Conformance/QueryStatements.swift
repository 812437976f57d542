import Faultline
import Testing

/// Statements from SwiftData's users about relationships, fetches and attributes, as listed in docs/Conformance.md.
@Suite struct QueryStatements {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Document.self, Label.self, Body.self, Scalars.self)
        let context = store.context()
        for name in ["b", "a", "c"] {
            let folder = Folder(name)
            context.insert(folder)
            for number in 0..<4 { folder.documents.append(Document("\(name)\(number)", number: number)) }
        }
        try context.save()
    }

    @Test func `S27 (otherwise), S28: collections keep their order and have each member once`() throws {
        let context = store.context()
        let folder = try context.first(Folder.self)
        let members = folder.documents
        folder.documents = [members[2], members[0], members[2], members[3], members[1]]
        #expect(folder.documents.map(\.number) == [2, 0, 3, 1])
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.number) == [2, 0, 3, 1])
    }

    @Test func `S35: nil and empty are one for a collection`() throws {
        let store = try TestStore(Company.self, Worker.self, Visitor.self)
        let context = store.context()
        let company = Company("c")
        company.visitors = []
        context.insert(company)
        try context.save()
        let found = try store.reopened().first(Company.self)
        #expect(found.visitors?.isEmpty != false)
    }

    @Test func `C33, S38: windows come after predicate and order`() throws {
        let context = store.context()
        let plain = FetchDescriptor<Document>()
        #expect(plain.predicate == nil && plain.sortBy.isEmpty && plain.fetchLimit == nil && plain.fetchOffset == nil)
        #expect(plain.includePendingChanges && plain.propertiesToFetch.isEmpty)
        #expect(plain.relationshipKeyPathsForPrefetching.isEmpty)
        var window = FetchDescriptor<Document>(
            predicate: #Predicate { $0.number > 0 }, sortBy: [SortDescriptor(\.title, order: .reverse)])
        window.fetchOffset = 2
        window.fetchLimit = 3
        #expect(try context.fetch(window).map(\.title) == ["c1", "b3", "b2"])
        window.fetchOffset = 100
        #expect(try context.fetch(window).isEmpty)
    }

    @Test func `C34, S41: unsaved changes count where they are included`() throws {
        let context = store.context()
        let found = try context.all(Document.self)
        found[0].number = 100
        context.delete(found[1])
        context.insert(Document("new", number: 101))
        var descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.number >= 100 })
        #expect(try context.fetch(descriptor).map(\.number).sorted() == [100, 101])
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 12)
        descriptor.includePendingChanges = false
        #expect(try context.fetch(descriptor).isEmpty)
        var stored = FetchDescriptor<Document>(predicate: #Predicate { $0.number == 0 })
        stored.includePendingChanges = false
        // The fetch uses the stored values; the object shows its current one.
        #expect(try context.fetch(stored).map(\.number).sorted() == [0, 0, 100])
    }

    @Test func `S39: properties that were not asked for can be read too`() throws {
        var descriptor = FetchDescriptor<Document>()
        descriptor.propertiesToFetch = [\.title]
        let found = try store.reopened().fetch(descriptor)
        #expect(found.allSatisfy { $0.folder != nil && $0.number < 4 && $0.body == nil })
    }

    @Test func `C32, S40: batches fix their order, and unsaved changes are refused`() throws {
        let context = try store.reopened()
        let sorted = FetchDescriptor<Document>(sortBy: [SortDescriptor(\.title)])
        let batches = try context.fetch(sorted, batchSize: 5)
        let before = context.counters
        #expect(batches.count == 12 && batches[7].title == "b3")
        #expect((context.counters - before).rowsRead < 12)
        let other = store.context()
        try other.first(Document.self).title = "zzz"
        try other.save()
        #expect(batches.map(\.persistentModelID).count == 12 && batches[11].title == "c3")
        context.insert(Document("new"))
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) { try context.fetch(sorted, batchSize: 5) }
    }

    @Test func `S42: a walk lets go of its batches, and changes must be saved`() throws {
        let context = store.context()
        var seen = 0
        try context.enumerate(FetchDescriptor<Document>(), batchSize: 5) { _ in seen += 1 }
        #expect(seen == 12)
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.enumerate(FetchDescriptor<Document>(), batchSize: 5) { $0.number += 1 }
        }
        context.rollback()
        try context.enumerate(FetchDescriptor<Document>(), batchSize: 5, allowEscapingMutations: true) {
            $0.number += 1
        }
        #expect(context.changedModelsArray.count == 12)
    }

    @Test func `S43, S47: keys and predicates lead through optional relationships`() throws {
        let context = store.context()
        context.insert(Document("loose", number: 9))
        try context.save()
        let sorted = try context.fetch(
            FetchDescriptor<Document>(sortBy: [SortDescriptor(\.folder?.name), SortDescriptor(\.number)]))
        #expect(sorted.map(\.title).prefix(3) == ["loose", "a0", "a1"])
        let found = try context.fetch(
            FetchDescriptor<Document>(predicate: #Predicate { ($0.folder?.name ?? "none") == "none" }))
        #expect(found.map(\.title) == ["loose"])
        #expect(
            try context.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.folder?.name == "a" })) == 4)
    }

    @Test func `S48: a fetch of a class has objects of its subclasses, which is and as? select`() throws {
        let context = try TestStore.withTrips().context()
        let all = try context.fetch(FetchDescriptor<Trip>())
        #expect(all.count == 8 && all.count { $0 is ConferenceTrip } == 2)
        let private2 = "mood 2"
        let found = try context.fetch(
            FetchDescriptor<Trip>(
                predicate: #Predicate { $0 is PrivateTrip && ($0 as? PrivateTrip)?.mood == private2 }))
        #expect(found.map(\.name) == ["private 2"])
        #expect(
            try context.fetch(FetchDescriptor<BusinessTrip>()).allSatisfy {
                $0.name.hasPrefix("b") || $0 is ConferenceTrip
            })
    }

    @Test func `S44 (otherwise): properties that are not stored are read from the objects`() throws {
        let context = store.context()
        let scalars = [Scalars(), Scalars()]
        scalars.forEach(context.insert)
        try context.save()
        scalars[0].scratch = 8
        let found = try context.fetch(FetchDescriptor<Scalars>(predicate: #Predicate { $0.scratch == 8 }))
        #expect(found == [scalars[0]])
    }

    @Test func `S45 (otherwise), S46: enumerations and identifiers compare`() throws {
        let context = store.context()
        let scalars = Scalars()
        scalars.rank = .high
        context.insert(scalars)
        try context.save()
        let high = Rank.high
        #expect(try context.fetchCount(FetchDescriptor<Scalars>(predicate: #Predicate { $0.rank == high })) == 1)
        let identifier = try context.first(Folder.self).persistentModelID
        let members = try context.fetch(
            FetchDescriptor<Document>(predicate: #Predicate { $0.folder?.persistentModelID == identifier }))
        #expect(members.count == 4)
    }

    @Test func `S53, S54: transient properties begin with their default in every object`() throws {
        let context = store.context()
        let scalars = Scalars()
        scalars.scratch = 100
        context.insert(scalars)
        try context.save()
        #expect(scalars.scratch == 100)
        #expect(try store.reopened().first(Scalars.self).scratch == 7)
    }

    @Test func `S55, S56: a nested change, and a value set again, are changes`() throws {
        let context = store.context()
        context.insert(Scalars())
        try context.save()
        let found = try context.first(Scalars.self)
        found.place.tags.append("tag")
        #expect(found.hasChanges)
        try context.save()
        #expect(!found.hasChanges && found.place.tags == ["tag"])
        found.int = found.int
        #expect(found.hasChanges && context.changedModelsArray.count == 1)
    }

    @Test func `S52 (otherwise): every large value lies out of the row, and small ones in it`() throws {
        let store = try TestStore(Photo.self)
        let context = store.context()
        let photo = Photo("p")
        photo.small = Data(repeating: 1, count: 100)
        photo.large = Data(repeating: 2, count: 50_000)
        photo.external = Data(repeating: 3, count: 100)
        context.insert(photo)
        try context.save()
        let reading = try store.reopened()
        let found = try reading.first(Photo.self)
        #expect(found.small.count == 100 && reading.counters.blobBytesRead == 0)
        #expect(found.external?.count == 100 && found.large.count == 50_000)
        #expect(reading.counters.blobBytesRead == 50_100)
    }
}
