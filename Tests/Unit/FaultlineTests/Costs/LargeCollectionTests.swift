import Faultline
import Testing

/// Large to-many relationships are counted and searched without loading their members.
@Suite struct LargeCollectionTests {
    @Test("C8: a count makes no member, and is kept while nothing changes")
    func countsAreKept() throws {
        let store = try TestStore(Folder.self, place: .memory)
        var context = store.context()
        context.insert(Folder("f"))
        try context.first(Folder.self).documents = (0..<3_000).map { Document("\($0)", number: $0) }
        try context.save()
        context = store.context()
        let folder = try context.first(Folder.self)
        let members = folder.relationship(\.documents)
        #expect(members.count == 3_000 && members.count == 3_000)
        #expect(context.core.reports.walked.indexEntries == 3_000 && context.core.reports.walked.collectedMembers == 0)
        // A new member only adds to the count; after a removal, the members are counted again.
        members.insert(Document("x"))
        #expect(members.count == 3_001 && context.core.reports.walked.indexEntries == 3_000)
        let first = try #require(members.first { _ in true })
        first.folder = nil
        #expect(members.count == 3_000)
        context.delete(try #require(members.first { _ in true }))
        #expect(members.count == 2_999 && folder.documents.count == 2_999)
        try context.save()
        #expect(members.count == 2_999)
        let other = store.context()
        try other.first(Folder.self).documents.removeLast()
        try other.save()
        _ = try context.first(Folder.self)
        #expect(members.count == 2_998)
        context.delete(folder)
        try context.save()
        #expect(members.count == 0)
    }

    @Test("C8: contains asks the member, or the array that stands")
    func containsAsksTheMember() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        let label = Label("l")
        context.insert(folder)
        context.insert(label)
        let documents = (0..<3_000).map { Document("\($0)", number: $0) }
        folder.documents = documents
        label.documents = documents
        try context.save()
        let collected = context.core.reports.walked.collectedMembers
        let members = folder.relationship(\.documents)
        for document in documents { #expect(members.contains(document)) }
        #expect(
            context.core.reports.walked.indexEntries == 0 && context.core.reports.walked.collectedMembers == collected)
        // Both have many links. Once the array is loaded, no link is walked.
        #expect(label.documents.count == 3_000 && label.documents.count == 3_000)
        let walked = context.core.reports.walked.indexEntries
        for document in documents { #expect(label.relationship(\.documents).contains(document)) }
        #expect(!label.relationship(\.documents).contains(Document("x")))
        #expect(context.core.reports.walked.indexEntries == walked)
        #expect(folder.documents.contains(documents[2_999]) && !folder.documents.contains(Document("x")))
    }

    @Test("C8: objects are equal by identity, in one context and in two")
    func equality() throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folders = [Folder("a"), Folder("b")]
        #expect(folders[0] != folders[1] && folders[0] == folders[0])
        folders.forEach(context.insert)
        #expect(folders[0] != folders[1])
        try context.save()
        #expect(folders[0] != folders[1] && folders[0] == folders[0])
        let others = try store.context().all(Folder.self, sortBy: [SortDescriptor(\.name)])
        #expect(folders == others && others[0] != folders[1])
    }
}
