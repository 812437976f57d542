import Faultline
import Observation
import Testing

/// Objects of model classes, read and changed by the names of their entities and properties.
@Suite struct BothFacesTests {
    private func store() throws -> TestStore {
        try TestStore(Folder.self, Document.self, Label.self, Body.self, Scalars.self, place: .memory)
    }

    private func document(_ context: ModelContext, _ title: String = "One") throws -> (ManagedObject, Document) {
        let typed = Document(title, number: 3)
        context.insert(typed)
        try context.save()
        let found = try context.fetch(FetchRequest(entityName: "Document", filter: Filter.key("title") == title))
        return (try #require(found.first), typed)
    }

    @Test func bothShowTheSameValuesChangesAndState() throws {
        let context = try store().context()
        let (view, typed) = try document(context)
        #expect(view.model as? Document === typed && view.entity.name == "Document")
        #expect(view["title"] as? String == "One" && view["number"] as? Int == 3 && view["folder"] == nil)
        view["title"] = "Two"
        #expect(typed.title == "Two" && typed.hasChanges && view.hasChanges && view.isUpdated && !view.isInserted)
        typed.number = 4
        #expect(view["number"] as? Int == 4)
        #expect(view.changedValues().mapValues { "\($0 ?? "nil")" } == ["title": "Two", "number": "4"])
        #expect(view.committedValues(forKeys: ["title"])["title"] as? String == "One")
        context.rollback()
        #expect(typed.title == "One" && view["title"] as? String == "One" && !view.hasChanges)
        view["title"] = "Three"
        try context.save()
        let other = ModelContext(context.container)
        #expect(try other.fetch(FetchDescriptor<Document>()).map(\.title) == ["Three"])
    }

    @Test func aContextHasOneViewOfAnObject() throws {
        let context = try store().context()
        let (view, typed) = try document(context)
        let again = try context.fetch(FetchRequest(entityName: "Document"))
        #expect(again.count == 1 && again[0] === view)
        #expect(context.object(with: typed.persistentModelID) === view)
        #expect(context.registeredObject(for: typed.persistentModelID) === view)
        #expect(try context.existingObject(with: typed.persistentModelID) === view)
        let key = try #require(typed.persistentModelID.primaryKey)
        #expect(try context.existing(primaryKey: key, entityName: "Document") === view)
        #expect(view.objectID == typed.persistentModelID && view.persistentModelID == view.objectID)
        #expect(view.managedObjectContext === context && Set([view, again[0]]).count == 1)
        view["number"] = 8
        try context.save()
        #expect(try context.fetch(FetchRequest(entityName: "Document"))[0] === view)
        let elsewhere = try #require(ModelContext(context.container).object(with: view.objectID))
        #expect(elsewhere == view && elsewhere !== view && elsewhere.hashValue == view.hashValue)
    }

    @Test func aViewThatIsNotInUseIsFreedAndKeepsNoObject() throws {
        let context = try store().context()
        for number in 0..<3 { context.insert(Document("\(number)")) }
        try context.save()
        weak var view: ManagedObject?
        weak var typed: Document?
        do {
            let found = try context.fetch(FetchRequest(entityName: "Document"))
            (view, typed) = (found[0], found[0].model as? Document)
            #expect(view != nil && typed != nil)
        }
        #expect(view == nil && typed == nil)
    }

    @Test func relationshipsLeadToViewsAndTakeObjectsOfBothKinds() throws {
        let context = try store().context()
        let (view, typed) = try document(context)
        let folder = try context.insertNewObject(forEntityName: "Folder")
        folder["name"] = "Letters"
        let letters = try #require(folder.model as? Folder)
        view["folder"] = folder
        #expect(typed.folder === letters && letters.documents == [typed])
        #expect(view["folder"] as? ManagedObject === folder)
        #expect((folder["documents"] as? [ManagedObject])?.first === view)
        view["folder"] = nil
        #expect(typed.folder == nil && letters.documents.isEmpty)
        view["folder"] = letters
        #expect(typed.folder === letters)
        let labels = ["a", "b"].map { Label($0) }
        view["labels"] = labels
        #expect(typed.labels.count == 2 && labels[0].documents == [typed])
        let shown = try #require(view["labels"] as? [ManagedObject])
        view["labels"] = Set(shown.prefix(1))
        #expect(typed.labels.map(\.text) == ["a"])
        let members = try #require(view.relationship(forKey: "labels"))
        members.insert(shown[1])
        #expect(members.count == 2 && members.contains(shown[1]) && Array(members).contains { $0 === shown[1] })
        members.remove(shown[0])
        #expect(typed.labels.map(\.text) == ["b"])
        #expect(folder.value(forKeyPath: "documents.title") as? [String] == ["One"])
        view.setValue("Notes", forKeyPath: "folder.name")
        #expect(letters.name == "Notes")
        try context.save()
        view["folder"] = shown[1]
        #expect(typed.folder === letters)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func anObjectMadeByNameNeedsItsRequiredValues() throws {
        let context = try store().context()
        let made = try context.insertNewObject(forEntityName: "Document")
        let typed = try #require(made.model as? Document)
        #expect(made.isInserted && typed.modelContext === context && typed.number == 0 && made.objectID.isTemporary)
        do {
            try context.save()
            Issue.record("An object without a title was saved.")
        } catch let error as SwiftDataError {
            #expect(error.findings.map(\.propertyName) == ["title"])
        }
        made["title"] = "Given"
        try context.save()
        #expect(!made.isInserted && !made.objectID.isTemporary && made.objectID == typed.persistentModelID)
        let entity = try #require(context.container.schema.entitiesByName["Label"])
        let label = ManagedObject(entity: entity, insertInto: context)
        label["text"] = "red"
        made["labels"] = [label]
        try context.save()
        let found = try ModelContext(context.container).fetch(FetchDescriptor<Document>())
        #expect(found.map(\.title) == ["Given"] && found.first?.labels.map(\.text) == ["red"])
    }

    @Test func anObjectMadeByNameNeedsItsValuesAfterARollbackToo() throws {
        let context = try store().context()
        let made = try context.insertNewObject(forEntityName: "Document")
        context.rollback()
        context.insert(made)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        made["title"] = "Given"
        try context.save()
    }

    @Test func membersOfAnotherClassAreRefused() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        let agency = try context.insertNewObject(forEntityName: "Agency")
        agency["name"] = "Agency"
        let trips = try context.fetch(FetchRequest(entityName: "Trip", sortedBy: [.ascending("name")]))
        let bookings = try #require(agency.relationship(forKey: "bookings"))
        #expect(bookings.insert(trips[0]) && trips[0].entity.name == "BusinessTrip")
        #expect(!bookings.insert(trips[4]) && trips[4].entity.name == "Trip")
        #expect(!bookings.insert(agency))
        #expect((agency.model as? Agency)?.bookings.map(\.name) == ["business 1"])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        try context.save()
        let detached = try context.insertNewObject(forEntityName: "Agency")
        context.rollback()
        detached["bookings"] = [trips[4]]
        #expect((detached.model as? Agency)?.bookings.isEmpty == true)
    }

    @Test func aRelationshipFollowsItsObjectIntoAContext() throws {
        let store = try TestStore.withTrips()
        let context = store.context()
        let trip = try context.insertNewObject(forEntityName: "BusinessTrip")
        context.rollback()
        let colleagues = try #require(trip.relationship(forKey: "colleagues"))
        context.insert(trip)
        trip.setValues(forKeys: ["name": "x", "company": "y"])
        let traveller = try context.insertNewObject(forEntityName: "Traveller")
        traveller["name"] = "Ada"
        #expect(colleagues.insert(traveller) && colleagues.count == 1)
        #expect((trip.model as? BusinessTrip)?.colleagues.map(\.name) == ["Ada"])
        try context.save()
    }

    @Test func anEntityIsACopy() throws {
        let context = try store().context()
        let (view, _) = try document(context)
        #expect(view.entity.relationshipsByName["folder"]?.inverseName == "documents")
        view.entity.uniquenessConstraints = [["title"]]
        #expect(view.entity.uniquenessConstraints.isEmpty && Document._$modelType.entity.uniquenessConstraints.isEmpty)
        view["labels"] = Set([Label("a"), Label("b")])
        #expect((view["labels"] as? [ManagedObject])?.count == 2)
    }

    @Test func requestsFindAndOrderObjectsOfAClass() throws {
        let store = try store()
        let context = store.context()
        let folders = (0..<3).map { Folder("folder \($0)") }
        for number in 0..<30 {
            let document = Document("document \(number)", number: number % 10)
            document.folder = number < 27 ? folders[number % 3] : nil
            document.labels = number % 5 == 0 ? [Label("label \(number)")] : []
            context.insert(document)
        }
        try context.save()
        func titles(_ filter: Filter?, _ change: (inout FetchRequest) -> Void = { _ in }) throws -> [String] {
            var request = FetchRequest(entityName: "Document", filter: filter, sortedBy: [.ascending("title")])
            change(&request)
            #expect(try context.count(for: request) == context.fetch(request).count)
            #expect(try context.fetchIdentifiers(request) == context.fetch(request).map(\.objectID))
            return try context.fetch(request).compactMap { $0["title"] as? String }
        }
        #expect(try titles(Filter.key("number") == 4) == ["document 14", "document 24", "document 4"])
        #expect(try titles(Filter.key("folder.name") == "folder 1").count == 9)
        #expect(try titles(Filter.key("folder") == folders[2].persistentModelID).count == 9)
        #expect(try titles(Filter.key("folder") == nil) == ["document 27", "document 28", "document 29"])
        #expect(try titles(.any("labels", where: Filter.key("text").beginsWith("label 2"))).count == 2)
        #expect(try titles(.matching { $0["title"] as? String == "document 8" }) == ["document 8"])
        #expect(try titles(Filter.key("number") > 5) { ($0.fetchOffset, $0.fetchLimit) = (1, 2) }.count == 2)
        #expect(throws: SwiftDataError.unsupportedPredicate) { try titles(Filter.key("titel") == "x") }
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchRequest(entityName: "Documents")) }
        let request = FetchRequest(entityName: "Document", sortedBy: [.descending("number")])
        let batches = try context.fetch(request, batchSize: 4)
        #expect(batches.count == 30 && batches.compactMap { $0["number"] as? Int }.prefix(4) == [9, 9, 9, 8])
        var walked = 0
        try context.enumerate(request) { walked += $0["number"] as? Int ?? 0 }
        #expect(walked == 135)
        var pages: [Int] = []
        var cursor: FetchCursor?
        repeat {
            let page = try context.fetchPage(request, after: cursor, size: 12)
            pages += page.objects.compactMap { $0["number"] as? Int }
            cursor = page.isLast ? nil : page.cursor
        } while cursor != nil
        #expect(pages.count == 30 && pages == pages.sorted(by: >))
        let groups = try context.fetch(
            AggregateRequest(entityName: "Document", filter: Filter.key("folder") != nil, .count(as: "count")))
        #expect(groups.first?["count"] as? Int == 27)
    }

    @Test func fetchesByNameFireNoFaults() throws {
        let store = try store()
        let first = store.context()
        for number in 0..<5 { first.insert(Document("\(number)", number: number)) }
        try first.save()
        let context = store.context()
        let found = try context.fetch(FetchRequest(entityName: "Document", filter: Filter.key("number") >= 0))
        #expect(found.count == 5)
        var request = FetchRequest(entityName: "Document")
        request.propertiesToFetch = ["title"]
        let other = store.context()
        let loaded = try other.fetch(request)
        let before = other.counters.faultsFired
        #expect(loaded.allSatisfy { $0["title"] != nil } && other.counters.faultsFired == before)
    }

    @Test func batchesTakeNames() throws {
        let context = try store().context()
        let rows: [[String: Any?]] = (0..<6).map { (number: Int) in ["title": "t\(number)", "number": number] }
        #expect(try context.batchInsert(entityName: "Document", rows).objectCount == 6)
        let some = FetchRequest(entityName: "Document", filter: Filter.key("number") < 3)
        #expect(try context.batchUpdate(some, set: ["title": "low"]).objectCount == 3)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.batchUpdate(some, set: ["title": nil]) }
        #expect(try context.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.title == "low" })) == 3)
        #expect(try context.batchDelete(some).objectCount == 3)
        try context.delete(FetchRequest(entityName: "Document", filter: Filter.key("number") == 5))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Document>()).map(\.number) == [3, 4])
    }

    @Test func deletionsAndRollbacksShowInBoth() throws {
        let context = try store().context()
        let (view, typed) = try document(context)
        context.delete(view)
        #expect(typed.isDeleted && view.isDeleted)
        context.rollback()
        #expect(!typed.isDeleted && !view.isDeleted)
        context.delete(typed)
        try context.save()
        #expect(view.isDeleted && view.managedObjectContext == nil && view["title"] as? String == "One")
        let made = try context.insertNewObject(forEntityName: "Document")
        made["title"] = "Gone"
        context.rollback()
        #expect(made.managedObjectContext == nil && made["title"] as? String == "Gone" && !made.isInserted)
        context.insert(made)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Document>()).map(\.title) == ["Gone"])
    }

    @Test func valuesOfEveryKindAreReadAndSet() throws {
        let context = try store().context()
        let typed = Scalars()
        context.insert(typed)
        let view = try #require(context.object(with: typed.persistentModelID))
        let values: [String: Any] = [
            "bool": true, "int8": Int8(-3), "uint64": UInt.max, "float": Float(1.5), "double": 2.5, "string": "text",
            "date": Date(timeIntervalSinceReferenceDate: 9), "uuid": UUID(), "decimal": Decimal(7),
            "data": Data([1, 2]), "rank": 9, "color": "blue", "numbers": [4, 5],
        ]
        view.setValues(forKeys: values)
        try context.save()
        let found = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Scalars>()).first)
        #expect(found.bool && found.int8 == -3 && found.uint64 == .max && found.float == 1.5 && found.double == 2.5)
        #expect(found.string == "text" && found.date == typed.date && found.uuid == values["uuid"] as? UUID)
        #expect(found.decimal == 7 && found.data == Data([1, 2]) && found.rank == .high && found.color == .blue)
        #expect(found.numbers == [4, 5])
        #expect(try (view["numbers"] as? CodableValue)?.decode(as: [Int].self) == [4, 5])
        let body = try context.insertNewObject(forEntityName: "Body")
        body["bytes"] = Data(repeating: 7, count: 50_000)
        try context.save()
        #expect(body.blob(forKey: "bytes")?.byteCount == 50_000)
    }

    @Test func observersOfBothHearOfChanges() throws {
        let context = try store().context()
        let (view, typed) = try document(context)
        let heard = Reports()
        withObservationTracking {
            _ = view["title"]
        } onChange: {
            heard.add("view")
        }
        typed.title = "Two"
        withObservationTracking {
            _ = typed.title
        } onChange: {
            heard.add("typed")
        }
        view["title"] = "Three"
        #expect(heard.all == ["view", "typed"])
    }

    @Test func hooksOfAnEntityAreCalledWithViews() throws {
        let context = try store().context()
        let calls = Reports()
        var hooks = EntityLifecycle()
        var awakened: [ManagedObject] = []
        hooks.awakeFromInsert = {
            calls.add("awake \($0.entity.name)")
            awakened.append($0)
        }
        hooks.willSave = { $0["number"] = 42 }
        hooks.didSave = { calls.add("saved \($0["number"] as? Int ?? 0)") }
        context.setLifecycle(hooks, forEntityNamed: "Document")
        let typed = Document("One")
        context.insert(typed)
        let made = try context.insertNewObject(forEntityName: "Document")
        made["title"] = "Two"
        #expect(awakened.last === made)
        try context.save()
        #expect(calls.all == ["awake Document", "awake Document", "saved 42", "saved 42"] && typed.number == 42)
        context.setLifecycle(nil, forEntityNamed: "Document")
        typed.number = 1
        try context.save()
        #expect(calls.all.count == 4 && typed.number == 1)
    }

    @Test func backingDataOfAViewIsRefused() throws {
        let context = try store().context()
        let (view, _) = try document(context)
        let copy = ManagedObject(backingData: view.persistentBackingData)
        context.insert(copy)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(try context.fetchCount(FetchDescriptor<Document>()) == 1)
    }

    @Test func aViewFollowsItsObjectOntoTheRowOfAnother() throws {
        let store = try TestStore(Trip.self, Traveller.self, place: .memory)
        let context = store.context()
        let first = Trip(name: "first")
        first.code = "A"
        context.insert(first)
        try context.save()
        let second = try context.insertNewObject(forEntityName: "Trip")
        second["name"] = "second"
        second["code"] = "A"
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 1 && first.name == "second")
        #expect(second.objectID == first.persistentModelID && second["name"] as? String == "second")
        second["name"] = "third"
        #expect(first.name == "third" && first.hasChanges)
        #expect(try context.fetch(FetchRequest(entityName: "Trip"))[0] === second)
    }
}
