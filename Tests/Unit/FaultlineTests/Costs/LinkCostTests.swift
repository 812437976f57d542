import Faultline
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
}
