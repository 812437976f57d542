import Faultline
import FaultlineLog
import FaultlineStore
import FaultlineTestSupport
import Testing

/// The cost of links of objects that have many already.
@Suite struct LinkCostTests {
    /// Makes one label with 2,000 documents, and one document with 2,000 labels.
    private func made(_ context: ModelContext) throws -> (label: Label, document: Document) {
        let label = Label("many")
        let document = Document("many", number: -1)
        context.insert(label)
        context.insert(document)
        label.documents = (0..<2_000).map { Document("\($0)", number: $0) }
        document.labels = (0..<2_000).map { Label("\($0)") }
        try context.save()
        return (label, document)
    }

    @Test("B4: a save of one link does not read all other links of its objects")
    func oneLinkOfMany() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let (label, document) = try made(context)
        let before = context.core.reports.walked.indexEntries
        for number in 0..<20 {
            let joined = Document("joined", number: 10_000 + number)
            context.insert(joined)
            joined.labels = [label]
            let tag = Label("joined")
            context.insert(tag)
            tag.documents = [document]
            try context.save()
        }
        let walked = context.core.reports.walked.indexEntries - before
        // Each save makes two links; one of the two kinds of objects is the left one.
        #expect(walked <= 20 * 2 * 130, "\(walked)")
        let again = try store.reopened()
        let labels = try again.all(Label.self)
        let all = labels.first { $0.text == "many" }?.documents.map(\.number)
        #expect(all == Array(0..<2_000) + Array(10_000..<10_020))
        let documents = try again.all(Document.self)
        #expect(documents.first { $0.number == -1 }?.labels.count == 2_020)
    }

    @Test("B4: a link of two objects with many links is made once, and removed")
    func linkBetweenObjectsWithManyLinks() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let (label, document) = try made(context)
        for _ in 0..<2 {
            document.labels.append(label)
            try context.save()
            #expect(label.documents.count == 2_001 && document.labels.count == 2_001)
            document.labels.removeAll { $0 === label }
            label.documents.removeAll { $0 === document }
            try context.save()
        }
        let again = try store.reopened()
        #expect(try again.all(Label.self).first { $0.text == "many" }?.documents.count == 2_000)
        #expect(try again.all(Document.self).first { $0.number == -1 }?.labels.count == 2_000)
    }

    // MARK: Many links in one save

    @Test(
        "B4: a save that removes many links of an object reads about the links of that object", arguments: [9, 49],
        [true, false])
    func removalOfManyLinks(others: Int, ofDocument: Bool) throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let labels = (0..<5_000).map { Label("\($0)") }
        let documents = (0..<5_000).map { Document("\($0)", number: $0) }
        let (one, other) = (Document("many", number: -1), Label("many"))
        // The last 1,000 have other links, which are before the link to the one object.
        for number in 0..<others {
            if ofDocument {
                let document = Document("other", number: -2 - number)
                context.insert(document)
                document.labels = Array(labels[4_000...])
            } else {
                let label = Label("other")
                context.insert(label)
                label.documents = Array(documents[4_000...])
            }
        }
        try context.save()
        if ofDocument {
            context.insert(one)
            one.labels = labels
        } else {
            context.insert(other)
            other.documents = documents
        }
        try context.save()
        #expect(linkCount(store) == 5_000 + others * 1_000)
        if ofDocument { one.labels.removeLast(1_000) } else { other.documents.removeLast(1_000) }
        let walked = try walked(by: context) { try context.save() }
        #expect(walked <= 10_000, "\(walked)")
        #expect(linkCount(store) == 4_000 + others * 1_000)
        try store.verify()
    }

    @Test("B4: a save that removes links of many objects to one reads few links", arguments: [true, false])
    func removalFromManyObjects(ofDocument: Bool) throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let (label, document) = try made(context)
        // Of 2,000 objects with one link each, all but one lose it.
        if ofDocument {
            for member in document.labels.dropLast() { member.documents = [] }
        } else {
            for member in label.documents.dropLast() { member.labels = [] }
        }
        let walked = try walked(by: context) { try context.save() }
        #expect(walked <= 4_000, "\(walked)")
        #expect(linkCount(store) == 2_001)
    }

    @Test("B4: a save of new objects does not look their links up")
    func newObjects() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let label = Label("many")
        context.insert(label)
        label.documents = (0..<20_000).map { Document("\($0)", number: $0) }
        let document = Document("many", number: -1)
        context.insert(document)
        document.labels = (0..<2_000).map { Label("\($0)") }
        try context.save()
        for number in 0..<4_000 {
            let joined = Document("joined", number: 100_000 + number)
            context.insert(joined)
            joined.labels = [label]
        }
        for _ in 0..<1_000 {
            let joined = Label("joined")
            context.insert(joined)
            joined.documents = [document]
        }
        let walked = try walked(by: context) { try context.save() }
        #expect(walked == 0)
        #expect(linkCount(store) == 27_000)
    }

    @Test("B4: a new object that replaces a stored one keeps its links once")
    func replacedObject() throws {
        let store = try TestStore(LinkedNote.self, LinkedWord.self, place: .memory)
        let context = store.context()
        let word = LinkedWord("a")
        context.insert(word)
        word.notes = (0..<100).map { _ in LinkedNote() }
        try context.save()
        let notes = try context.all(LinkedNote.self)
        for _ in 0..<2 {
            let again = LinkedWord("a")
            context.insert(again)
            again.notes = [notes[99], notes[3]]
            let other = LinkedWord("b")
            context.insert(other)
            other.notes = [notes[5]]
        }
        try context.save()
        #expect(linkCount(store) == 101)
        let reopened = try store.reopened()
        #expect(try reopened.all(LinkedWord.self).map(\.notes.count).sorted() == [1, 100])
    }

    @Test("B4: two contexts that link the same objects make one link, and remove it")
    func linksOfTwoContexts() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let first = store.context()
        let (label, document) = try made(first)
        let second = store.context()
        let stored = (
            label: try #require(try second.all(Label.self).first { $0.text == "many" }),
            document: try #require(try second.all(Document.self).first { $0.number == -1 })
        )
        #expect(stored.label.documents.count == 2_000 && stored.document.labels.count == 2_000)
        // Both have changed the link before either saves, so neither knows of the other's.
        document.labels.append(label)
        stored.label.documents.append(stored.document)
        try first.save()
        try second.save()
        #expect(linkCount(store) == 4_001)
        #expect(try store.context().all(Label.self).first { $0.text == "many" }?.documents.count == 2_001)
        label.documents.removeAll { $0 === document }
        stored.document.labels.removeAll { $0 === stored.label }
        try first.save()
        try second.save()
        #expect(linkCount(store) == 4_000)
        try store.verify()
    }

    private func walked(by context: ModelContext, _ body: () throws -> Void) rethrows -> Int {
        let before = context.core.reports.walked.indexEntries
        try body()
        return context.core.reports.walked.indexEntries - before
    }

    /// The rows of all link tables.
    private func linkCount(_ store: TestStore) -> Int {
        let rows = store.container.rowStore
        let tables = rows.storage.entities.flatMap(\.slots).compactMap { slot -> TableID? in
            guard case .toMany(let relationship) = slot, case .link(let side, _) = relationship.members else {
                return nil
            }
            return side.table
        }
        return Set(tables).reduce(0) { $0 + rows.log.snapshot().recordCount(of: $1) }
    }
}

@Model final class LinkedNote {
    var words: [LinkedWord] = []
    init() {}
}

@Model final class LinkedWord {
    @Attribute(.unique) var word: String
    @Relationship(inverse: \LinkedNote.words) var notes: [LinkedNote] = []
    init(_ word: String) { self.word = word }
}
