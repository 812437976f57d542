import Faultline
import Testing

/// Changes to objects that other contexts have deleted, as this context knows: no change is lost silently.
@Suite struct ChangedAfterDeletionTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, User.self, Team.self, Photo.self, Scalars.self)
    }

    /// A document held in a context that has moved on after another one deleted it.
    private func held(_ policy: MergePolicy) throws -> (ModelContext, Document) {
        let (mine, theirs) = (store.context(), store.context())
        mine.mergePolicy = policy
        let document = Document("old", number: 1)
        theirs.insert(document)
        theirs.insert(Folder("folder"))
        try theirs.save()
        let held = try mine.first(Document.self)
        _ = held.title
        theirs.delete(document)
        try theirs.save()
        #expect(try mine.fetchCount(FetchDescriptor<Document>()) == 0)
        return (mine, held)
    }

    /// The ways of changing an object.
    enum Way: CaseIterable {
        case attribute, afterReading, toOne, toMany, theOtherSide
    }

    private func change(_ document: Document, _ way: Way, in context: ModelContext) throws {
        switch way {
        case .attribute: document.title = "new"
        case .afterReading:
            #expect(document.title == "" && document.isDeleted)
            document.title = "new"
        case .toOne: document.folder = try context.first(Folder.self)
        case .toMany:
            #expect(document.title == "")
            document.labels = [Label("label")]
        case .theOtherSide: try context.first(Folder.self).documents.append(document)
        }
    }

    @Test(arguments: Way.allCases, [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `a save reports the change of an object that was deleted elsewhere`(way: Way, policy: MergePolicy) throws {
        let (context, document) = try held(policy)
        let number = document.persistentModelID
        try change(document, way, in: context)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        let finding = try #require(error?.findings.first)
        #expect(finding.rule == .deletedElsewhere && finding.object == number)
        #expect("\(finding)".contains("insert the object anew"))
        context.rollback()
        context.insert(Document("anew"))
        try context.save()
        #expect(try store.reopened().all(Document.self).map(\.title) == ["anew"])
    }

    @Test(arguments: [Way.attribute, .afterReading, .toOne])
    func `under the policy that refuses it is a conflict`(way: Way) throws {
        let (context, document) = try held(.error)
        try change(document, way, in: context)
        let error = #expect(throws: MergeConflictError.self) { try context.save() }
        #expect(error?.conflicts.map(\.kind) == [.deletedElsewhere])
        #expect(error?.conflicts.map(\.object) == [document.persistentModelID])
    }

    @Test(arguments: [Way.attribute, .afterReading, .toOne], [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func `the policies that let the store win drop the change`(way: Way, policy: MergePolicy) throws {
        let (context, document) = try held(policy)
        try change(document, way, in: context)
        context.insert(Document("other"))
        try context.save()
        #expect(try store.reopened().all(Document.self).map(\.title) == ["other"])
    }

    @Test("A7: a save that is refused for another reason names the changed objects that are gone too")
    func allFindingsComeTogether() throws {
        let (mine, theirs) = (store.context(), store.context())
        theirs.insert(Document("old"))
        theirs.insert(User("a@b"))
        try theirs.save()
        let held = try mine.first(Document.self)
        held.title = "new"
        theirs.delete(try theirs.first(Document.self))
        try theirs.save()
        mine.insert(User("a@b"), onConflict: .error)
        let error = #expect(throws: SwiftDataError.self) { try mine.save() }
        #expect(Set(error?.findings.map(\.rule) ?? []) == [.unique, .deletedElsewhere])
    }

    @Test func `the other side of a reference that is cleared may be gone`() throws {
        let (mine, theirs) = (store.context(), store.context())
        let (document, body) = (Document("d"), Body())
        theirs.insert(document)
        document.body = body
        try theirs.save()
        let held = try mine.first(Document.self)
        let heldBody = try #require(held.body)
        theirs.delete(body)
        try theirs.save()
        _ = try mine.fetchCount(FetchDescriptor<Document>())
        held.body = nil
        held.title = "new"
        try mine.save()
        #expect(heldBody.bytes.isEmpty && heldBody.isDeleted)
        #expect(try store.reopened().all(Document.self).map(\.title) == ["new"])
    }

    @Test func `what this context has deleted and saved itself may be written to`() throws {
        let context = store.context()
        let document = Document("d")
        context.insert(document)
        try context.save()
        context.delete(document)
        try context.save()
        document.title = "x"
        try context.save()
        #expect(try store.reopened().all(Document.self).isEmpty)
    }
}
