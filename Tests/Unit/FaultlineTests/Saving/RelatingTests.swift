import Faultline
import Testing

/// An object that is related to one in a context becomes part of that context, from either side of the relationship.
@Suite struct RelatingTests {
    private let store: TestStore
    private let context: ModelContext

    init() throws {
        store = try TestStore(Folder.self, Playlist.self, Hop.self, Booking.self, Wheel.self)
        context = store.context()
    }

    private func inserted<T: PersistentModel>(_ model: T) throws -> T {
        context.insert(model)
        try context.save()
        return model
    }

    @Test("A24: a new object whose to-one relationship is set is in the context of its target")
    func toOne() throws {
        let folder = try inserted(Folder("f"))
        let document = Document("d")
        document.folder = folder
        #expect(document.modelContext === context)
        #expect(folder.documents == [document])
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.title) == ["d"])
    }

    @Test("A24: one to one")
    func oneToOne() throws {
        let document = try inserted(Document("d"))
        let body = Body()
        body.document = document
        #expect(document.body === body)
        try context.save()
        #expect(try store.reopened().first(Document.self).body != nil)
    }

    @Test("A24: one to many")
    func oneToMany() throws {
        let document = try inserted(Document("d"))
        let folder = Folder("f")
        folder.documents = [document, Document("e")]
        #expect(document.folder === folder)
        #expect(folder.modelContext === context)
        try context.save()
        #expect(try store.reopened().first(Folder.self).documents.map(\.title) == ["d", "e"])
    }

    @Test("A24: many to many")
    func manyToMany() throws {
        let document = try inserted(Document("d"))
        let label = Label("l")
        label.documents.append(document)
        #expect(document.labels == [label])
        try context.save()
        #expect(try store.reopened().first(Document.self).labels.map(\.text) == ["l"])
    }

    @Test("A24: to one and to many without an inverse")
    func withoutAnInverse() throws {
        let song = try inserted(Song("s"))
        let lists = [Playlist("one"), Playlist("many")]
        lists[0].favourite = song
        lists[1].songs = [song]
        #expect(lists.allSatisfy { $0.modelContext === context })
        try context.save()
        let read = try store.reopened().all(Playlist.self, sortBy: [SortDescriptor(\.name)])
        #expect(read.map(\.songs.count) == [1, 0])
        #expect(read.map { $0.favourite?.name } == [nil, "s"])
    }

    @Test("A24: a relationship that is set in the initializer")
    func inTheInitializer() throws {
        let song = try inserted(Song("s"))
        let booking = Booking(song, seat: 7)
        #expect(booking.modelContext === context)
        #expect(booking.note == "new" && booking.seat == 7)
        context.insert(booking)
        try context.save()
        let read = try store.reopened().all(Booking.self)
        #expect(read.map(\.seat) == [7])
        #expect(read.first?.song?.name == "s")
    }

    @Test("A24: an initializer that fails leaves nothing in the context")
    func aFailingInitializer() throws {
        let car = try inserted(Car())
        #expect(Wheel(of: car, isRound: false) == nil)
        #expect(!context.hasChanges)
        #expect(car.wheels.isEmpty)
        let wheel = Wheel(of: car, isRound: true)
        #expect(car.wheels == [wheel])
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Wheel>()) == 1)
    }

    @Test("A24: through a chain of objects in no context")
    func throughAChain() throws {
        let folder = try inserted(Folder("f"))
        let document = Document("d")
        let label = Label("l")
        label.documents = [document]
        document.folder = folder
        #expect(label.modelContext === context)
        // Without an inverse: no property leads from a stop to the hops that end there.
        let (hop, stop) = (Hop(), Stop("stop"))
        hop.stop = stop
        let line = try inserted(Line())
        stop.line = line
        #expect(hop.modelContext === context)
        // A hop that refers to another stop by then is not inserted.
        let (loose, other) = (Hop(), Stop("other"))
        loose.stop = other
        loose.stop = nil
        other.line = line
        #expect(loose.modelContext == nil)
        try context.save()
        let read = try store.reopened()
        #expect(Set(try read.all(Stop.self).map(\.name)) == ["stop", "other"])
        #expect(try read.first(Hop.self).stop?.name == "stop")
        #expect(try read.first(Label.self).documents.first?.folder?.name == "f")
    }

    @Test("A24: objects without classes")
    func dynamicObjects() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let department = try context.make("Department", ["name": "Sales"])
        let person = try context.make("Person", ["name": "Ada"])
        try context.save()
        let copy = ManagedObject(backingData: person.persistentBackingData)
        #expect(copy.modelContext == nil)
        copy["department"] = department
        #expect(copy.modelContext === context)
        #expect(department["people"] as? [ManagedObject] == [copy])
        try context.save()
        #expect(
            try store.reopened().named("Sales", "Department")?["people"].map { ($0 as? [ManagedObject])?.count } == 1)
    }

    @Test("A24: awakeFromInsert of an object that was related in its initializer runs once, when it is complete")
    func awaking() throws {
        let store = try TestStore(Branch.self)
        let context = store.context()
        let root = Branch(under: nil)
        context.insert(root)
        #expect(root.wakeCount == 1)
        let branch = Branch(under: root)
        #expect(root.branches == [branch])
        #expect(branch.wakeCount == 0)
        context.insert(branch)
        #expect(branch.wakeCount == 1)
        let other = Branch(under: branch)
        try context.save()
        #expect(other.wakeCount == 1)
        #expect(try store.reopened().fetchCount(FetchDescriptor<Branch>()) == 3)
    }

    // In an optimized build the compiler may take such an object for one that only its function knows.
    @Test("A24: an object that only a relationship holds is kept, with all that was stored in it")
    func objectsHeldByRelationships() throws {
        @inline(never) func grow(_ root: Branch, count: Int) {
            for number in 0..<count {
                let branch = Branch(under: root)
                branch.wakeCount = 7 + number
                _ = Branch(under: branch)
            }
        }
        func check(_ root: Branch, hasAwoken: Bool = false) {
            #expect(root.branches.map(\.wakeCount).sorted() == (hasAwoken ? [8, 9, 10] : [7, 8, 9]))
            #expect(root.branches.allSatisfy { $0.branches.map(\.depth) == [2] })
        }
        let detached = Branch(under: nil)
        grow(detached, count: 3)
        check(detached)
        let store = try TestStore(Branch.self)
        let context = store.context()
        let root = Branch(under: nil)
        context.insert(root)
        grow(root, count: 3)
        check(root, hasAwoken: true)
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Branch>()) == 7)
    }

    @Test("A24: an object of another context is refused")
    func objectsOfAnotherContext() throws {
        let folder = try inserted(Folder("f"))
        let other = store.context()
        let document = Document("d")
        other.insert(document)
        document.folder = folder
        #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
    }
}

@Model final class Hop {
    @Relationship var stop: Stop?
    init() {}
}

@Model final class Stop {
    var name: String
    @Relationship var line: Line?

    init(_ name: String) { self.name = name }
}

@Model final class Line {
    init() {}
}

@Model final class Booking {
    @Relationship var song: Song?
    var note: String = "new"
    var seat: Int
    @Transient var scratch: [Int] = []

    init(_ song: Song, seat: Int) {
        self.song = song
        self.seat = seat
        scratch = [seat]
    }
}

@Model final class Branch {
    var parent: Branch?
    @Relationship(inverse: \Branch.parent) var branches: [Branch] = []
    var depth: Int
    @Transient var wakeCount = 0

    init(under parent: Branch?) {
        self.parent = parent
        depth = (parent?.depth ?? -1) + 1
    }
}

extension Branch: ObjectLifecycle {
    func awakeFromInsert() { wakeCount += 1 }
}
