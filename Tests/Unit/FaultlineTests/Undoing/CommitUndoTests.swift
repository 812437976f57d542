import Faultline
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

struct CommitUndoTests {
    private let store: UndoStore
    private var container: ModelContainer { store.container }
    private var context: ModelContext { store.context }

    init() throws { store = try UndoStore() }

    /// The newest save.
    private func lastSave() throws -> DefaultHistoryTransaction {
        try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
    }

    /// After each random save its undo gives the state before, and the undo of that the state after.
    @Test(arguments: 1...UInt64(TestSize.of(60, unoptimized: 25)))
    func `any save is undone, and redone`(seed: UInt64) throws {
        var random = Seed(seed)
        _ = try store.fill()
        var next = 100
        for _ in 0..<8 {
            let before = try store.contents()
            for _ in 0...random.below(6) { try store.change(&random, &next) }
            guard context.hasChanges else { continue }
            try context.save()
            let after = try store.contents()
            let save = try lastSave()
            #expect(try context.undo(save).conflictCount == 0)
            try context.save()
            #expect(try store.contents() == before)
            guard after != before else { continue }
            #expect(try context.undo(lastSave()).conflictCount == 0)
            try context.save()
            #expect(try store.contents() == after)
        }
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        #expect(findings.isEmpty)
    }

    @Test func `values, relationships and order return`() throws {
        let (shelf, books, readers) = try store.fill()
        let before = try store.contents()
        books[0].title = "changed"
        books[1].scan = Data(repeating: 9, count: 30_000)
        books[2].scan = Data([1])
        shelf.width = .nan
        shelf.books = [books[0], books[2], books[1]]
        readers[0].books = [books[2]]
        let card = readers[0].card
        readers[0].card = readers[1].card
        readers[1].card = card
        try context.save()
        let after = try store.contents()
        #expect(after != before)
        let summary = try context.undo(lastSave())
        #expect(summary.conflictCount == 0 && summary.restoredCount == 0 && summary.deletedCount == 0)
        #expect(summary.changedCount > 4)
        try context.save()
        #expect(try store.contents() == before)
        // The undo of the undo.
        try context.undo(lastSave())
        try context.save()
        #expect(try store.contents() == after)
    }

    @Test func `deleted objects return with their identifiers, all that a rule deleted too`() throws {
        let (shelf, books, _) = try store.fill()
        let before = try store.contents()
        // Another context learns of the deletion.
        let other = ModelContext(container)
        let seen = try #require(try other.first(\UndoBook.number, equals: 1))
        context.delete(shelf)
        try context.save()
        #expect(try other.fetchCount(FetchDescriptor<UndoBook>()) == 0)
        other.errorHandler = { _ in }
        #expect(seen.title.isEmpty && seen.isDeleted)
        #expect(try context.fetchCount(FetchDescriptor<UndoBook>()) == 0)
        let summary = try context.undo(lastSave())
        #expect(summary.restoredCount == 4 && summary.conflictCount == 0)
        try context.save()
        #expect(try store.contents() == before)
        // The objects that were deleted show the restored rows.
        #expect(shelf.books.map(\.number) == [3, 2, 1] && books[1].scan?.count == 20_000 && !books[1].isDeleted)
        #expect(try context.first(\UndoBook.number, equals: 2) === books[1])
        books[1].title = "again"
        try context.save()
        #expect(try other.first(\UndoBook.number, equals: 1) === seen)
        #expect(seen.title == "book 1" && !seen.isDeleted && seen.shelf?.books.last?.title == "book 1")
        #expect(try other.first(\UndoBook.number, equals: 2)?.title == "again")
    }

    @Test func `inserted objects are deleted`() throws {
        let (shelf, _, readers) = try store.fill()
        let before = try store.contents()
        let book = UndoBook(4, "four")
        shelf.books.append(book)
        readers[0].books.append(book)
        context.insert(UndoShelf("b"))
        try context.save()
        #expect(try context.undo(lastSave()).deletedCount == 2)
        try context.save()
        #expect(try store.contents() == before)
    }

    @Test func `later changes are conflicts, and all are named`() throws {
        let (shelf, books, readers) = try store.fill()
        books[0].title = "first"
        books[1].title = "second"
        context.delete(books[2])
        context.insert(UndoShelf("new"))
        readers[1].name = "Bert"
        try context.save()
        let save = try lastSave()
        let new = try #require(try context.first(\UndoShelf.name, equals: "new"))
        new.width = 3
        books[0].title = "later"
        context.delete(readers[1])
        context.delete(shelf)
        try context.save()
        let later = try store.contents()
        let error = #expect(throws: CommitUndoError.self) { try context.undo(save) }
        #expect(!context.hasChanges)
        let told = Set(try #require(error).conflicts.map { "\($0.property ?? "-") \($0.reason)" })
        #expect(told == ["width changedSince", "- deletedSince", "shelf targetDeleted"])
        #expect("\(try #require(error))".contains("Undo the later saves first"))
        #expect(try store.contents() == later)
    }

    @Test func `keepLater takes back all but later changes`() throws {
        let (_, books, _) = try store.fill()
        books[0].title = "first"
        books[1].title = "second"
        try context.save()
        let save = try lastSave()
        books[0].title = "later"
        try context.save()
        let summary = try context.undo(save, conflicts: .keepLater)
        #expect(summary.conflicts.map(\.property) == ["title"] && summary.changedCount == 1)
        #expect(books[0].title == "later" && books[1].title == "book 2")
        // Done already: nothing is left but the conflict.
        try context.save()
        #expect(try context.undo(save, conflicts: .keepLater).changedCount == 0)
    }

    @Test func `collections are merged`() throws {
        let (_, books, readers) = try store.fill()
        readers[0].books = [books[1], books[2]]
        try context.save()
        let save = try lastSave()
        let other = UndoBook(5, "five")
        readers[0].books.append(other)
        try context.save()
        try context.undo(save)
        #expect(Set(readers[0].books.map(\.number)) == [1, 2, 5])
        try context.save()
        #expect(Set(other.readers.map(\.name)) == ["Ada"])
    }

    @Test func `unsaved changes count as later ones`() throws {
        let (_, books, _) = try store.fill()
        books[0].title = "first"
        try context.save()
        let save = try lastSave()
        books[0].title = "unsaved"
        #expect(throws: CommitUndoError.self) { try context.undo(save) }
        context.rollback()
        #expect(try context.undo(save).changedCount == 1)
        #expect(books[0].title == "book 1")
    }

    @Test func `a restored object whose unique value or number is taken stops the save`() throws {
        let (_, books, _) = try store.fill()
        context.delete(books[0])
        try context.save()
        let save = try lastSave()
        let other = ModelContext(container)
        try other.undo(save)
        try context.undo(save)
        try other.save()
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        context.rollback()
        // It is there again.
        let summary = try context.undo(save)
        #expect(summary.restoredCount + summary.changedCount + summary.deletedCount + summary.conflictCount == 0)

        context.delete(try #require(try context.first(\UndoBook.number, equals: 1)))
        try context.save()
        let second = try lastSave()
        context.insert(UndoBook(1, "another"))
        try context.save()
        try context.undo(second)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect("\(try #require(error))".contains("UndoBook"))
    }

    @Test func `saves of other stores, and contexts that may not save, are refused`() throws {
        _ = try store.fill()
        let save = try lastSave()
        let other = try ModelContainer(
            for: UndoShelf.self, UndoBook.self, UndoReader.self, UndoCard.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) { try ModelContext(other).undo(save) }
        let past = try ModelContext(container, asOf: .date(.now))
        #expect(throws: SwiftDataError.modelValidationFailure) { try past.undo(save) }
    }
}

extension CommitUndoTests {
    @Test func `objects without classes return, also in a store that was opened again`() throws {
        let store = try DynamicStore()
        var context = ModelContext(store.container)
        let department = try context.insertNewObject(forEntityName: "Department")
        department["name"] = "Optics"
        let people = try (0..<3).map { number in
            let person = try context.insertNewObject(forEntityName: "Person")
            person["name"] = "Person \(number)"
            person["height"] = Double(number)
            person["photo"] = Data(repeating: UInt8(number), count: 9_000)
            person["department"] = department
            return person
        }
        people[0]["friends"] = [people[1], people[2]]
        try context.save()
        let names = people.map(\.objectID)
        context.delete(department)
        try context.save()
        context = try store.reopened()
        let save = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        #expect(try context.undo(save).restoredCount == 4)
        try context.save()
        let again = try store.reopened()
        let found = try again.fetch(FetchRequest(entityName: "Person"))
        #expect(
            found.map(\.objectID) == names
                && found.map { $0["photo"] as? Data } == (0..<3).map { Data(repeating: $0, count: 9_000) })
        #expect((found[0]["friends"] as? [ManagedObject])?.map(\.objectID) == Array(names[1...]))
        #expect((found[2]["department"] as? ManagedObject)?["name"] as? String == "Optics")
        #expect(try store.findings() == [])
    }
}
