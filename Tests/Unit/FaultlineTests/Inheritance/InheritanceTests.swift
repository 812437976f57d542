import Faultline
import Testing

/// Objects of subclasses: inserted, fetched, changed, deleted.
struct InheritanceTests {
    @Test func `a fetch of a class finds its objects and those of its subclasses, each of its own class`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()

        let all = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(
            all.map { "\(type(of: $0)) \($0.name)" } == [
                "BusinessTrip business 1", "BusinessTrip business 2", "ConferenceTrip conference 1",
                "ConferenceTrip conference 2", "Trip plain 1", "Trip plain 2", "PrivateTrip private 1",
                "PrivateTrip private 2",
            ])
        let business = try context.fetch(FetchDescriptor<BusinessTrip>(sortBy: [SortDescriptor(\.company)]))
        #expect(business.map(\.company) == ["Company 1", "Company 2", "Company 3", "Company 3"])
        #expect(business.map { $0 is ConferenceTrip } == [false, false, true, true])
        #expect(try context.fetch(FetchDescriptor<ConferenceTrip>()).map(\.talk).sorted() == ["Talk 1", "Talk 2"])
        #expect(try context.fetch(FetchDescriptor<PrivateTrip>()).map(\.mood).sorted() == ["mood 1", "mood 2"])
        #expect(all.map(\.summary).contains("business 1, 1, Company 1"))
        #expect(all.contains { $0 === business[0] })
    }

    @Test func `counts, identifiers and enumerations are those of the class`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()

        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 8)
        #expect(try context.fetchCount(FetchDescriptor<BusinessTrip>()) == 4)
        #expect(try context.fetchCount(FetchDescriptor<ConferenceTrip>()) == 2)
        context.insert(ConferenceTrip(name: "new", company: "c", talk: "t"))
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 9)
        #expect(try context.fetchCount(FetchDescriptor<BusinessTrip>()) == 5)
        #expect(try context.fetchCount(FetchDescriptor<PrivateTrip>()) == 2)
        context.rollback()
        #expect(try context.fetchIdentifiers(FetchDescriptor<PrivateTrip>()).count == 2)
        var names: [String] = []
        try context.enumerate(FetchDescriptor<PrivateTrip>()) { names.append($0.name) }
        #expect(names.sorted() == ["private 1", "private 2"])
    }

    @Test func `values of all levels are stored, changed and refreshed`() throws {
        let store = try TestStore.ofTrips()
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        #expect((trip.name, trip.company, trip.talk) == ("a", "b", "c"))
        #expect(trip.cost == 2.5 && trip.days == 1 && trip.draft == "none")
        trip.company = "B"
        trip.talk = "C"
        trip.draft = "mine"
        let context = store.context()
        context.insert(trip)
        #expect((trip.name, trip.company, trip.talk, trip.draft) == ("a", "B", "C", "mine"))
        trip.days = 4
        trip.receipt = Data(repeating: 7, count: 9_000)
        try context.save()
        #expect((trip.name, trip.company, trip.talk, trip.days) == ("a", "B", "C", 4))

        let other = try store.reopened()
        let found = try #require(try other.fetch(FetchDescriptor<Trip>()).first as? ConferenceTrip)
        #expect((found.name, found.company, found.talk, found.days, found.cost) == ("a", "B", "C", 4, 2.5))
        #expect(found.receipt?.count == 9_000)
        found.talk = "D"
        found.cost = 9
        found.name = "z"
        try other.save()
        let third = try store.reopened()
        let again = try #require(try third.fetch(FetchDescriptor<ConferenceTrip>()).first)
        #expect((again.name, again.company, again.talk, again.cost) == ("z", "B", "D", 9))
        third.delete(again)
        try third.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<Trip>()) == 0)
    }

    @Test func `is and as? in predicates select subclasses`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()
        func names(_ predicate: Predicate<Trip>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
        }

        #expect(try names(#Predicate { $0 is PrivateTrip }) == ["private 1", "private 2"])
        #expect(
            try names(#Predicate { $0 is BusinessTrip && $0.name != "business 2" })
                == ["business 1", "conference 1", "conference 2"])
        #expect(
            try names(#Predicate { !($0 is BusinessTrip) && $0.days < 2 }) == ["plain 1", "private 1", "private 2"])
        let company = "Company 2"
        let found = try names(
            #Predicate { trip in
                if let business = trip as? BusinessTrip { business.company == company } else { false }
            })
        #expect(found == ["business 2"])
        #expect(try context.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0 is ConferenceTrip })) == 2)
        #expect(
            try context.fetch(
                FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.name == "conference 1" && $0.cost > 2 })
            ).map(\.company) == ["Company 3"])
        // No object is made to decide.
        let fresh = try store.reopened()
        #expect(try fresh.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0 is PrivateTrip })) == 2)
        #expect(fresh.core.livingObjectCount == 0)
        // Unsaved objects are asked too.
        context.insert(PrivateTrip(name: "unsaved"))
        #expect(try names(#Predicate { $0 is PrivateTrip }).count == 3)
    }

    @Test func `properties that two subclasses declare in different ways are kept apart`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let (business, personal) = (BusinessTrip(name: "b", company: "c"), PrivateTrip(name: "p"))
        business.cost = 1.5
        personal.cost = 7
        context.insert(business)
        context.insert(personal)
        try context.save()
        let other = try store.reopened()
        #expect(try other.fetch(FetchDescriptor<BusinessTrip>()).map(\.cost) == [1.5])
        #expect(try other.fetch(FetchDescriptor<PrivateTrip>()).map(\.cost) == [7])
        #expect(try other.fetch(FetchDescriptor<PrivateTrip>(predicate: #Predicate { $0.cost == 7 })).count == 1)
        #expect(try other.fetch(FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.cost == 1.5 })).count == 1)
        #expect(try other.fetch(FetchDescriptor<PrivateTrip>()).first?.scratch == 7)
    }

    @Test func `includeSubclasses decides about the objects of subclasses`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()
        try context.delete(model: BusinessTrip.self, includeSubclasses: false)
        try context.save()
        #expect(
            try context.fetch(FetchDescriptor<BusinessTrip>()).map(\.name).sorted() == ["conference 1", "conference 2"])
        try context.delete(model: Trip.self, where: #Predicate { $0.days < 9 }, includeSubclasses: false)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 4)
        try context.delete(model: Trip.self)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 0)
    }

    @Test func `an identifier leads to an object of its class`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()
        let id = try #require(try context.fetch(FetchDescriptor<ConferenceTrip>()).first).persistentModelID
        let other = try store.reopened()
        #expect(other.model(for: id) is ConferenceTrip)
        #expect(try other.existing(id, as: ConferenceTrip.self)?.talk == "Talk 1")
        #expect(try other.existing(id, as: Trip.self) is ConferenceTrip)
        #expect(try other.existing(id, as: PrivateTrip.self) == nil)
        #expect(try store.reopened().existing(id, as: PrivateTrip.self) == nil)
        let key = try #require(id.primaryKey)
        #expect(try store.reopened().existing(primaryKey: key, as: Trip.self) is ConferenceTrip)
        #expect(try store.reopened().existing(primaryKey: key, as: PrivateTrip.self) == nil)
        let fresh = try store.reopened()
        let held = try #require(try fresh.existing(id, as: Trip.self))
        let registered: ConferenceTrip? = fresh.registeredModel(for: id)
        #expect(registered === held)
        let none: PrivateTrip? = fresh.registeredModel(for: id)
        #expect(none == nil)
    }

    @Test func `a copy of backing data is of the class`() throws {
        let trip = ConferenceTrip(name: "a", company: "b", talk: "c")
        let copy = ConferenceTrip(backingData: trip.persistentBackingData)
        #expect((copy.name, copy.company, copy.talk) == ("a", "b", "c"))
        #expect(copy !== trip)
    }

    @Test func `a container without a subclass refuses its objects`() throws {
        let store = try TestStore(Trip.self)
        let context = store.context()
        context.insert(PrivateTrip(name: "a"))
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        context.rollback()
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<PrivateTrip>()) }
    }

    @Test func `a subclass alone brings its superclasses into the schema`() throws {
        let store = try TestStore(ConferenceTrip.self)
        #expect(store.container.schema.entitiesByName["Trip"] != nil)
        let entity = try #require(store.container.schema.entity(for: ConferenceTrip.self))
        #expect(entity.superentityName == "BusinessTrip")
        #expect(entity.storedProperties.map(\.name) == ["talk", "slides"])
        #expect(entity.inheritedProperties.first?.name == "name")
        #expect(store.container.schema.entity(for: Trip.self)?.subentities.map(\.name) == ["BusinessTrip"])
        let context = store.context()
        context.insert(ConferenceTrip(name: "a", company: "b", talk: "c"))
        try context.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<BusinessTrip>()) == 1)
    }
}
