import Faultline
import Testing

@Model final class Inn {
    var name: String
    @Relationship(inverse: \Lodger.inn) var lodgers: [Lodger] = []

    init(_ name: String) { self.name = name }
}

/// A root class whose initializer saves the object.
@Model class Lodger {
    var name: String
    var inn: Inn?

    init(name: String, inn: Inn) {
        self.name = name
        self.inn = inn
        _ = try? inn.modelContext?.save()
    }
}

@Model class Regular: Lodger {
    var visits: Int
    var favourite: Inn?

    init(name: String, visits: Int, inn: Inn, favourite: Inn) {
        self.visits = visits
        self.favourite = favourite
        super.init(name: name, inn: inn)
    }
}

@Model final class Patron: Regular {
    var card: String

    init(name: String, card: String, inn: Inn) {
        self.card = card
        super.init(name: name, visits: 7, inn: inn, favourite: Inn("favourite"))
    }
}

/// Objects of subclasses that join a context, and leave it.
struct JoiningTests {
    @Test func `an object of a subclass keeps its identity when it is inserted`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        let id = trip.persistentModelID
        let trips: Set<Trip> = [trip]
        #expect(id.entityName == "Trip")
        #expect(try trip.valueCopy()[\ConferenceTrip.talk]?.string == "c")
        context.insert(trip)
        #expect(trip.persistentModelID == id && trips.contains(trip))
        context.rollback()
        #expect(trip.persistentModelID == id && trips.contains(trip))
    }

    @Test func `an object that is saved before the initializer of its superclass ends has all its values`() throws {
        let store = try TestStore(Inn.self, Patron.self)
        let context = store.context()
        let inn = Inn("inn")
        context.insert(inn)
        let patron = Patron(name: "a", card: "b", inn: inn)
        #expect(!context.hasChanges && patron.inn === inn)
        #expect((patron.name, patron.visits, patron.card) == ("a", 7, "b"))
        #expect(patron.favourite?.name == "favourite")

        let found = try #require(try store.reopened().fetch(FetchDescriptor<Lodger>()).first as? Patron)
        #expect((found.name, found.visits, found.card) == ("a", 7, "b"))
        #expect(found.inn?.name == "inn" && found.favourite?.name == "favourite")
    }

    @Test func `a to-many relationship stays the same when its object joins and leaves a context`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        let slides = trip.relationship(\.slides)
        slides.insert(Slide("1"))
        context.insert(trip)
        slides.insert(Slide("2"))
        #expect(slides.count == 2 && slides.map(\.text).sorted() == ["1", "2"])
        #expect(trip.slides.map(\.text).sorted() == ["1", "2"])

        let inside = trip.relationship(\.slides)
        context.rollback()
        let third = Slide("3")
        inside.insert(third)
        #expect(inside.contains(third) && slides.contains(third))
        #expect(trip.slides.contains { $0 === third })
    }

    @Test func `a to-many relationship stays the same when a member brings its object into a context`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        let slides = trip.relationship(\.slides)
        let slide = Slide("1")
        context.insert(slide)
        slides.insert(slide)
        slides.insert(Slide("2"))
        #expect(trip.modelContext === context && trip.slides.count == 2)
        #expect(slides.remove(slide) && slides.map(\.text) == ["2"])
        try context.save()
        #expect(try store.reopened().fetch(FetchDescriptor<ConferenceTrip>()).map(\.slides.count) == [1])
    }
}
