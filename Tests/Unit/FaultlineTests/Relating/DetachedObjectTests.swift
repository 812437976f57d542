import Faultline
import Testing

/// Objects outside any context: how they are connected, and how they are inserted.
@Suite struct DetachedObjectTests {
    @Test func inversesAreThereBeforeInsertion() throws {
        let folder = Folder("f")
        let other = Folder("g")
        let documents = (0..<3).map { Document("\($0)", number: $0) }
        for document in documents { document.folder = folder }
        #expect(folder.documents == documents)
        other.documents = [documents[1]]
        #expect(documents[1].folder === other)
        #expect(folder.documents == [documents[0], documents[2]])
        folder.documents = []
        #expect(documents[0].folder == nil)
        documents[1].folder = nil
        #expect(other.documents.isEmpty)
        // Related to itself, one to one, and many to many.
        other.parent = folder
        #expect(folder.folders == [other])
        let body = Body()
        documents[0].body = body
        #expect(body.document === documents[0])
        body.document = documents[1]
        #expect(documents[0].body == nil)
        #expect(documents[1].body === body)
        documents[2].body = body
        #expect(documents[1].body == nil)
        #expect(body.document === documents[2])
        let labels = [Label("a"), Label("b")]
        documents[0].labels = labels
        labels[0].documents.append(documents[1])
        #expect(labels[0].documents == [documents[0], documents[1]])
        #expect(documents[1].labels == [labels[0]])
        documents[0].labels = [labels[1]]
        #expect(labels[0].documents == [documents[1]])
    }

    @Test(arguments: 0..<4) func aGraphIsInsertedByAnyOfItsObjects(which: Int) throws {
        let store = try TestStore(Folder.self)
        let context = store.context()
        let folder = Folder("f")
        let documents = (0..<3).map { Document("\($0)", number: $0) }
        // Related from both sides.
        documents[2].folder = folder
        folder.documents.insert(documents[0], at: 0)
        documents[1].folder = folder
        documents[1].labels = [Label("l")]
        documents[1].labels[0].documents.append(documents[0])
        let body = Body(Data([1]))
        body.document = documents[2]
        switch which {
        case 0: context.insert(folder)
        case 1: context.insert(documents[1])
        case 2: context.insert(body)
        default: context.insert(documents[1].labels[0])
        }
        #expect(context.insertedModelsArray.count == 6)
        #expect(folder.documents.map(\.number) == [0, 2, 1])
        try context.save()
        let again = try store.reopened()
        let read = try again.first(Folder.self)
        #expect(read.documents.map(\.number) == [0, 2, 1])
        #expect(try again.first(Body.self).document?.number == 2)
        #expect(Set(try again.first(Label.self).documents.map(\.number)) == [0, 1])
    }

    @Test func anObjectGivenToAnInsertedOneIsInserted() throws {
        let store = try TestStore(Folder.self, Playlist.self)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        try context.save()
        let document = Document("d")
        folder.documents = [document]
        #expect(document.modelContext === context)
        document.body = Body(Data([2]))
        document.labels.append(Label("l"))
        #expect(context.insertedModelsArray.count == 3)
        // Relating an object to an inserted one inserts it.
        let late = Document("late")
        late.folder = folder
        #expect(late.modelContext === context)
        #expect(folder.documents == [document, late])
        context.insert(late)
        #expect(folder.documents == [document, late])
        // The objects connected to it are inserted too.
        let inner = Folder("inner")
        let deep = Document("deep")
        deep.folder = inner
        inner.parent = folder
        folder.folders.append(inner)
        #expect(deep.modelContext === context)
        let list = Playlist("p")
        context.insert(list)
        list.favourite = Song("s")
        try context.save()
        let again = try store.reopened()
        #expect(try again.first(Playlist.self).favourite?.name == "s")
        #expect(Set(try again.all(Document.self).map(\.title)) == ["d", "late", "deep"])
        #expect(try again.first(Body.self).document?.title == "d")
        #expect(try again.all(Folder.self).last?.documents.map(\.title) == ["deep"])
    }

    @Test func objectsConnectedInTheirInitializerAreFreedOnceTheyAreSaved() throws {
        let store = try TestStore(Wheel.self, place: .memory)
        weak var freed: Wheel?
        do {
            let context = store.context()
            let car = Car()
            let wheel = Wheel(car)
            #expect(car.wheels == [wheel])
            context.insert(car)
            try context.save()
            freed = wheel
        }
        #expect(freed == nil)
        #expect(try store.context().first(Car.self).wheels.count == 1)
    }

    @Test func anInitializerThatFailsLeavesNothingBehind() {
        let car = Car()
        #expect(Wheel(of: car, isRound: false) == nil)
        #expect(car.wheels.isEmpty)
        let wheel = Wheel(of: car, isRound: true)
        #expect(car.wheels == [wheel])
    }
}

@Model final class Car {
    @Relationship(inverse: \Wheel.car) var wheels: [Wheel] = []
    init() {}
}

/// A class with a stored property of its own before the library's.
@Model final class Wheel {
    @Transient var notes: [String] = ["note"]
    var car: Car?
    var size: Int

    init(_ car: Car) {
        self.car = car
        size = 1
    }

    init?(of car: Car, isRound: Bool) {
        self.car = car
        guard isRound else { return nil }
        size = 2
    }
}
