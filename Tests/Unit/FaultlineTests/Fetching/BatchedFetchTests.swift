import Faultline
import FaultlineObjects
import FaultlineTestSupport
import Testing

@Suite struct BatchedFetchTests {
    /// A store of documents 0..<count, each in one of ten folders.
    private func documents(_ count: Int) throws -> TestStore {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folders = (0..<10).map { Folder("f\($0)") }
        folders.forEach(context.insert)
        for number in 0..<count {
            let document = Document("d\(number)", number: number)
            document.folder = folders[number % 10]
            context.insert(document)
        }
        try context.save()
        return store
    }

    @Test func aWalkOverBatchesHoldsOneBatch() throws {
        let context = try documents(2_000).reopened()
        let found = try context.fetch(FetchDescriptor<Document>(), batchSize: 100)
        #expect(found.count == 2_000)
        #expect(context.core.livingObjectCount == 0)
        var most = 0
        for (place, document) in found.enumerated() {
            #expect(document.number == place)
            most = max(most, context.core.livingObjectCount)
        }
        #expect(most <= 101)
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 2_000)
        #expect(found[1_999].number == 1_999)
        #expect(found[0].number == 0)
    }

    @Test func batchesAreTheWindowOfAPlainFetch() throws {
        let context = try documents(300).reopened()
        for (limit, offset) in [(nil, nil), (50, 20), (0, 290), (7, 0), (1, 400)] as [(Int?, Int?)] {
            for predicate in [nil, #Predicate<Document> { $0.number > 100 }, #Predicate { $0.folder?.name == "f3" }] {
                for sort in [
                    [], [SortDescriptor(\.number, order: .reverse)],
                    [SortDescriptor(\Document.folder?.name), SortDescriptor(\.number, order: .reverse)],
                ] {
                    var descriptor = FetchDescriptor(predicate: predicate, sortBy: sort)
                    descriptor.fetchLimit = limit
                    descriptor.fetchOffset = offset
                    let wanted = try context.fetch(descriptor)
                    for batchSize in [0, 1, 7, 1_000] {
                        #expect(Array(try context.fetch(descriptor, batchSize: batchSize)) == wanted)
                        #expect(
                            Array(try context.fetchIdentifiers(descriptor, batchSize: batchSize))
                                == wanted.map(\.persistentModelID))
                    }
                }
            }
        }
    }

    @Test func batchesRefuseUnsavedChanges() throws {
        let context = try documents(20).context()
        let first: Document = try context.first()
        first.number = 77
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.fetch(FetchDescriptor<Document>(), batchSize: 5)
        }
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.fetchIdentifiers(FetchDescriptor<Document>(), batchSize: 5)
        }
        var stored = FetchDescriptor<Document>(predicate: #Predicate { $0.number < 3 })
        stored.includePendingChanges = false
        let found = try context.fetch(stored, batchSize: 2)
        #expect(found.count == 3)
        #expect(found[0] === first)
        #expect(found[0].number == 77)
    }

    @Test func anObjectDeletedMeanwhileSaysSo() throws {
        let store = try documents(20)
        let context = store.context()
        let found = try context.fetch(FetchDescriptor<Document>(), batchSize: 5)
        let other = store.context()
        other.delete(try other.all(Document.self)[7])
        try other.save()
        _ = try context.fetchCount(FetchDescriptor<Document>())
        #expect(found.count == 20)
        #expect(found[8].number == 8)
        _ = found[7].number
        #expect(found[7].isDeleted)
    }

    // MARK: Prefetching

    @Test func namesOfFoldersFireAFaultEachUnlessTheyArePrefetched() throws {
        let store = try documents(200)
        let plain = try store.reopened()
        let sorted = [SortDescriptor(\Document.title)]
        for document in try plain.fetch(FetchDescriptor<Document>(sortBy: sorted)) {
            #expect(document.folder?.name == "f\(document.number % 10)")
        }
        #expect(plain.counters.faultsFired > 0)
        let context = store.context()
        var descriptor = FetchDescriptor<Document>(sortBy: sorted)
        descriptor.relationshipKeyPathsForPrefetching = [\.folder]
        for document in try context.fetch(descriptor) {
            #expect(document.folder?.name == "f\(document.number % 10)")
        }
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 210)
    }

    @Test func membersArePrefetched() throws {
        let context = try documents(200).reopened()
        var descriptor = FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)])
        descriptor.relationshipKeyPathsForPrefetching = [\.documents, \.parent]
        for (place, folder) in try context.fetch(descriptor).enumerated() {
            #expect(folder.documents.map(\.number) == Array(stride(from: place, to: 200, by: 10)))
        }
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 210)
    }

    @Test func walksAndBatchesPrefetch() throws {
        let store = try documents(1_000)
        var descriptor = FetchDescriptor<Document>()
        descriptor.relationshipKeyPathsForPrefetching = [\.folder]
        let walking = try store.reopened()
        try walking.enumerate(descriptor) { #expect($0.folder?.name == "f\($0.number % 10)") }
        #expect(walking.counters.faultsFired == 0)
        let sorted = store.context()
        descriptor.sortBy = [SortDescriptor(\.title)]
        try sorted.enumerate(descriptor, batchSize: 100) { #expect($0.folder?.name == "f\($0.number % 10)") }
        #expect(sorted.counters.faultsFired == 0)
        let batched = store.context()
        for document in try batched.fetch(descriptor, batchSize: 100) {
            #expect(document.folder?.name == "f\(document.number % 10)")
        }
        #expect(batched.counters.faultsFired == 0)
    }

    @Test func aPrefetchedRowIsNeverOlderThanTheStore() throws {
        let store = try documents(20)
        let context = store.context()
        var descriptor = FetchDescriptor<Document>()
        descriptor.relationshipKeyPathsForPrefetching = [\.folder]
        let found = try context.fetch(descriptor)
        let folders = try context.all(Folder.self)
        folders[3].name = "own"
        try context.save()
        let name = { (number: Int) in found[number].folder?.name }
        #expect(name(3) == "own")
        let other = store.context()
        try other.all(Folder.self)[4].name = "other"
        try other.save()
        #expect(try context.fetch(descriptor)[4].folder?.name == "other")
    }

    @Test func propertiesToFetchLoadTheRow() throws {
        let context = try documents(50).reopened()
        var descriptor = FetchDescriptor<Document>()
        descriptor.propertiesToFetch = [\.title]
        for document in try context.fetch(descriptor) { #expect(document.title == "d\(document.number)") }
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 50)
    }

    @Test func whatCannotBePrefetchedIsRefusedByName() throws {
        let context = try documents(5).context()
        var descriptor = FetchDescriptor<Document>()
        descriptor.relationshipKeyPathsForPrefetching = [\.title]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
        descriptor.relationshipKeyPathsForPrefetching = [\.folder?.parent]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
        descriptor.relationshipKeyPathsForPrefetching = []
        descriptor.propertiesToFetch = [\.title.count]
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.fetch(descriptor) }
    }

    @Test func `paths over several relationships are prefetched`() throws {
        let store = try documents(200)
        let filling = store.context()
        for folder in try filling.all(Folder.self) { folder.parent = Folder("p\(folder.name)") }
        try filling.save()
        let context = try store.reopened()
        var descriptor = FetchDescriptor<Document>(sortBy: [SortDescriptor(\.title)])
        descriptor.relationshipPathsForPrefetching = [[\Document.folder, \Folder.parent, \Folder.folders]]
        for document in try context.fetch(descriptor) {
            let folder = try #require(document.folder)
            #expect(folder.parent?.name == "p\(folder.name)" && folder.parent?.folders == [folder])
        }
        #expect(context.counters.faultsFired == 0)
        #expect(context.counters.rowsRead == 220)
        let number = 7
        var one = FetchDescriptor<Document>(predicate: #Predicate { $0.number == number })
        one.relationshipPathsForPrefetching = [[\Document.folder, \Folder.parent]]
        let fresh = try store.reopened()
        #expect(try fresh.fetch(one).first?.folder?.parent?.name == "pf7")
    }

    @Test func `a path that does not lead on is refused by name`() throws {
        let context = try documents(5).context()
        var descriptor = FetchDescriptor<Document>()
        let wrong: [([AnyKeyPath], String)] = [
            ([\Document.title], "Document"), ([\Folder.parent], "Document"),
            ([\Document.folder, \Document.folder], "Folder"), ([\Document.folder, \Folder.name], "Folder"),
            ([\Document.folder?.parent], "Document"),
        ]
        for (path, named) in wrong {
            descriptor.relationshipPathsForPrefetching = [[\Document.folder], path]
            let error = #expect(throws: SwiftDataError.self) { try context.fetch(descriptor) }
            #expect(error == .unsupportedKeyPath)
            #expect(error?.explanation.contains("a relationship of \(named) must follow") == true)
        }
        descriptor.relationshipPathsForPrefetching = [[]]
        #expect(try context.fetch(descriptor).count == 5)
    }

    @Test func pathsOfNamesArePrefetched() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for number in 0..<5 {
            let department = try context.insertNewObject(forEntityName: "Department")
            department.setValue("d\(number)", forKey: "name")
            for place in 0..<10 {
                let person = try context.insertNewObject(forEntityName: "Person")
                person.setValue("p\(number * 10 + place)", forKey: "name")
                person.setValue(department, forKey: "department")
            }
        }
        try context.save()
        let fresh = try store.reopened()
        var request = FetchRequest(entityName: "Person", sortedBy: [.descending("name")])
        request.relationshipKeyPathsForPrefetching = ["department.people"]
        for person in try fresh.fetch(request) {
            let department = try #require(person.value(forKey: "department") as? ManagedObject)
            let people = try #require(department.value(forKey: "people") as? [ManagedObject])
            #expect(people.count == 10)
            #expect(people.allSatisfy { $0.value(forKey: "name") is String })
        }
        #expect(fresh.counters.faultsFired == 0)
        #expect(fresh.counters.rowsRead == 55)
        #expect(try fresh.fetch(request, batchSize: 7).map(\.objectID) == fresh.fetch(request).map(\.objectID))
        request.relationshipKeyPathsForPrefetching = ["department.peple"]
        let error = #expect(throws: SwiftDataError.unsupportedKeyPath) { try fresh.fetch(request) }
        #expect(error?.explanation.contains("Did you mean \"people\"?") == true)
    }
}
