import Faultline
import Testing

/// Classes that inherit from each other, by the names of their entities: with model classes, and without.
@Suite struct HierarchyNamesTests {
    private func names(
        _ context: ModelContext, _ entity: String, _ filter: Filter? = nil, subentities: Bool = true
    ) throws -> [String] {
        var request = FetchRequest(entityName: entity, filter: filter, sortedBy: [.ascending("name")])
        request.includesSubentities = subentities
        let found = try context.fetch(request)
        #expect(try context.count(for: request) == found.count)
        return found.compactMap { $0["name"] as? String }
    }

    /// What both kinds of containers answer.
    private func check(_ context: ModelContext) throws {
        #expect(try names(context, "Trip").count == 8)
        #expect(try names(context, "Trip", subentities: false) == ["plain 1", "plain 2"])
        let business = ["business 1", "business 2", "conference 1", "conference 2"]
        #expect(try names(context, "BusinessTrip") == business)
        #expect(try names(context, "BusinessTrip", subentities: false) == ["business 1", "business 2"])
        #expect(try names(context, "ConferenceTrip", Filter.key("talk") == "Talk 2") == ["conference 2"])
        #expect(try names(context, "BusinessTrip", Filter.key("company") == "Company 3").count == 2)
        // Both subclasses have costs, of different types.
        #expect(try names(context, "PrivateTrip", Filter.key("cost") == 0) == ["private 1", "private 2"])
        #expect(try names(context, "BusinessTrip", Filter.key("cost") == 2.5) == business)
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try names(context, "PrivateTrip", Filter.key("company") == "x")
        }
        let private1 = try #require(
            try context.fetch(FetchRequest(entityName: "PrivateTrip", sortedBy: [.ascending("name")])).first)
        #expect(private1["cost"] as? Int == 0 && private1["mood"] as? String == "mood 1")
        private1["cost"] = 12
        let made = try context.insertNewObject(forEntityName: "ConferenceTrip")
        made.setValues(forKeys: ["name": "made", "company": "Company 9"])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        made["talk"] = "Engines"
        #expect(made.entity.name == "ConferenceTrip" && made.entity.superentityName == "BusinessTrip")
        let described = ManagedObject(entity: made.entity, insertInto: context)
        #expect(described.entity.name == "ConferenceTrip")
        described["talk"] = "none"
        context.delete(described)
        let unsaved = try context.insertNewObject(forEntityName: "PrivateTrip")
        unsaved.setValues(forKeys: ["name": "unsaved", "mood": "new"])
        #expect(try names(context, "PrivateTrip").last == "unsaved")
        #expect(try names(context, "BusinessTrip") == business + ["made"])
        #expect(try names(context, "Trip", Filter.key("name") == "unsaved", subentities: false).isEmpty)
        context.delete(unsaved)
        let calls = Reports()
        var hooks = EntityLifecycle()
        hooks.awakeFromInsert = { calls.add("\($0.entity.name) \($0["cost"] as? Double ?? 0)") }
        context.setLifecycle(hooks, forEntityNamed: "BusinessTrip")
        for name in ["Trip", "ConferenceTrip"] { context.delete(try context.insertNewObject(forEntityName: name)) }
        context.setLifecycle(nil, forEntityNamed: "BusinessTrip")
        #expect(calls.all == ["ConferenceTrip 2.5"])
        try context.save()
        #expect(try names(context, "ConferenceTrip", Filter.key("talk") == "Engines") == ["made"])
        let some = FetchRequest(entityName: "BusinessTrip", filter: Filter.key("company") == "Company 9")
        #expect(try context.batchUpdate(some, set: ["company": "Company 8"]).objectCount == 1)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.batchUpdate(some, set: ["company": nil]) }
        #expect(try context.batchInsert(entityName: "PrivateTrip", [["name": "row", "mood": "fine"]]).objectCount == 1)
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchInsert(entityName: "ConferenceTrip", [["name": "row", "company": "x"]])
        }
        #expect(try names(context, "PrivateTrip") == ["private 1", "private 2", "row"])
        let key = try #require(private1.objectID.primaryKey)
        #expect(try context.existing(primaryKey: key, entityName: "PrivateTrip") === private1)
        #expect(try context.existing(primaryKey: key, entityName: "Trip") === private1)
        #expect(try context.existing(primaryKey: key, entityName: "BusinessTrip") == nil)
    }

    @Test func classesAreFetchedByTheirNames() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        try check(context)
        let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(trips.count == 10)
        let conference = try #require(trips.first { $0.name == "made" } as? ConferenceTrip)
        #expect(conference.company == "Company 8" && conference.talk == "Engines" && conference.cost == 2.5)
        #expect((trips.first { $0.name == "private 1" } as? PrivateTrip)?.cost == 12)
        let view = try #require(context.object(with: conference.persistentModelID))
        #expect(view.entity.name == "ConferenceTrip" && view.entity.superentityName == "BusinessTrip")
        #expect(view.changedValues().isEmpty && view.committedValues()["talk"] as? String == "Engines")
        try store.reopen()
    }

    @Test func relationshipsToASubclassRefuseOtherObjects() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        let traveller = try context.insertNewObject(forEntityName: "Traveller")
        traveller["name"] = "Ada"
        let trips = try context.fetch(FetchRequest(entityName: "Trip"))
        traveller["trips"] = trips
        #expect((traveller.model as? Traveller)?.trips.count == 8)
        func trip(_ entity: String) throws -> ManagedObject {
            let found = trips.first { $0.entity.name == entity }
            return try #require(found)
        }
        traveller["favourite"] = try trip("ConferenceTrip")
        #expect((traveller.model as? Traveller)?.favourite is ConferenceTrip)
        try context.save()
        #expect(try names(context, "BusinessTrip", Filter.key("traveller.favourite.company") == "Company 3").count == 4)
        traveller["favourite"] = try trip("PrivateTrip")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func hooksOfASubclassAreCalledForItsObjects() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        let calls = Reports()
        for name in ["Trip", "BusinessTrip"] {
            var hooks = EntityLifecycle()
            hooks.willSave = { calls.add("\(name) \($0["name"] as? String ?? "")") }
            context.setLifecycle(hooks, forEntityNamed: name)
        }
        for trip in try context.fetch(FetchRequest(entityName: "Trip", filter: Filter.key("name").contains(" 1"))) {
            trip["days"] = 9
        }
        try context.save()
        let wanted = ["plain", "business", "conference", "private"].map { "Trip \($0) 1" }
        #expect(Set(calls.all) == Set(wanted + ["BusinessTrip business 1", "BusinessTrip conference 1"]))
    }

    @Test func containersWithoutClassesTakeTheNamesToo() throws {
        let store = try TestStore.withTrips()
        try store.container.close()
        let container = try ModelContainer(opening: ModelConfiguration(url: try #require(store.url)))
        try check(ModelContext(container))
        try container.close()
        let typed = try ModelContainer(
            for: Schema(store.types), configurations: [ModelConfiguration(url: try #require(store.url))])
        let trips = try ModelContext(typed).fetch(FetchDescriptor<ConferenceTrip>())
        #expect(trips.map(\.talk).sorted() == ["Engines", "Talk 1", "Talk 2"])
        try typed.close()
    }
}
