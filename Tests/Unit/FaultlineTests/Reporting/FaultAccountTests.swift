import Faultline
import Testing

/// Attributes loads to the code that caused them.
@Suite struct FaultAccountTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        for place in 0..<40 {
            let folder = Folder("f\(place)")
            context.insert(folder)
            let document = Document("d\(place)", number: place)
            folder.documents.append(document)
            document.labels = [Label("l\(place)")]
            document.body = Body(Data(repeating: 1, count: 5_000))
            // Without these objects, neighbors of one entity would have neighboring numbers, and would be read ahead.
            for other in 0..<20 { context.insert(Folder("other \(place) \(other)")) }
        }
        try context.save()
    }

    private func accounted() throws -> (ModelContext, FaultAccount) {
        let context = try store.reopened()
        let account = FaultAccount()
        context.faultAccount = account
        return (context, account)
    }

    @Test func aRelationshipThatIsWalkedOneByOneIsNamedWithItsRemedy() throws {
        let (context, account) = try accounted()
        let documents = try context.all(Document.self)
        for document in documents { #expect(document.folder?.name.hasPrefix("f") == true) }
        let repetition = try #require(account.repetitions().first)
        #expect(account.repetitions().count == 1 && repetition.faultCount >= 20)
        #expect(repetition.source.entityName == "Document" && repetition.source.path == ["folder"])
        #expect(repetition.source.site?.hasPrefix("FaultlineTests/TestStore.swift:") == true)
        #expect(repetition.remedy == "descriptor.relationshipKeyPathsForPrefetching = [\\.folder]")
        #expect(account.report.contains(repetition.description))

        // With the fix no such load remains.
        account.reset()
        context.reset()
        var descriptor = FetchDescriptor<Document>()
        descriptor.relationshipKeyPathsForPrefetching = [\.folder]
        for document in try context.fetch(descriptor) { _ = document.folder?.name }
        #expect(account.repetitions(minimum: 1).isEmpty && account.entries.map(\.source.path) == [[]])
    }

    @Test func entriesAreToldApartBySiteAndLabelAndProperty() throws {
        let (context, account) = try accounted()
        let first = try context.fetch(FetchDescriptor<Body>(predicate: #Predicate { $0.document?.number == 3 }))
        let line = #line - 1
        let before = context.counters
        FaultAccount.$label.withValue("GET /body") { #expect(first.first?.bytes.count == 5_000) }
        let read = context.counters - before
        let labelled = account.entries.filter { $0.label == "GET /body" }
        let blob = try #require(labelled.first { $0.propertyName == "bytes" })
        #expect(blob.blobByteCount == 5_000 && blob.faultCount == 0 && read.blobBytesRead == 5_000)
        #expect(blob.source.site == "FaultlineTests/FaultAccountTests.swift:\(line)" && blob.source.path.isEmpty)
        let fetched = try #require(account.entries.first { $0.label == nil && $0.source.site == blob.source.site })
        #expect(fetched.rowCount >= 40 && fetched.duration > .zero)
        #expect(account.report.contains("bytes [GET /body]"))
    }

    @Test func whatIsCountedIsWhatTheCountersCount() throws {
        let (context, account) = try accounted()
        let before = context.counters
        for folder in try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name.starts(with: "f1") })) {
            for document in folder.documents {
                _ = document.labels.first?.text
                _ = document.body?.bytes
            }
        }
        let read = context.counters - before
        #expect(account.entries.reduce(0) { $0 + $1.faultCount } == read.faultsFired && read.faultsFired > 0)
        #expect(account.entries.reduce(0) { $0 + $1.rowCount } == read.rowsRead)
        #expect(account.entries.reduce(0) { $0 + $1.blobByteCount } == read.blobBytesRead)
        let paths = Set(account.entries.map(\.source.path))
        #expect(paths.isSuperset(of: [[], ["documents"], ["documents", "labels"], ["documents", "body"]]))
        context.faultAccount = nil
        context.reset()
        account.reset()
        _ = try context.all(Folder.self).map(\.name)
        #expect(account.entries.isEmpty)
    }

    @Test func whoIsAliveIsTold() throws {
        let context = try store.reopened()
        #expect(context.residentObjects.isEmpty)
        let documents = try context.all(Document.self)
        documents[0].title = "changed"
        context.insert(Label("new"))
        context.delete(documents[1])
        withExtendedLifetime(documents) {
            #expect(
                context.residentObjects.map { "\($0.entityName) \($0.count) \($0.unsavedCount)" } == [
                    "Document 40 2", "Label 1 1",
                ])
        }
    }
}
