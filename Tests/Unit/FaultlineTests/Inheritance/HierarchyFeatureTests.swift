import Faultline
import FaultlineStore
import Testing

/// Batches, aggregates, large values, history, live changes, undo and copies of objects of subclasses.
struct HierarchyFeatureTests {
    @Test func `batches change the properties of the class in its objects`() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        let updated = try context.batchUpdate(
            ConferenceTrip.self, where: #Predicate { $0.name == "conference 1" }, .set(\.talk, to: "T"),
            .set(\.company, to: "C"), .set(\.days, to: 5))
        #expect(updated.objectCount == 1)
        let other = try store.reopened()
        let talk = try #require(
            try other.fetch(FetchDescriptor<ConferenceTrip>(sortBy: [SortDescriptor(\.name)])).first)
        #expect((talk.talk, talk.company, talk.days) == ("T", "C", 5))
        #expect(try other.fetch(FetchDescriptor<PrivateTrip>()).map(\.mood).sorted() == ["mood 1", "mood 2"])
        let count = try other.batchUpdate(BusinessTrip.self, .set(\.cost, to: 8)).objectCount
        #expect(count == 4)
        let third = try store.reopened()
        #expect(try third.fetch(FetchDescriptor<PrivateTrip>()).allSatisfy { $0.cost == 0 })
        #expect(try third.batchDelete(PrivateTrip.self).objectCount == 2)
        #expect(try third.fetchCount(FetchDescriptor<Trip>()) == 6)
    }

    @Test func `a batch inserts objects of its class`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        try context.batchInsert(
            ConferenceTrip.self,
            [
                ["name": "a", "company": "b", "talk": "c"], ["name": "d", "company": "e", "talk": "f", "cost": 7.0],
            ])
        var left = 1
        try context.batchInsert(PrivateTrip.self) { row in
            row.set(\.name, to: "p")
            row.set(\.mood, to: "m")
            row.set("cost", to: 3)
            left -= 1
            return left >= 0
        }
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchInsert(ConferenceTrip.self, [["name": "a", "company": "b"]])
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.batchInsert(PrivateTrip.self, [["name": "a", "mood": "b", "talk": "c"]])
        }
        let other = try store.reopened()
        let trips = try other.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(trips.map { $0 is ConferenceTrip } == [true, true, false])
        #expect((trips[2] as? PrivateTrip)?.cost == 3 && (trips[2] as? PrivateTrip)?.mood == "m")
        #expect(trips.compactMap { ($0 as? ConferenceTrip)?.talk } == ["c", "f"])
        #expect(trips.compactMap { ($0 as? ConferenceTrip)?.cost } == [2.5, 7])
        #expect(trips.map(\.days) == [1, 1, 1])
    }

    @Test func `aggregates compute the properties of a class over its objects`() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        try context.batchUpdate(BusinessTrip.self, where: #Predicate { $0.name == "business 2" }, .set(\.cost, to: 10))
        let (count, most, all) = try context.fetchAggregates(
            FetchDescriptor<BusinessTrip>(), .count, .maximum(\.cost), .sum(\.days))
        #expect(count == 4 && most == 10 && all == 4)
        #expect(try context.fetchAggregates(FetchDescriptor<Trip>(), .sum(\.days)) == 9)
        let groups = try context.fetchGroups(FetchDescriptor<BusinessTrip>(), by: \.company, .count)
        #expect(groups.map(\.key) == ["Company 1", "Company 2", "Company 3"])
        #expect(groups.map(\.values) == [1, 1, 2])
        #expect(try context.fetchDistinct(\PrivateTrip.mood) == ["mood 1", "mood 2"])
    }

    @Test func `large values of a subclass are set and read by reference`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let (from, to) = (BusinessTrip(name: "a", company: "b"), ConferenceTrip(name: "c", company: "d", talk: "e"))
        from.receipt = Data(repeating: 3, count: 20_000)
        context.insert(from)
        context.insert(to)
        try context.save()
        to.setBlob(from.blob(\.receipt), for: \.receipt)
        try context.save()
        let found = try #require(try store.reopened().fetch(FetchDescriptor<ConferenceTrip>()).first)
        #expect(found.receipt == Data(repeating: 3, count: 20_000))
        #expect(found.talk == "e")
    }

    @Test func `the history tells the class of each object, also of deleted ones`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        let (trip, talk) = (PrivateTrip(name: "p"), ConferenceTrip(name: "c", company: "d", talk: "e"))
        context.insert(trip)
        context.insert(talk)
        try context.save()
        talk.talk = "f"
        talk.ticket = "ticket"
        try context.save()
        context.delete(talk)
        try context.save()
        let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
        var seen: [String] = []
        for change in all {
            switch change {
            case .insert(let change as DefaultHistoryInsert<PrivateTrip>):
                seen.append("private \(change.changedPersistentIdentifier == trip.persistentModelID)")
            case .insert(is DefaultHistoryInsert<ConferenceTrip>): seen.append("conference")
            case .update(let change as DefaultHistoryUpdate<ConferenceTrip>):
                #expect(change.updatedPropertyNames == ["ticket", "talk"])
                #expect(change.updatedAttributes.contains(\ConferenceTrip.talk))
                #expect(change.updatedAttributes.contains(\ConferenceTrip.ticket))
                seen.append("updated")
            case .delete(let change as DefaultHistoryDelete<ConferenceTrip>):
                #expect(change.tombstone[\.ticket] as? String == "ticket")
                #expect(change.tombstone["ticket"] as? String == "ticket")
                #expect(Array(change.tombstone).count == 1)
                seen.append("deleted")
            default: seen.append("\(change)")
            }
        }
        #expect(seen == ["private true", "conference", "updated", "deleted"])
    }

    @Test func `the history of many deleted objects is read once`() throws {
        let store = try TestStore.ofTrips()
        let context = store.context()
        for number in 0..<60 {
            let trip = number % 2 == 0 ? PrivateTrip(name: "p") : BusinessTrip(name: "b", company: "c")
            context.insert(trip)
            try context.save()
            context.delete(trip)
            try context.save()
        }
        let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
        #expect(changes.count == 120)
        let privates = changes.filter {
            if case .insert(is DefaultHistoryInsert<PrivateTrip>) = $0 { true } else { false }
        }
        #expect(privates.count == 30)
    }

    @Test func `live changes are about the objects of a class`() async throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        var changes = store.container.changes(of: BusinessTrip.self, including: []).makeAsyncIterator()
        #expect(try await changes.next()?.inserted.count == 4)
        context.insert(PrivateTrip(name: "p"))
        let talk = ConferenceTrip(name: "c", company: "d", talk: "e")
        context.insert(talk)
        try #require(try context.fetch(FetchDescriptor<PrivateTrip>()).first).mood = "other"
        try context.save()
        let batch = try #require(try await changes.next())
        #expect(batch.inserted == [talk.persistentModelID] && batch.updated.isEmpty && batch.deleted.isEmpty)
        #expect(batch.values.first?["talk"]?.string == "e")
        #expect(batch.values.first?["mood"] == nil)
        context.delete(talk)
        try context.save()
        #expect(try await changes.next()?.deleted.count == 1)
    }

    @Test func `copies have the properties of the object's class`() throws {
        let store = try TestStore.withTrips()
        let context = try store.reopened()
        let trips = try context.fetch(FetchDescriptor<Trip>())
        let talk = try #require(trips.first { $0 is ConferenceTrip })
        let copy = try talk.valueCopy(including: .collections)
        #expect(
            Set(copy.values.keys) == [
                "name", "days", "note", "traveller", "code", "company", "cost", "agency", "ticket", "receipt", "talk",
                "slides", "colleagues",
            ])
        #expect(copy[\ConferenceTrip.talk]?.string == "Talk 1" && copy[\Trip.name]?.string == "conference 1")
        let personal = try #require(trips.first { $0 is PrivateTrip })
        #expect(try personal.valueCopy()["cost"]?.int == 0)
        #expect(try personal.valueCopy()["company"] == nil)
        let detached = try PrivateTrip(name: "x", mood: "y").valueCopy()
        #expect(detached["mood"]?.string == "y")
    }

    @Test func `an undo restores objects of their classes`() throws {
        let store = try UndoneTrips()
        let context = store.context
        let talk = ConferenceTrip(name: "c", company: "d", talk: "e")
        context.insert(talk)
        try context.save()
        let id = talk.persistentModelID
        context.delete(talk)
        try context.save()
        store.manager.undo()
        try context.save()
        let found = try #require(context.model(for: id) as? ConferenceTrip)
        #expect((found.name, found.company, found.talk) == ("c", "d", "e"))

        found.talk = "g"
        context.delete(found)
        try context.save()
        let save = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        #expect(try context.undo(save).conflictCount == 0)
        try context.save()
        let again = try #require(try store.store.reopened().fetch(FetchDescriptor<Trip>()).first as? ConferenceTrip)
        #expect((again.name, again.company, again.talk) == ("c", "d", "e"))
    }

    private struct UndoneTrips {
        let store: TestStore
        let context: ModelContext
        let manager = UndoManager()

        init() throws {
            store = try TestStore.ofTrips()
            context = store.context()
            context.undoManager = manager
        }
    }

    @Test func `a container without classes shows the rows of the table, and keeps their classes`() throws {
        let store = try TestStore.withTrips()
        let url = try #require(store.url)
        try store.container.close()
        let dynamic = try ModelContainer(opening: ModelConfiguration(url: url))
        let context = ModelContext(dynamic)
        let all = try context.fetch(FetchRequest(entityName: "Trip"))
        #expect(all.count == 8)
        let talk = try #require(all.first { $0["talk"] as? String == "Talk 1" })
        let plain = try #require(all.first { $0["name"] as? String == "plain 1" })
        talk["talk"] = "dynamic"
        plain["days"] = 9
        try context.save()
        for (object, key) in [(plain, "company"), (talk, "$PrivateTrip"), (plain, "$BusinessTrip")] {
            object[key] = key.hasPrefix("$") ? true : "x"
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            context.rollback()
        }
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchUpdate(FetchRequest(entityName: "Trip"), set: ["company": "x"])
        }
        try context.batchInsert(entityName: "Trip", [["name": "batch"]])
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.batchInsert(entityName: "Trip", [["name": "batch", "company": "x"]])
        }
        try dynamic.close()
        let typed = try ModelContainer(
            for: Schema(store.types), configurations: [ModelConfiguration(url: url)])
        let trips = try ModelContext(typed).fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(trips.first { $0.name == "batch" }.map { type(of: $0) == Trip.self } == true)
        #expect(trips.compactMap { ($0 as? ConferenceTrip)?.talk } == ["dynamic", "Talk 2"])
        try typed.close()
    }

    @Test func `a past state has objects of their classes`() async throws {
        let container = try ModelContainer(
            for: Trip.self, ConferenceTrip.self, PrivateTrip.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let talk = ConferenceTrip(name: "c", company: "d", talk: "e")
        context.insert(talk)
        try context.save()
        let token = try #require(try context.historyToken())
        talk.talk = "f"
        context.insert(PrivateTrip(name: "p"))
        try context.save()
        let then = ModelContext(try await container.past(at: .token(token)))
        let found = try then.fetch(FetchDescriptor<Trip>())
        #expect(found.map { ($0 as? ConferenceTrip)?.talk } == ["e"])
    }
}
