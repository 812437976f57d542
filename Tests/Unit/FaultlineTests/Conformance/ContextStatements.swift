import Faultline
import Testing

/// Statements from SwiftData's users about contexts and identity, as listed in docs/Conformance.md.
@Suite struct ContextStatements {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Document.self, Label.self, Body.self)
        let context = store.context()
        for number in 0..<3 { context.insert(Document("d\(number)", number: number)) }
        try context.save()
    }

    private struct Stop: Error {}

    @Test func `S5: a transaction saves its changes, or drops them`() throws {
        let context = store.context()
        try context.transaction { context.insert(Document("kept")) }
        #expect(!context.hasChanges)
        #expect(throws: Stop.self) {
            try context.transaction {
                context.insert(Document("dropped"))
                throw Stop()
            }
        }
        #expect(!context.hasChanges)
        #expect(try store.reopened().all(Document.self).map(\.title).sorted() == ["d0", "d1", "d2", "kept"])
    }

    @Test func `S6: an object that was only inserted is in no context after a rollback`() throws {
        let context = store.context()
        let (new, changed) = (Document("new"), try context.first(Document.self))
        context.insert(new)
        changed.title = "other"
        context.rollback()
        #expect(new.modelContext == nil && new.title == "new" && changed.title == "d0")
    }

    @Test func `S8, S11: contexts see each other's saves at the next fetch`() throws {
        let (one, two) = (store.context(), store.context())
        let found = try one.first(Document.self)
        _ = found.title
        try two.first(Document.self).title = "new"
        try two.save()
        #expect(found.title == "d0")
        #expect(try one.all(Document.self).contains { $0.title == "new" })
    }

    @Test func `S9, S10: an identifier always gives an object, a registered one only if it is there`() throws {
        let identifier = try store.context().first(Document.self).persistentModelID
        let context = store.context()
        let none: Document? = context.registeredModel(for: identifier)
        #expect(none == nil)
        let stored = context.model(for: identifier) as? Document
        #expect(stored?.title == "d0")
        context.delete(try #require(stored))
        try context.save()
        // Otherwise: no trap if there is no row.
        let placeholder = try #require(store.context().model(for: identifier) as? Document)
        #expect(placeholder.persistentModelID == identifier && placeholder.title == "" && placeholder.isDeleted)
    }

    @Test func `S12, S13: the first save gives an identifier for good`() throws {
        let context = store.context()
        let new = Document("new")
        let before = new.persistentModelID
        context.insert(new)
        #expect(new.persistentModelID == before && before.storeIdentifier == nil)
        try context.save()
        let saved = new.persistentModelID
        #expect(saved != before)
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(saved))
        // Otherwise: a decoded identifier is equal.
        #expect(decoded == saved && decoded.hashValue == saved.hashValue)
        #expect((try store.reopened().model(for: decoded) as? Document)?.title == "new")
    }

    @Test func `S14: equality is identity`() throws {
        let (one, two) = (Document("same"), Document("same"))
        #expect(one != two && one == one && Set([one, two, one]).count == 2)
        let context = store.context()
        let found = try context.first(Document.self)
        found.title = "other"
        #expect(try store.context().first(Document.self) == found)
    }

    @Test func `S15: a property named id wins`() throws {
        let uuid = UUID()
        let named = Named(id: uuid)
        #expect(named.id == uuid && Set([named].map(\.id)) == [uuid])
        #expect(named.persistentModelID.entityName == "Named")
    }
}

@Model final class Named {
    @Attribute(.unique) var id: UUID
    init(id: UUID) { self.id = id }
}
