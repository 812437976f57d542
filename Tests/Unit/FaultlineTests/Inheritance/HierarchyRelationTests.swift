import Faultline
import Testing

/// Relationships that lead to a superclass or a subclass, unique values and indexes over a hierarchy.
struct HierarchyRelationTests {
    @Test func `a collection of a superclass has objects of its subclasses`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let ada = Traveller("Ada")
        context.insert(ada)
        let business = BusinessTrip(name: "b", company: "c", traveller: ada)
        #expect(business.modelContext === context)
        #expect(ada.trips.count == 1 && ada.trips[0] === business)
        ada.trips.append(PrivateTrip(name: "p"))
        ada.trips.append(Trip(name: "t"))
        ada.favourite = business
        try context.save()

        let other = try store.reopened()
        let found = try #require(try other.fetch(FetchDescriptor<Traveller>()).first)
        #expect(found.trips.map { "\(type(of: $0)) \($0.name)" } == ["BusinessTrip b", "PrivateTrip p", "Trip t"])
        #expect(found.favourite?.company == "c")
        #expect(found.trips[0].traveller === found)
        #expect(found.favourite === found.trips[0])
        let name = "Ada"
        #expect(
            try other.fetch(FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.traveller?.name == name })).count
                == 1)
        other.delete(found)
        try other.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Trip>()) == 0)
    }

    @Test func `relationships of a subclass work before and after its insertion`() throws {
        let store = try TestStore.ofTrips()
        let talk = ConferenceTrip(name: "n", company: "c", talk: "t")
        talk.slides = [Slide("1"), Slide("2")]
        let agency = Agency("a")
        talk.agency = agency
        #expect(agency.bookings.first === talk)
        #expect(talk.slides[0].conference === talk)
        let context = store.context()
        context.insert(agency)
        #expect(talk.modelContext === context)
        #expect(talk.slides.map(\.text) == ["1", "2"] && talk.agency === agency)
        try context.save()
        let other = try store.reopened()
        let found = try #require(try other.fetch(FetchDescriptor<ConferenceTrip>()).first)
        #expect(found.slides.map(\.text) == ["1", "2"])
        #expect(found.agency?.name == "a" && found.agency?.bookings.first === found)
        #expect(found.relationship(\.slides).count == 2)
        found.relationship(\.slides).insert(Slide("3"))
        found.relationship(\.colleagues).insert(Traveller("x"))
        try other.save()
        let third = try store.reopened()
        let again = try #require(try third.fetch(FetchDescriptor<Trip>()).first as? ConferenceTrip)
        #expect(again.slides.map(\.text) == ["1", "2", "3"] && again.colleagues.map(\.name) == ["x"])
        let office = try #require(try third.fetch(FetchDescriptor<Agency>()).first)
        third.delete(office)
        #expect(throws: SwiftDataError.modelValidationFailure) { try third.save() }
        third.rollback()
        third.delete(again)
        try third.save()
        #expect(try third.fetchCount(FetchDescriptor<Slide>()) == 0)
    }

    @Test func `a subclass that is made in an initializer's argument is inserted with its object`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let agency = Agency("a")
        context.insert(agency)
        // Nothing but the relationship keeps the object.
        _ = BusinessTrip(name: "b", company: "c", agency: agency)
        try context.save()
        let found = try #require(try store.reopened().fetch(FetchDescriptor<Trip>()).first as? BusinessTrip)
        #expect(found.company == "c" && found.agency?.name == "a")
    }

    @Test func `bounds and required values are rules of the class that declares them`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        context.insert(Trip(name: "t"))
        context.insert(PrivateTrip(name: "p"))
        let trip = BusinessTrip(name: "b", company: "c")
        context.insert(trip)
        trip.colleagues = ["a", "b", "c"].map { Traveller($0) }
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        trip.colleagues.removeLast()
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 3)
    }

    @Test func `a unique property of the root class binds all objects`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        context.uniquenessConflicts = .error
        let (one, two) = (BusinessTrip(name: "b", company: "c"), PrivateTrip(name: "p"))
        one.code = "x"
        two.code = "x"
        context.insert(one)
        context.insert(two)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        two.code = "y"
        try context.save()
        let other = store.context()
        other.uniquenessConflicts = .error
        try #require(try other.fetch(FetchDescriptor<PrivateTrip>()).first).code = "x"
        #expect(throws: SwiftDataError.modelValidationFailure) { try other.save() }
    }

    @Test func `a constraint of a subclass binds it and its subclasses only`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        context.uniquenessConflicts = .error
        for trip in [Trip(name: "1"), Trip(name: "2"), PrivateTrip(name: "3"), PrivateTrip(name: "4")] {
            trip.note = "same"
            context.insert(trip)
        }
        let business = BusinessTrip(name: "5", company: "c")
        business.note = "same"
        context.insert(business)
        try context.save()
        let talk = ConferenceTrip(name: "6", company: "c", talk: "t")
        talk.note = "same"
        context.insert(talk)
        do {
            try context.save()
            Issue.record("two business trips have one note")
        } catch let error as SwiftDataError {
            #expect(error.findings.first?.propertyName == "note")
        }
        context.rollback()
        #expect(
            try store.reopened().fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0.note == "same" })) == 5)
    }

    @Test func `an upsert of a subclass keeps the object's identity`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let first = BusinessTrip(name: "5", company: "old")
        first.note = "n"
        context.insert(first)
        try context.save()
        let second = BusinessTrip(name: "5", company: "new")
        second.note = "n"
        context.insert(second)
        try context.save()
        let other = try store.reopened()
        let found = try other.fetch(FetchDescriptor<BusinessTrip>())
        #expect(found.map(\.company) == ["new"])
        #expect(found.first?.persistentModelID == first.persistentModelID)
    }

    @Test func `indexes of all levels find the objects of the class`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()
        let byName = FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.name == "plain 1" })
        #expect(try context.fetch(byName).isEmpty)
        #expect(
            try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.name == "conference 2" })).count == 1)
        let sorted = FetchDescriptor<BusinessTrip>(sortBy: [SortDescriptor(\.company), SortDescriptor(\.name)])
        #expect(try context.fetch(sorted).map(\.name) == ["business 1", "business 2", "conference 1", "conference 2"])
        let company = FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.company == "Company 3" })
        #expect(try context.fetch(company).count == 2)
        var cut = FetchDescriptor<BusinessTrip>(sortBy: [SortDescriptor(\.name, order: .reverse)])
        cut.fetchLimit = 1
        #expect(try context.fetch(cut).map(\.name) == ["conference 2"])
        #expect(try context.first(\PrivateTrip.name, equals: "private 2")?.mood == "mood 2")
        #expect(try context.first(\PrivateTrip.name, equals: "plain 2") == nil)
    }

    @Test func `rollback and refresh show the stored values of all levels`() throws {
        let store = try TestStore.withTrips()
        let (one, other) = (store.context(), store.context())
        let trip = try #require(try one.fetch(FetchDescriptor<ConferenceTrip>(sortBy: [SortDescriptor(\.talk)])).first)
        trip.talk = "changed"
        trip.name = "changed"
        one.rollback()
        #expect(trip.talk == "Talk 1" && trip.name == "conference 1")
        let same = try #require(
            try other.fetch(FetchDescriptor<ConferenceTrip>(sortBy: [SortDescriptor(\.talk)])).first)
        same.talk = "theirs"
        try other.save()
        _ = try one.fetch(FetchDescriptor<Slide>())
        one.refresh(trip, mergeChanges: false)
        #expect(trip.talk == "theirs")
        let new = ConferenceTrip(name: "n", company: "c", talk: "t")
        one.insert(new)
        one.rollback()
        #expect(new.modelContext == nil && new.talk == "t" && new.company == "c")
        one.insert(new)
        try one.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<ConferenceTrip>()) == 3)
    }
}
