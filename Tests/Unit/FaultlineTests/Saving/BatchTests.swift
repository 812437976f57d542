import Faultline
import Testing

/// Changes many stored objects at once.
@Suite struct BatchTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, Team.self, User.self, Company.self, Worker.self,
            Visitor.self, Scalars.self, Photo.self)
    }

    private func makeFolders() throws {
        let context = store.context()
        for place in 0..<5 {
            let folder = Folder("f\(place)")
            context.insert(folder)
            for number in 0..<20 {
                let document = Document("d\(place).\(number)", number: number)
                folder.documents.append(document)
                document.body = Body(Data(repeating: 1, count: 5_000))
            }
        }
        try context.save()
    }

    // MARK: Delete

    @Test func aBatchDeletesWithItsRulesAndMakesNoObject() throws {
        try makeFolders()
        let context = try store.reopened()
        context.author = "batch"
        let before = context.counters
        let result = try context.batchDelete(Folder.self, where: #Predicate { $0.name != "f3" })
        #expect(result.objectCounts == ["Folder": 4, "Document": 80, "Body": 80] && result.objectCount == 164)
        #expect((context.counters - before).blobBytesRead == 0)
        #expect(try store.reopened().all(Document.self).count == 20)
        #expect(try store.context().all(Body.self).count == 20)
        #expect(try store.context().batchDelete(Folder.self, where: #Predicate { $0.name == "none" }).objectCount == 0)
    }

    @Test func whatIsAliveShowsTheBatchAndUnsavedChangesStay() throws {
        try makeFolders()
        let context = store.context()
        let documents = try context.all(Document.self, sortBy: [SortDescriptor(\.title)])
        let kept = try #require(documents.first { $0.number == 19 })
        kept.title = "unsaved"
        _ = documents[0].title
        let folder = try #require(documents[0].folder)
        try context.batchDelete(Document.self, where: #Predicate { $0.number < 10 })
        #expect(folder.documents.count == 10 && kept.title == "unsaved" && context.hasChanges)
        #expect(documents[0].title == "" && documents[0].isDeleted)
        // Unsaved values are ignored.
        kept.number = 3
        try context.batchDelete(Document.self, where: #Predicate { $0.number == 3 })
        try context.save()
        #expect(try store.reopened().all(Document.self).contains { $0.title == "unsaved" && $0.number == 3 })
    }

    @Test func aBatchThatARuleDeniesDeletesNothing() throws {
        let context = store.context()
        for name in ["a", "b"] { context.insert(Company(name)) }
        let company = Company("c")
        company.workers = [Worker("w")]
        context.insert(company)
        try context.save()
        let error = #expect(throws: SwiftDataError.self) { try context.batchDelete(Company.self) }
        #expect(error?.findings.map(\.rule) == [.deny])
        #expect(try store.reopened().all(Company.self).count == 3)
        // Deletes the workers first, and then all companies.
        try store.context().batchDelete(Worker.self)
        #expect(try store.context().batchDelete(Company.self).objectCount == 3)
    }

    @Test func aBatchClearsReferencesOfOthers() throws {
        let context = store.context()
        for number in 0..<4 { context.insert(User("u\(number)", team: number < 3 ? Team("t\(number)") : nil)) }
        try context.save()
        let user = try #require(try context.all(User.self).first { $0.email == "u0" })
        #expect(user.team?.name == "t0")
        try context.batchDelete(Team.self, where: #Predicate { $0.name != "t2" })
        #expect(user.team == nil)
        #expect(try store.reopened().all(User.self).compactMap(\.team?.name) == ["t2"])
    }

    // MARK: Update

    @Test func aBatchSetsAttributesOfEveryKind() throws {
        let context = store.context()
        for number in 0..<300 {
            let scalars = Scalars()
            scalars.int = number
            scalars.string = String(repeating: "x", count: number % 7 * 1_000)
            context.insert(scalars)
        }
        try context.save()
        let held = try #require(try context.all(Scalars.self).first { $0.int == 0 })
        let result = try context.batchUpdate(
            Scalars.self, where: #Predicate { $0.int % 2 == 0 }, .set(\.bool, to: true), .set(\.int8, to: -3),
            .set(\.double, to: 1.5), .set(\.string, to: "set"), .set(\.rank, to: .high), .set(\.color, to: .blue),
            .set(\.place, to: Place(city: "Bern", tags: ["a"])), .set(\.decimal, to: 12),
            .set(\.data, to: Data(repeating: 9, count: 6_000)))
        #expect(result.objectCounts == ["Scalars": 150])
        #expect(held.string == "set" && held.rank == .high)
        for scalars in try store.reopened().all(Scalars.self) {
            let isSet = scalars.int % 2 == 0
            #expect(scalars.bool == isSet && scalars.int8 == (isSet ? -3 : 0) && scalars.double == (isSet ? 1.5 : 0))
            #expect(scalars.string.count == (isSet ? 3 : scalars.int % 7 * 1_000))
            #expect(scalars.rank == (isSet ? .high : .low) && scalars.color == (isSet ? .blue : .red))
            #expect(scalars.place.city == (isSet ? "Bern" : "Rome") && scalars.decimal == (isSet ? 12 : 0))
            #expect(scalars.data.count == (isSet ? 6_000 : 0))
        }
    }

    @Test func aBatchGivesUpLargeValuesAndLeavesOthersAlone() throws {
        let context = store.context()
        let photo = Photo("p")
        photo.large = Data(repeating: 1, count: 50_000)
        photo.external = Data(repeating: 2, count: 50_000)
        context.insert(photo)
        try context.save()
        let before = context.counters
        try context.batchUpdate(Photo.self, .set(\.external, to: nil), .set(\.name, to: "new"))
        #expect((context.counters - before).blobBytesRead == 0)
        let found = try store.reopened().first(Photo.self)
        #expect(found.external == nil && found.name == "new" && found.large == Data(repeating: 1, count: 50_000))
    }

    @Test func aBatchKeepsUniqueness() throws {
        let context = store.context()
        for number in 0..<3 { context.insert(User("u\(number)", first: "f\(number)", last: "same")) }
        try context.save()
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchUpdate(User.self, .set(\.email, to: "one"))
        }
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchUpdate(User.self, .set(\.first, to: "f"))
        }
        #expect(try store.reopened().all(User.self).map(\.email).sorted() == ["u0", "u1", "u2"])
        try store.context().batchUpdate(User.self, where: #Predicate { $0.email == "u1" }, .set(\.email, to: "new"))
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<User>(predicate: #Predicate { $0.email == "new" })) == 1)
        #expect(try again.fetchCount(FetchDescriptor<User>(predicate: #Predicate { $0.email == "u1" })) == 0)
    }

    @Test func unsavedChangesLieOverTheBatch() throws {
        try makeFolders()
        let context = store.context()
        let found = try context.first(Document.self)
        found.title = "mine"
        try context.batchUpdate(Document.self, .set(\.title, to: "theirs"), .set(\.number, to: 77))
        #expect(found.title == "mine")
        try context.save()
        let titles = try store.reopened().all(Document.self)
        #expect(titles.filter { $0.title == "mine" }.count == 1 && titles.allSatisfy { $0.number == 77 })
    }

    @Test func whatABatchCannotSetIsRefused() throws {
        try makeFolders()
        let context = store.context()
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchUpdate(Document.self, .set(\.folder, to: nil))
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.batchUpdate(Scalars.self, .set(\.scratch, to: 1))
        }
        try context.pin("batch")
        #expect(throws: (any Error).self) { try context.batchUpdate(Document.self, .set(\.number, to: 1)) }
        #expect(throws: (any Error).self) { try context.batchDelete(Document.self) }
        context.unpin()
        #expect(try store.reopened().all(Document.self).count == 100)
    }

    @Test func dynamicObjectsAreChangedByName() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for number in 0..<6 {
            let department = try context.make("Department", ["name": "d\(number)"])
            _ = try context.make("Person", ["name": "p\(number)", "age": number, "department": department])
        }
        try context.save()
        let young = FetchRequest(entityName: "Person", filter: Filter.key("age") < 3)
        let result = try context.batchUpdate(young, set: ["shoe": 30, "tags": ["young"], "height": nil])
        #expect(result.objectCounts == ["Person": 3])
        let person = try #require(try context.named("p1"))
        #expect(person["shoe"] as? Int8 == 30)
        #expect(try (person["tags"] as? CodableValue)?.decode(as: [String].self) == ["young"])
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.batchUpdate(young, set: ["shoes": 1]) }
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.batchUpdate(young, set: ["shoe": 1_000]) }
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.batchUpdate(young, set: ["shoe": nil]) }
        let deleted = try context.batchDelete(
            FetchRequest(entityName: "Department", filter: Filter.key("name") == "d0"))
        #expect(deleted.objectCounts == ["Department": 1, "Person": 1])
        #expect(try store.reopened().count(for: FetchRequest(entityName: "Person")) == 5)
        #expect(try store.findings().isEmpty)
    }
}
