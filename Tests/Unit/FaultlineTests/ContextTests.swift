import Faultline
import FaultlineLog
import FaultlineStore
import Testing

@Suite struct ContextTests {
    @Test func aContextSeesOnlyWhatIsSavedAndFromTheNextFetchOn() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        let two = store.context()
        let document = Document("old", number: 1)
        one.insert(document)
        #expect(try two.fetchCount(FetchDescriptor<Document>()) == 0)
        try one.save()
        let other = try two.first(Document.self)
        #expect(other.title == "old")
        document.title = "new"
        #expect(other.title == "old")
        try one.save()
        #expect(other.title == "old")
        let found = try two.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title == "new" }))
        #expect(found.first === other)
        #expect(other.title == "new")
    }

    @Test func aFetchEvaluatesWhatIsStoredNow() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        let two = store.context()
        let document = Document("aaa")
        one.insert(document)
        try one.save()
        let other = try two.first(Document.self)
        #expect(other.title == "aaa")
        document.title = "bbbb"
        try one.save()
        // A predicate that cannot be evaluated on rows.
        let found = try two.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title.count == 4 }))
        #expect(found.count == 1)
    }

    @Test func conflictingSavesMergePropertyByProperty() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        let document = Document("t", number: 1)
        one.insert(document)
        let folder = Folder("f")
        one.insert(folder)
        try one.save()
        let two = store.context()
        let other = try two.first(Document.self)
        _ = other.title
        other.number = 2
        document.title = "one"
        document.folder = folder
        try one.save()
        try two.save()
        #expect(other.title == "one")
        document.title = "first"
        other.title = "second"
        try one.save()
        try two.save()
        let again = try store.reopened().first(Document.self)
        #expect(again.number == 2)
        #expect(again.title == "second")
        #expect(again.folder?.name == "f")
        #expect(again.folder?.documents == [again])
    }

    @Test func aChangeOfAnObjectDeletedElsewhereIsRefused() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        let document = Document("t")
        one.insert(document)
        try one.save()
        let two = store.context()
        let other = try two.first(Document.self)
        other.title = "changed"
        one.delete(document)
        try one.save()
        #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() }
        two.rollback()
        try two.save()
        // Deleting it again is not an error.
        let three = store.context()
        #expect(try three.fetchCount(FetchDescriptor<Document>()) == 0)
        two.delete(other)
        try two.save()
    }

    @Test func aSaveWithoutChangesDoesNothing() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        context.insert(Document("a"))
        try context.save()
        let before = store.container.rowStore.log.snapshot().sequence
        try context.save()
        try context.save()
        #expect(store.container.rowStore.log.snapshot().sequence == before)
    }

    @Test func aTransactionSavesOrRollsBack() throws {
        struct Refused: Error {}
        let store = try TestStore(Folder.self)
        let context = store.context()
        context.author = "editor"
        #expect(context.author == "editor")
        try context.transaction { context.insert(Document("a")) }
        #expect(!context.hasChanges)
        #expect(throws: Refused.self) {
            try context.transaction {
                context.insert(Document("b"))
                throw Refused()
            }
        }
        #expect(!context.hasChanges)
        #expect(try store.reopened().all(Document.self).map(\.title) == ["a"])
    }

    @Test func rollbackRestoresValues() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let document = Document("a", number: 1)
        context.insert(document)
        try context.save()
        document.title = "b"
        document.number = 2
        #expect(document.hasChanges)
        #expect(context.hasChanges)
        context.rollback()
        #expect(document.title == "a")
        #expect(document.number == 1)
        #expect(!document.hasChanges)
        document.number = 3
        try context.save()
        #expect(try store.reopened().first(Document.self).number == 3)
    }

    @Test func identifiersAreTemporaryThenPermanentAndCodable() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let document = Document("a")
        let temporary = document.persistentModelID
        #expect(temporary.storeIdentifier == nil)
        context.insert(document)
        #expect(document.persistentModelID == temporary)
        #expect(context.model(for: temporary) as? Document === document)
        try context.save()
        let permanent = document.persistentModelID
        #expect(permanent != temporary)
        #expect(permanent.storeIdentifier != nil)
        #expect(permanent.entityName == "Document")
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(permanent))
        #expect(decoded == permanent)
        #expect(decoded.hashValue == permanent.hashValue)
        let again = try store.reopened()
        #expect((again.model(for: decoded) as? Document)?.title == "a")
        #expect(try again.first(Document.self).persistentModelID == permanent)
        let descriptor = FetchDescriptor<Document>(predicate: #Predicate { $0.persistentModelID == permanent })
        #expect(try again.fetch(descriptor).count == 1)
    }

    @Test func identifiersOfOtherStoresAndNonsenseGiveStandIns() throws {
        let store = try TestStore(Folder.self)
        let other = try TestStore(Folder.self)
        for one in [store, other] {
            let context = one.context()
            context.insert(Document(one === store ? "here" : "there"))
            try context.save()
        }
        let foreign = try other.context().first(Document.self).persistentModelID
        let context = store.context()
        let missing: Document? = context.registeredModel(for: foreign)
        #expect(missing == nil)
        #expect((context.model(for: foreign) as? Document)?.title == "")
        let here = try context.first(Document.self).persistentModelID
        let text = String(decoding: try JSONEncoder().encode(here), as: UTF8.self)
        for number in ["999", "1443109011120"] {
            let wrong = text.replacingOccurrences(of: "\"number\":1", with: "\"number\":\(number)")
            #expect(wrong != text)
            let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: Data(wrong.utf8))
            #expect((context.model(for: identifier) as? Document)?.title == "")
            let predicate = #Predicate<Document> { $0.persistentModelID == identifier }
            #expect(try context.fetchCount(FetchDescriptor<Document>(predicate: predicate)) == 0)
        }
        for number in ["0", "281474976710656", "18446744073709551615"] {
            let wrong = text.replacingOccurrences(of: "\"number\":1", with: "\"number\":\(number)")
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(PersistentIdentifier.self, from: Data(wrong.utf8))
            }
        }
    }

    @Test func storesInMemoryAreStoresOfTheirOwn() throws {
        let one = try TestStore(Folder.self, place: .memory)
        let two = try TestStore(Folder.self, place: .memory)
        let context = one.context()
        context.insert(Document("a"))
        try context.save()
        #expect(try two.context().fetchCount(FetchDescriptor<Document>()) == 0)
        #expect(try one.context().fetchCount(FetchDescriptor<Document>()) == 1)
    }

    @Test func twoContainersOfOneStoreSeeEachOther() throws {
        let store = try TestStore(Folder.self)
        let second = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(url: #require(store.url)))
        let context = ModelContext(second)
        context.insert(Document("a"))
        try context.save()
        #expect(try store.context().first(Document.self).title == "a")
        try second.close()
        #expect(try store.context().first(Document.self).title == "a")
    }

    @Test func aContainerThatMayNotSaveRefuses() throws {
        let store = try TestStore(Folder.self)
        let url = try #require(store.url)
        let reading = try ModelContainer(
            for: Folder.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        let context = ModelContext(reading)
        context.insert(Document("a"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(try store.context().fetchCount(FetchDescriptor<Document>()) == 0)
    }

    @Test func aSaveThatWritesNothingShowsWhatOthersHaveSaved() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        one.insert(Document("d"))
        try one.save()
        let document = try one.first(Document.self)
        #expect(document.title == "d")
        let two = store.context()
        try two.first(Document.self).title = "e"
        try two.save()
        // Sets the same members once more.
        document.labels = []
        try one.save()
        #expect(document.title == "e")
    }

    @Test func objectsOfAnotherContextAreRefused() throws {
        let store = try TestStore(Folder.self)
        let one = store.context()
        let two = store.context()
        let folder = Folder("f")
        one.insert(folder)
        let document = Document("d")
        two.insert(document)
        document.folder = folder
        for _ in 0..<2 { #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() } }
        document.folder = nil
        try two.save()
        #expect(try store.reopened().first(Document.self).folder == nil)
    }
}
