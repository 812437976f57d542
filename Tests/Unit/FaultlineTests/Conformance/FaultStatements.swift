import Faultline
import Testing

/// Statements from Core Data's users about faults, as listed in docs/Conformance.md; each test has its statement's
/// number.
@Suite struct FaultStatements {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        let folder = Folder("root")
        context.insert(folder)
        for number in 0..<10 {
            let document = Document("d\(number)", number: number)
            folder.documents.append(document)
            document.labels = [Label("l\(number)")]
            document.body = Body(Data(repeating: 7, count: 10_000))
        }
        try context.save()
    }

    private func documents(_ context: ModelContext) throws -> [Document] {
        try context.all(Document.self, sortBy: [SortDescriptor(\.number)])
    }

    /// The counters of `body`'s reads.
    private func reads(_ context: ModelContext, _ body: () throws -> Void) rethrows -> FaultCounters {
        let before = context.counters
        try body()
        return context.counters - before
    }

    @Test func `C1, C2: one object a row and context`() throws {
        let context = store.context()
        let document = try documents(context)[3]
        let folder = try context.first(Folder.self)
        #expect(folder.documents.first { $0.number == 3 } === document)
        #expect(try documents(context)[3] === document)
        let other = try documents(store.context())[3]
        #expect(other !== document && other.persistentModelID == document.persistentModelID)
    }

    @Test func `C3, C6: a fetch that looks at rows leaves them to its faults`() throws {
        let context = try store.reopened()
        let found = try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.number > 4 }))
        let read = reads(context) { #expect(found.map(\.title) == ["d5", "d6", "d7", "d8", "d9"]) }
        #expect(read.faultsFired == 0 && read.rowsRead == 0)
    }

    @Test func `C4: a fetch that asks for nothing of the rows reads none`() throws {
        let context = try store.reopened()
        var found: [Document] = []
        let fetched = try reads(context) { found = try context.all(Document.self) }
        #expect(fetched.rowsRead == 0)
        let touched = reads(context) { _ = found[0].title }
        #expect(touched.faultsFired == 1 && touched.rowsRead >= 1)
    }

    @Test func `C5, C36: objects come loaded where properties are asked for, their collections do not`() throws {
        let context = try store.reopened()
        var descriptor = FetchDescriptor<Folder>()
        descriptor.propertiesToFetch = [\.name]
        let folder = try #require(try context.fetch(descriptor).first)
        #expect(reads(context) { _ = folder.name }.faultsFired == 0)
        var members: [Document] = []
        let walked = reads(context) { members = folder.documents }
        #expect(members.count == 10 && walked.faultsFired == 0)
        #expect(reads(context) { members.forEach { _ = $0.title } }.faultsFired > 0)
    }

    @Test func `C7, C43: a touch loads the row, and no value out of it`() throws {
        let context = try store.reopened()
        let body = try #require(try context.all(Body.self).first)
        let touched = reads(context) { _ = body.document }
        #expect(touched.faultsFired == 1 && touched.blobBytesRead == 0)
        let read = reads(context) { #expect(body.bytes.count == 10_000) }
        #expect(read.faultsFired == 0 && read.blobBytesRead == 10_000)
    }

    @Test func `C8: a change of a fault loads it first`() throws {
        let context = try store.reopened()
        let document = try documents(context)[0]
        context.reset()
        let changed = reads(context) { document.number = 50 }
        #expect(changed.faultsFired == 1)
        try context.save()
        #expect(try store.reopened().all(Document.self).contains { $0.title == "d0" && $0.number == 50 })
    }

    @Test func `C9, C10: questions that the object answers without its row load nothing`() throws {
        let context = try store.reopened()
        let found = try context.all(Document.self)
        let asked = reads(context) {
            let set = Set(found)
            #expect(set.contains(found[0]) && found[0] == found[0] && found[0] != found[1])
            for document in found {
                #expect(!document.isDeleted && !document.hasChanges && document.modelContext === context)
                #expect(document.persistentModelID.entityName == "Document" && document.id.storeIdentifier != nil)
            }
        }
        #expect(asked.faultsFired == 0 && asked.rowsRead == 0)
    }

    @Test func `C11: a to-one relationship gives a fault`() throws {
        let context = try store.reopened()
        let document = try context.first(Document.self)
        _ = document.title
        var folder: Folder?
        #expect(reads(context) { folder = document.folder }.rowsRead == 0)
        #expect(reads(context) { _ = folder?.name }.faultsFired == 1)
    }

    @Test func `C13: the members of a collection are faults, one each`() throws {
        let context = try store.reopened()
        let folder = try context.first(Folder.self)
        var members: [Document] = []
        #expect(reads(context) { members = folder.documents }.rowsRead == 0)
        // Labels are reached one at a time, without reading ahead.
        let fired = reads(context) { for member in members { _ = member.labels.first?.text } }
        #expect(fired.faultsFired <= 10 && fired.rowsRead <= 20)
    }

    @Test func `C15: prefetched relationships are walked without reading rows`() throws {
        let context = try store.reopened()
        var descriptor = FetchDescriptor<Document>()
        descriptor.relationshipKeyPathsForPrefetching = [\.labels, \.folder]
        let found = try context.fetch(descriptor)
        let walked = reads(context) {
            for document in found {
                #expect(document.folder?.name == "root" && document.labels.first?.text.hasPrefix("l") == true)
            }
        }
        #expect(walked.faultsFired == 0 && walked.rowsRead == 0)
    }

    @Test func `C16: neighbours are loaded together, and never more often than one by one`() throws {
        let context = try store.reopened()
        let found = try context.all(Document.self)
        let fired = reads(context) { found.forEach { _ = $0.title } }
        #expect(fired.faultsFired < 10 && fired.rowsRead == 10)
    }
}
