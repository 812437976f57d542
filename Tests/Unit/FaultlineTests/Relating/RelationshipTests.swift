import Faultline
import Testing

@Suite struct RelationshipTests {
    func filing(place: TestStore.Place = .folder) throws -> TestStore {
        try TestStore(Folder.self, place: place)
    }

    // MARK: Inverses

    @Test(arguments: TestStore.Place.allCases) func settingEitherSideShowsAtTheOtherAtOnce(place: TestStore.Place)
        throws
    {
        let store = try filing(place: place)
        let context = store.context()
        let folder = Folder("f")
        let first = Document("1")
        let second = Document("2")
        context.insert(folder)
        context.insert(first)
        context.insert(second)
        first.folder = folder
        #expect(folder.documents == [first])
        folder.documents.append(second)
        #expect(second.folder === folder)
        #expect(folder.documents == [first, second])
        folder.documents.removeFirst()
        #expect(first.folder == nil)
        try context.save()
        #expect(folder.documents == [second])
        #expect(second.folder === folder)
        // The same after everything is stored.
        first.folder = folder
        #expect(Set(folder.documents) == [first, second])
        folder.documents = []
        #expect(first.folder == nil)
        #expect(second.folder == nil)
        folder.documents = [first]
        try context.save()
        let again = try store.reopened()
        let read = try again.first(Folder.self)
        #expect(read.documents.map(\.title) == ["1"])
        #expect(read.documents.first?.folder === read)
    }

    @Test func oneToOneKeepsBothSides() throws {
        let store = try filing()
        let context = store.context()
        let documents = (0..<3).map { Document("\($0)") }
        let bodies = (0..<3).map { Body(Data([UInt8($0)])) }
        documents.forEach(context.insert)
        bodies.forEach(context.insert)
        documents[0].body = bodies[0]
        #expect(bodies[0].document === documents[0])
        bodies[1].document = documents[1]
        #expect(documents[1].body === bodies[1])
        // Takes a partner away from another object.
        documents[0].body = bodies[1]
        #expect(documents[1].body == nil)
        #expect(bodies[0].document == nil)
        #expect(bodies[1].document === documents[0])
        try context.save()
        #expect(documents[0].body === bodies[1])
        #expect(documents[1].body == nil)
        bodies[2].document = documents[0]
        #expect(bodies[1].document == nil)
        #expect(documents[0].body === bodies[2])
        try context.save()
        let again = try store.reopened()
        let read = try again.all(Document.self)
        #expect(read.map { $0.body?.bytes.first } == [2, nil, nil])
        #expect(read[0].body?.document === read[0])
    }

    @Test func manyToManyKeepsBothSides() throws {
        let store = try filing()
        let context = store.context()
        let documents = (0..<3).map { Document("d\($0)") }
        let labels = (0..<3).map { Label("l\($0)") }
        documents.forEach(context.insert)
        documents[0].labels = [labels[0], labels[1]]
        labels[1].documents.append(documents[1])
        #expect(documents[1].labels == [labels[1]])
        #expect(labels[1].documents == [documents[0], documents[1]])
        try context.save()
        #expect(documents[0].labels == [labels[0], labels[1]])
        #expect(labels[1].documents == [documents[0], documents[1]])
        labels[1].documents.removeFirst()
        #expect(documents[0].labels == [labels[0]])
        documents[2].labels = [labels[1]]
        documents[2].labels = []
        documents[2].labels = [labels[1], labels[0]]
        try context.save()
        let again = try store.reopened()
        let read = try again.all(Document.self)
        #expect(read.map { $0.labels.map(\.text) } == [["l0"], ["l1"], ["l1", "l0"]])
        let labelsRead = try again.all(Label.self).filter { $0.text == "l1" }
        #expect(Set(labelsRead[0].documents.map(\.title)) == ["d1", "d2"])
        // Unlinks and links again in one save.
        let kept = read[2].labels
        read[2].labels = []
        read[2].labels = kept.reversed()
        try again.save()
        let last = try store.reopened().all(Document.self)
        #expect(last[2].labels.map(\.text) == ["l0", "l1"])
    }

    @Test func oneWayRelationshipsNeedNoInverse() throws {
        let store = try TestStore(Playlist.self)
        let context = store.context()
        let list = Playlist("p")
        let other = Playlist("q")
        let songs = (0..<4).map { Song("\($0)") }
        list.songs = songs
        list.favourite = songs[2]
        context.insert(list)
        context.insert(other)
        other.songs = [songs[3], songs[0]]
        try context.save()
        #expect(list.songs == songs)
        var again = try store.reopened()
        var lists = try again.all(Playlist.self)
        #expect(lists[0].songs.map(\.name) == ["0", "1", "2", "3"])
        #expect(lists[1].songs.map(\.name) == ["3", "0"])
        #expect(lists[0].favourite?.name == "2")
        // A deleted target reads as nil, in both kinds.
        let favourite = try #require(lists[0].favourite)
        again.delete(favourite)
        #expect(lists[0].favourite == nil)
        #expect(lists[0].songs.map(\.name) == ["0", "1", "3"])
        try again.save()
        #expect(lists[0].favourite == nil)
        again = try store.reopened()
        lists = try again.all(Playlist.self)
        #expect(lists[0].songs.map(\.name) == ["0", "1", "3"])
        #expect(lists[0].favourite == nil)
    }

    @Test func aRelationToItselfMakesATree() throws {
        let store = try filing()
        let context = store.context()
        let root = Folder("root")
        let left = Folder("left")
        let right = Folder("right")
        root.folders = [left, right]
        left.folders = [Folder("leaf")]
        context.insert(root)
        #expect(left.parent === root)
        try context.save()
        let again = try store.reopened()
        let read = try #require(
            try again.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.parent == nil })).first)
        #expect(read.folders.map(\.name) == ["left", "right"])
        #expect(read.folders[0].folders[0].parent?.parent === read)
    }

    @Test func aGraphIsInsertedThroughItsRoot() throws {
        let store = try filing()
        let context = store.context()
        let root = Folder("root")
        let document = Document("d")
        let label = Label("l")
        document.folder = root
        document.labels = [label]
        document.body = Body(Data([1]))
        root.folders = [Folder("a"), Folder("b")]
        // Everything can be reached from the document.
        context.insert(document)
        #expect(context.insertedModelsArray.count == 6)
        #expect(root.documents == [document])
        try context.save()
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<Folder>()) == 3)
        let read = try again.first(Document.self)
        #expect(read.folder?.folders.map(\.name) == ["a", "b"])
        #expect(read.labels.first?.documents == [read])
        #expect(read.body?.document === read)
    }

    @Test func aLongChainIsInsertedThroughItsHead() throws {
        let store = try TestStore(Cached.self, place: .memory)
        let context = store.context()
        var head = Cached(0)
        for value in 1..<50_000 {
            let next = Cached(value)
            next.next = head
            head = next
        }
        context.insert(head)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Cached>()) == 50_000)
        #expect(head.next?.next?.value == 49_997)
    }

    @Test func referencesBetweenUnsavedObjectsAreResolvedAtSave() throws {
        let store = try filing()
        let context = store.context()
        // The child is inserted before its parent, and the parents refer to each other in a cycle.
        let child = Document("c")
        context.insert(child)
        let one = Folder("1")
        let two = Folder("2")
        context.insert(one)
        context.insert(two)
        one.parent = two
        two.parent = one
        child.folder = two
        #expect(child.folder === two)
        try context.save()
        #expect(child.folder === two)
        #expect(one.folders == [two])
        let again = try store.reopened()
        let read = try again.first(Document.self)
        #expect(read.folder?.name == "2")
        #expect(read.folder?.parent?.parent === read.folder)
    }

    @Test func assigningAnUninsertedObjectInsertsIt() throws {
        let store = try filing()
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        try context.save()
        let document = Document("d")
        folder.documents.append(document)
        #expect(document.modelContext === context)
        let label = Label("x")
        document.labels.append(label)
        #expect(label.modelContext === context)
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Label>()) == 1)
    }

    // MARK: Rollback

    @Test func rollbackRestoresRelationships() throws {
        let store = try filing()
        let context = store.context()
        let one = Folder("1")
        let two = Folder("2")
        one.documents = (0..<3).map { Document("\($0)") }
        let label = Label("l")
        one.documents[0].labels = [label]
        one.documents[0].body = Body()
        context.insert(one)
        context.insert(two)
        try context.save()
        let documents = one.documents
        two.documents = documents.reversed()
        documents[0].labels = []
        documents[1].labels = [label, Label("new")]
        documents[2].body = documents[0].body
        let unsaved = Document("unsaved")
        unsaved.folder = one
        one.folders = [Folder("inner")]
        context.delete(documents[1])
        context.rollback()
        #expect(!context.hasChanges)
        #expect(one.documents == documents)
        #expect(two.documents.isEmpty)
        #expect(label.documents == [documents[0]])
        #expect(documents[0].labels == [label])
        #expect(documents[1].labels.isEmpty)
        #expect(documents[2].body == nil)
        #expect(documents[0].body?.document === documents[0])
        #expect(!documents[1].isDeleted)
        #expect(one.folders.isEmpty)
        #expect(unsaved.modelContext == nil)
        #expect(unsaved.title == "unsaved")
        // The object that left can be inserted again.
        context.insert(unsaved)
        unsaved.folder = two
        try context.save()
        #expect(two.documents == [unsaved])
        let again = try store.reopened().all(Folder.self)
        #expect(again.map { $0.documents.map(\.title) } == [["0", "1", "2"], ["unsaved"]])
    }

    @Test func anObjectThatRollbackSentAwayComesBackWithoutOldPartners() throws {
        let store = try filing()
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        try context.save()
        let document = Document("d")
        document.folder = folder
        context.insert(document)
        let other = Document("o")
        context.insert(other)
        document.body = Body()
        context.rollback()
        context.insert(document)
        #expect(document.folder == nil)
        #expect(document.body == nil)
        try context.save()
        #expect(folder.documents.isEmpty)
        #expect(try store.reopened().first(Document.self).folder == nil)
    }
}
