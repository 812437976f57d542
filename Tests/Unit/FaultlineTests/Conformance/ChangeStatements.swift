import Faultline
import Testing

/// Statements from SwiftData's users about inserts, uniqueness and deletions, as listed in docs/Conformance.md.
@Suite struct ChangeStatements {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, User.self, Team.self, Company.self, Worker.self,
            Visitor.self)
    }

    @Test func `S16, S17, S18: objects reached from an inserted object are inserted`() throws {
        let context = store.context()
        let (root, child, document) = (Folder("root"), Folder("child"), Document("d"))
        root.folders = [child]
        child.documents = [document]
        #expect(child.parent === root && document.folder === child && root.modelContext == nil)
        context.insert(root)
        #expect(child.modelContext === context && document.modelContext === context)
        let late = Document("late")
        root.documents.append(late)
        #expect(late.modelContext === context && late.folder === root)
        try context.save()
        #expect(try store.reopened().all(Document.self).count == 2)
    }

    @Test func `S19: a relationship may be set in init`() throws {
        let context = store.context()
        let team = Team("t")
        let user = User("u", team: team)
        #expect(team.users == [user])
        context.insert(user)
        try context.save()
        #expect(try store.reopened().first(Team.self).users.map(\.email) == ["u"])
    }

    @Test func `S20: a collision is an upsert that keeps the identity, and relationships that were not set`() throws {
        let context = store.context()
        let (first, team) = (User("u", first: "A", last: "B", age: 1), Team("t"))
        first.team = team
        context.insert(first)
        try context.save()
        let second = User("u", first: "A", last: "C", age: 2)
        context.insert(second)
        try context.save()
        #expect(second.persistentModelID == first.persistentModelID)
        #expect(first.last == "C" && first.age == 2 && first.team === team)
        #expect(try store.reopened().all(User.self).count == 1)
    }

    @Test func `S24: deleting an object twice, or an unsaved one, does no harm`() throws {
        let context = store.context()
        let (stored, new) = (Folder("stored"), Folder("new"))
        context.insert(stored)
        try context.save()
        context.insert(new)
        context.delete(new)
        context.delete(new)
        context.delete(stored)
        context.delete(stored)
        try context.save()
        context.delete(stored)
        try context.save()
        #expect(new.modelContext == nil)
        #expect(try store.reopened().all(Folder.self).isEmpty)
    }

    @Test func `S23, S26: deletion by predicate; objects marked for deletion are not found`() throws {
        let context = store.context()
        for number in 0..<6 { context.insert(Document("d\(number)", number: number)) }
        try context.save()
        let held = try context.all(Document.self)
        try context.delete(model: Document.self, where: #Predicate { $0.number % 2 == 0 })
        #expect(held.filter(\.isDeleted).map(\.number).sorted() == [0, 2, 4])
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 3)
        try context.save()
        #expect(try store.reopened().all(Document.self).map(\.number).sorted() == [1, 3, 5])
    }

    @Test func `S25 (otherwise): a deleted object answers with its last values`() throws {
        let context = store.context()
        let document = Document("d", number: 5)
        context.insert(document)
        try context.save()
        context.delete(document)
        try context.save()
        #expect(document.title == "d" && document.number == 5 && document.isDeleted && document.modelContext == nil)
    }

    @Test func `S30 (otherwise): a dangling reference reads as nil`() throws {
        let store = try TestStore(Playlist.self, Song.self)
        let context = store.context()
        let (playlist, song) = (Playlist("p"), Song("s"))
        playlist.favourite = song
        playlist.songs = [song]
        context.insert(playlist)
        try context.save()
        context.delete(song)
        try context.save()
        let found = try store.reopened().first(Playlist.self)
        #expect(found.favourite == nil && found.songs.isEmpty)
    }

    @Test func `S31: a required reference is not cleared: the deletion is refused`() throws {
        let store = try TestStore(Shelf.self, Tome.self)
        let context = store.context()
        let shelf = Shelf()
        context.insert(Tome(shelf))
        try context.save()
        context.delete(shelf)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .modelValidationFailure && error?.findings.first?.rule == .required)
        #expect(error?.findings.first?.propertyName == "shelf")
        context.rollback()
        #expect(try store.reopened().all(Shelf.self).count == 1)
    }

    @Test func `S32, S37: a cascade takes members, unsaved ones too, and unlinking takes none`() throws {
        let context = store.context()
        let folder = Folder("f")
        folder.documents = [Document("stays"), Document("goes")]
        context.insert(folder)
        try context.save()
        folder.documents.removeAll { $0.title == "stays" }
        folder.documents.append(Document("unsaved"))
        context.delete(folder)
        try context.save()
        #expect(try store.reopened().all(Document.self).map(\.title) == ["stays"])
    }

    @Test func `S33, S34: deny refuses, and no action leaves the other side`() throws {
        let context = store.context()
        let company = Company("c")
        company.workers = [Worker("w")]
        company.visitors = [Visitor("v")]
        context.insert(company)
        try context.save()
        context.delete(company)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error?.findings.map(\.rule) == [.deny])
        context.delete(try context.first(Worker.self))
        try context.save()
        let visitor = try store.reopened().first(Visitor.self)
        #expect(visitor.company == nil && visitor.name == "v")
    }
}

@Model final class Shelf {
    @Relationship(deleteRule: .nullify, inverse: \Tome.shelf) var tomes: [Tome] = []
    init() {}
}

@Model final class Tome {
    var shelf: Shelf
    init(_ shelf: Shelf) { self.shelf = shelf }
}
