import Faultline
import Testing

/// Statements from Core Data's users about an object's states, as listed in docs/Conformance.md.
@Suite struct StateStatements {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        for name in ["a", "b"] {
            let folder = Folder(name)
            context.insert(folder)
            for number in 0..<2 {
                let document = Document("\(name)\(number)", number: number)
                document.labels = [Label("\(name)\(number)")]
                document.body = Body()
                folder.documents.append(document)
            }
        }
        try context.save()
    }

    private func document(_ title: String, _ context: ModelContext) throws -> Document {
        try #require(try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title == title })).first)
    }

    private func folder(_ name: String, _ context: ModelContext) throws -> Folder {
        try #require(try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == name })).first)
    }

    @Test func `C20: refresh without merging drops the object's changes`() throws {
        let context = store.context()
        let document = try document("a0", context)
        let (a, b) = (try folder("a", context), try folder("b", context))
        let label = try #require(document.labels.first)
        let body = try #require(document.body)
        document.title = "other"
        document.folder = b
        document.labels = [Label("new")]
        document.body = nil
        #expect(b.documents.count == 3 && a.documents.count == 1 && body.document == nil)
        context.refresh(document, mergeChanges: false)
        #expect(document.title == "a0" && !document.hasChanges)
        #expect(document.folder === a && a.documents.map(\.title) == ["a0", "a1"] && b.documents.count == 2)
        #expect(document.labels.map(\.text) == ["a0"] && label.documents.first === document)
        #expect(document.body === body && body.document === document)
        try context.save()
        let reopened = try store.reopened()
        #expect(try folder("a", reopened).documents.map(\.title) == ["a0", "a1"])
        #expect(try self.document("a0", reopened).labels.map(\.text) == ["a0"])
        #expect(try self.document("a0", reopened).body != nil)
    }

    @Test func `C20: what others have claimed stays theirs`() throws {
        let context = store.context()
        let (left, right) = (try document("a0", context), try document("a1", context))
        let body = try #require(left.body)
        right.body = body
        #expect(left.body == nil)
        context.refresh(left, mergeChanges: false)
        #expect(left.body == nil && right.body === body && body.document === right)
        try context.save()
        let reopened = try store.reopened()
        #expect(try document("a0", reopened).body == nil && document("a1", reopened).body?.document?.title == "a1")
    }

    @Test func `C21, C22: refresh with merging keeps changes over the newest values`() throws {
        let context = store.context()
        let found = try [document("a0", context), document("a1", context), document("b0", context)]
        found[0].number = 10
        found[1].number = 11
        _ = found[2].title
        let other = store.context()
        for title in ["a0", "a1", "b0"] { try document(title, other).title = "new \(title)" }
        try other.save()
        #expect(found[0].title == "a0")
        context.refresh(found[0], mergeChanges: true)
        #expect(found[0].title == "new a0" && found[0].number == 10 && found[0].hasChanges)
        #expect(found[1].title == "a1")
        context.refreshAllObjects()
        #expect(found[1].title == "new a1" && found[1].number == 11 && found[2].title == "new b0")
        try context.save()
        let numbers = try store.reopened().all(Document.self, sortBy: [SortDescriptor(\.title)]).map(\.number)
        #expect(numbers == [1, 10, 11, 0])
    }

    @Test func `C23: unsaved changes hold their object, clean ones may go`() throws {
        let context = store.context()
        weak var clean: Document?
        weak var changed: Document?
        try {
            let found = try document("a0", context)
            clean = found
            _ = found.title
            let other = try document("a1", context)
            other.number = 5
            changed = other
        }()
        #expect(clean == nil && changed != nil)
        try context.save()
        #expect(changed == nil)
    }

    @Test func `C24, C25 (otherwise): a fetch shows changes of others in clean objects too, at no other time`() throws {
        let context = store.context()
        let found = try document("a0", context)
        _ = found.number
        let other = store.context()
        try document("a0", other).number = 7
        try other.save()
        #expect(found.number == 0)
        _ = try context.all(Folder.self)
        #expect(found.number == 7)
    }

    @Test func `C26, C27 (otherwise): a fault whose row is gone answers with stand-ins, and is deleted`() throws {
        let context = store.context()
        let found = try document("a0", context)
        context.reset()
        let other = store.context()
        other.delete(try document("a0", other))
        try other.save()
        context.refreshAllObjects()
        #expect(found.title == "" && found.number == 0 && found.isDeleted)
        try context.save()
    }

    @Test func `C28: an object is asked for by its identifier, with and without the store`() throws {
        let identifier = try document("a0", store.context()).persistentModelID
        let context = store.context()
        let none: Document? = context.registeredModel(for: identifier)
        #expect(none == nil)
        let before = context.counters
        let object = try #require(context.model(for: identifier) as? Document)
        #expect((context.counters - before).rowsRead == 0)
        let registered: Document? = context.registeredModel(for: identifier)
        #expect(registered === object && object.title == "a0")
    }

    @Test func `C29 (otherwise): reset drops changes and loaded rows, and objects stay themselves`() throws {
        let context = store.context()
        let found = try document("a0", context)
        found.title = "other"
        let new = Document("new")
        context.insert(new)
        context.reset()
        #expect(!context.hasChanges && found.title == "a0" && new.modelContext == nil)
        #expect(try document("a0", context) === found)
    }

    @Test func `C30: rollback drops inserts and deletes, and restores values`() throws {
        let context = store.context()
        let (changed, deleted) = (try document("a0", context), try document("a1", context))
        let new = Document("new")
        context.insert(new)
        changed.title = "other"
        context.delete(deleted)
        context.rollback()
        #expect(changed.title == "a0" && !deleted.isDeleted && new.modelContext == nil && !context.hasChanges)
        #expect(try context.all(Document.self).count == 4)
    }

    @Test func `C37: deleted until the save, and in no context afterwards`() throws {
        let context = store.context()
        let found = try document("a0", context)
        context.delete(found)
        #expect(found.isDeleted && found.modelContext === context)
        try context.save()
        // Otherwise: it still reports that it is deleted.
        #expect(found.isDeleted && found.modelContext == nil && found.title == "a0")
    }

    @Test func `C38: delete rules are carried out when asked, and by the save at the latest`() throws {
        let context = store.context()
        let folder = try folder("a", context)
        let member = try document("a0", context)
        context.delete(folder)
        #expect(!member.isDeleted)
        context.processPendingChanges()
        #expect(member.isDeleted)
        try context.save()
        #expect(try store.reopened().all(Document.self).count == 2)
    }

    @Test func `C39: a temporary identifier is replaced by the save`() throws {
        let context = store.context()
        let new = Document("new")
        context.insert(new)
        let temporary = new.persistentModelID
        #expect(temporary.storeIdentifier == nil)
        try context.save()
        #expect(new.persistentModelID != temporary && new.persistentModelID.storeIdentifier != nil)
    }

    @Test func `C40, S29: the other side shows a change at once`() throws {
        let context = store.context()
        let (a, b) = (try folder("a", context), try folder("b", context))
        let member = try document("a0", context)
        member.folder = b
        #expect(b.documents.contains(member) && !a.documents.contains(member))
        a.documents.append(member)
        #expect(member.folder === a)
        member.folder = nil
        #expect(!a.documents.contains(member))
    }

    @Test func `C41: what others saved comes in, and unsaved edits stay`() throws {
        let context = store.context()
        let (edited, deleted) = (try document("a0", context), try document("a1", context))
        edited.number = 99
        let other = store.context()
        try document("a0", other).title = "renamed"
        other.delete(try document("a1", other))
        other.insert(Document("new"))
        try other.save()
        context.refreshAllObjects()
        #expect(edited.title == "renamed" && edited.number == 99)
        _ = deleted.title
        #expect(deleted.isDeleted)
        #expect(try context.all(Document.self).map(\.title).sorted() == ["b0", "b1", "new", "renamed"])
    }

    @Test func `C42: a pinned context stays where it is`() throws {
        let context = store.context()
        let found = try document("a0", context)
        try context.pin("statement")
        let other = store.context()
        try document("a0", other).number = 8
        try other.save()
        context.refresh(found, mergeChanges: false)
        #expect(found.number == 0)
        context.unpin()
        context.refresh(found, mergeChanges: false)
        #expect(found.number == 8)
    }
}
