import Faultline
import FaultlineTestSupport
import Testing

@Suite struct DynamicObjectTests {
    @Test func everyKindOfValueComesBackUnderTheStoredSchema() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let key = UUID()
        let photo = Data(repeating: 7, count: 20_000)
        let department = try context.make("Department", ["name": "Sales", "budget": Decimal(string: "12.34")])
        let person = try context.make(
            "Person",
            [
                "name": "Ada", "age": 36, "height": 1.7, "born": Date(timeIntervalSinceReferenceDate: 5), "key": key,
                "page": URL(string: "https://example.org/a"), "photo": photo, "tags": ["a", "b"],
                "department": department,
            ])
        #expect(person.isInserted && person.objectID.isTemporary)
        try context.save()
        #expect(!person.isInserted)

        let read = try store.reopened()
        let ada = try #require(try read.named("Ada"))
        #expect(ada.entity.name == "Person")
        #expect(ada["age"] as? Int == 36)
        #expect(ada["shoe"] as? Int8 == 40)
        #expect(ada["height"] as? Double == 1.7)
        #expect(ada["born"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(ada["key"] as? UUID == key)
        #expect(ada["page"] as? URL == URL(string: "https://example.org/a"))
        #expect(ada["photo"] as? Data == photo)
        #expect(try (ada["tags"] as? CodableValue)?.decode(as: [String].self) == ["a", "b"])
        #expect((ada["department"] as? ManagedObject)?["budget"] as? Decimal == Decimal(string: "12.34"))
        #expect((ada["department"] as? ManagedObject)?["people"] as? [ManagedObject] == [ada])
        #expect(try store.findings() == [])
    }

    @Test func classesAndNamesShowOneStore() throws {
        let store = try TestStore(Scalars.self)
        let context = store.context()
        let scalars = Scalars()
        scalars.int = -5
        scalars.uint64 = .max
        scalars.rank = .high
        scalars.color = .blue
        scalars.place = Place(city: "Oslo")
        context.insert(scalars)
        try context.save()
        try store.container.close()

        let url = try #require(store.url)
        let container = try ModelContainer(opening: ModelConfiguration(url: url))
        let dynamic = ModelContext(container)
        let object = try #require(try dynamic.fetch(FetchRequest(entityName: "Scalars")).first)
        #expect(object["int"] as? Int == -5)
        #expect(object["uint64"] as? UInt64 == .max)
        #expect(object["rank"] as? Int == Rank.high.rawValue)
        #expect(object["color"] as? String == "blue")
        #expect(try (object["place"] as? CodableValue)?.decode(as: Place.self) == Place(city: "Oslo"))
        object["int"] = 6
        object["rank"] = Rank.middle
        object["place"] = Place(city: "Rome")
        try dynamic.save()
        try container.close()

        let typed = try ModelContainer(for: Scalars.self, configurations: ModelConfiguration(url: url))
        let read = try ModelContext(typed).first(Scalars.self)
        #expect(read.int == 6 && read.rank == .middle && read.place == Place(city: "Rome") && read.color == .blue)
    }

    @Test func relationshipsKeepTheirInverses() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let sales = try context.make("Department", ["name": "Sales"])
        let people = try (0..<3).map { try context.make("Person", ["name": "p\($0)"]) }
        sales["people"] = people
        #expect(people[1]["department"] as? ManagedObject == sales)
        people[1]["department"] = nil
        #expect((sales["people"] as? [ManagedObject])?.count == 2)
        people[0]["friends"] = Set([people[1], people[2]])
        try context.save()
        #expect(people[2]["friendOf"] as? [ManagedObject] == [people[0]])

        let read = try store.reopened()
        let readSales = try #require(try read.named("Sales", "Department"))
        #expect((readSales["people"] as? [ManagedObject])?.compactMap { $0["name"] as? String } == ["p0", "p2"])
        read.delete(readSales)
        try read.save()
        #expect(try read.fetch(FetchRequest(entityName: "Person")).map { $0["name"] as? String } == ["p1"])
        #expect(try store.findings() == [])
    }

    @Test func anUnknownKeyIsReportedWithTheNearestName() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        try context.save()
        let reports = context.reports()
        #expect(person["nam"] == nil)
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("Person has no property \"nam\". Did you mean \"name\"?") == true)

        person["agee"] = 3
        person["name"] = "Eve"
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        // The valid change still exists.
        try context.save()
        #expect(try store.reopened().named("Eve") != nil)
    }

    @Test(arguments: [
        ("age", "seven" as any Sendable, "was set to a value of type String"),
        ("shoe", 300, "which Int8 does not hold exactly"),
        ("name", 1, "holds String"),
        ("born", 1.5, "holds Date"),
        ("department", 3, "holds Department"),
        ("people", 3, "no property"),
    ])
    func aValueThatDoesNotFitMakesTheSaveThrow(_ key: String, _ value: any Sendable, _ reason: String) throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada", "age": 36])
        try context.save()
        person[key] = value
        do {
            try context.save()
            Issue.record("The save went through.")
        } catch let error as SwiftDataError {
            #expect(error.explanation.contains(reason), "\(error)")
            #expect(error.explanation.contains("Person"), "\(error)")
        }
        #expect(person["age"] as? Int == 36)
        #expect(!context.hasChanges)
    }

    @Test func anObjectOfAnotherEntityIsRefused() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        person["department"] = try context.make("Person", ["name": "Eve"])
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        person["friends"] = [try context.make("Department", ["name": "Sales"])]
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect((person["friends"] as? [ManagedObject])?.isEmpty == true)
    }

    @Test func aRequiredValueHasToBeSet() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["age": 3])
        do {
            try context.save()
            Issue.record("The save went through.")
        } catch let error as SwiftDataError {
            #expect(error.explanation.contains("Person.name: a required value is missing"))
        }
        person["name"] = ""
        try context.save()
        person["name"] = nil
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(person["name"] as? String == "")
    }

    @Test func aListReadsNoRowAndATouchReadsOne() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        for number in 0..<100 { _ = try context.make("Person", ["name": "p\(number)", "photo": Data(count: 9_000)]) }
        try context.save()
        let read = try store.reopened()
        let people = try read.fetch(FetchRequest(entityName: "Person"))
        #expect(people.count == 100 && people.allSatisfy { $0.isFault })
        #expect(read.counters.rowsRead == 0)
        #expect(people[50]["name"] as? String == "p50")
        #expect(!people[50].isFault && people[51].isFault)
        #expect(read.counters.rowsRead == 1 && read.counters.faultsFired == 1)
        #expect(read.counters.blobBytesRead == 0)
        #expect(people[50].blob(forKey: "photo")?.byteCount == 9_000)
        #expect(read.counters.blobBytesRead == 0)
    }

    @Test func pathsLeadThroughRelationships() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let sales = try context.make("Department", ["name": "Sales"])
        for (name, age) in [("a", 20), ("b", nil), ("c", 25)] {
            _ = try context.make("Person", ["name": name, "age": age, "department": sales])
        }
        let lone = try context.make("Person", ["name": "lone"])
        let first = try #require((sales["people"] as? [ManagedObject])?.first)
        #expect(first.value(forKeyPath: "department.name") as? String == "Sales")
        #expect(lone.value(forKeyPath: "department.name") == nil)
        #expect(sales.value(forKeyPath: "people.name") as? [String] == ["a", "b", "c"])
        #expect(sales.value(forKeyPath: "people.age") as? [Int] == [20, 25])
        #expect(sales.value(forKeyPath: "people.@count") as? Int == 3)
        #expect(sales.value(forKeyPath: "people.@sum.age") as? Int == 45)
        #expect(sales.value(forKeyPath: "people.@avg.age") as? Double == 22.5)
        #expect(sales.value(forKeyPath: "people.@min.name") as? String == "a")
        #expect(sales.value(forKeyPath: "people.@max.age") as? Int == 25)
        #expect(first.value(forKeyPath: "department.people.@count") as? Int == 3)
        let reports = context.reports()
        #expect(sales.value(forKeyPath: "people.@median.age") == nil)
        #expect(sales.value(forKeyPath: "name.length") == nil)
        #expect(reports.all.count == 2)
    }

    @Test func aRollbackLetsGoOfWhatWasInserted() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada"])
        context.rollback()
        #expect(person.managedObjectContext == nil && !context.hasChanges)
        #expect(person["name"] as? String == "Ada" && person["department"] == nil)
        person["name"] = "Eve"
        #expect(person["name"] as? String == "Eve")
        try context.save()
        #expect(try context.count(for: FetchRequest(entityName: "Person")) == 0)
    }

    @Test func aDeletedObjectKeepsItsLastValues() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let person = try context.make("Person", ["name": "Ada", "photo": Data(repeating: 1, count: 9_000)])
        try context.save()
        context.delete(person)
        try context.save()
        #expect(person.isDeleted && person["name"] as? String == "Ada")
        #expect((person["photo"] as? Data)?.count == 9_000)
    }

    @Test func aUniqueValueFindsTheStoredObject() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let first = try context.make("Department", ["name": "Sales", "budget": Decimal(1)])
        try context.save()
        let second = try context.make("Department", ["name": "Sales", "budget": Decimal(2)])
        try context.save()
        #expect(try context.count(for: FetchRequest(entityName: "Department")) == 1)
        #expect(first["budget"] as? Decimal == 2 && second.objectID == first.objectID)
        second["budget"] = Decimal(3)
        #expect(first["budget"] as? Decimal == 3)
    }

    @Test func anUnknownEntityIsRefusedWithTheNearestName() throws {
        let store = try TestStore(Photo.self, place: .memory)
        do {
            _ = try store.context().fetch(FetchRequest(entityName: "Phot"))
            Issue.record("The fetch went through.")
        } catch let error as SwiftDataError {
            #expect(error == .unknownSchema && error.explanation.contains("Did you mean \"Photo\"?"))
        }
    }

    @Test func aStoreThatIsNotThereHasNoSchemaAndIsNotMade() throws {
        let folder = TemporaryDirectory()
        let url = URL(filePath: "\(folder.path)/deep/er.store")
        for _ in 0..<2 {
            #expect(throws: SwiftDataError.unknownSchema) {
                try ModelContainer(opening: ModelConfiguration(url: url))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/deep"))
        #expect(throws: SwiftDataError.unknownSchema) {
            try ModelContainer(opening: ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }

    @Test func anIdentifierOfAnotherStoreLeadsToNoObject() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let ada = try context.make("Person", ["name": "Ada"])
        let other = try DynamicStore()
        let otherContext = ModelContext(other.container)
        #expect(otherContext.object(with: ada.objectID) == nil)
        #expect(context.object(with: ada.objectID) === ada)
        #expect(try context.existingObject(with: ada.objectID) === ada)
        try context.save()
        let id = ada.objectID
        #expect(otherContext.object(with: id) == nil)
        #expect(throws: SwiftDataError.missingModelContext) { try otherContext.existingObject(with: id) }
        #expect(context.registeredObject(for: id) === ada)
        context.delete(ada)
        #expect(throws: SwiftDataError.missingModelContext) { try context.existingObject(with: id) }
        try context.save()
        let later = ModelContext(store.container)
        #expect(later.registeredObject(for: id) == nil && later.object(with: id) != nil)
        #expect(throws: SwiftDataError.missingModelContext) { try later.existingObject(with: id) }
    }

    @Test func requestsGiveIdentifiersAndDelete() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let people = try (0..<6).map { (number: Int) in
            try context.make("Person", ["name": "p\(number)", "age": number])
        }
        try context.save()
        let request = FetchRequest(entityName: "Person", filter: Filter.key("age") < 2)
        #expect(try context.fetchIdentifiers(request) == people.prefix(2).map(\.objectID))
        try context.delete(request)
        try context.save()
        #expect(try store.reopened().count(for: FetchRequest(entityName: "Person")) == 4)
    }

    @Test func severalValuesAndPathsAreSet() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let sales = try context.make("Department", ["name": "Sales"])
        let person = try context.insertNewObject(forEntityName: "Person")
        person.setValues(forKeys: ["name": "Ada", "age": 3, "department": sales])
        person.setValue("Buying", forKeyPath: "department.name")
        person.setValue(4, forKeyPath: "age")
        try context.save()
        #expect(sales["name"] as? String == "Buying" && person["age"] as? Int == 4)
        person.setValue("x", forKeyPath: "friends.name")
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }

    @Test func whatIsNoNumberIsNeitherAddedNorAveraged() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        let ada = try context.make("Person", ["name": "Ada"])
        ada["friends"] = try ["0.1", "0.2"].map { text in
            let department = try context.make("Department", ["name": text, "budget": Decimal(string: text)])
            return try context.make("Person", ["name": text, "born": Date.now, "department": department])
        }
        #expect(ada.value(forKeyPath: "friends.@avg.department.budget") as? Decimal == Decimal(string: "0.15"))
        #expect(ada.value(forKeyPath: "friends.@sum.department.budget") as? Decimal == Decimal(string: "0.3"))
        let reports = context.reports()
        #expect(ada.value(forKeyPath: "friends.@sum.name") == nil && ada.value(forKeyPath: "friends.@avg.born") == nil)
        #expect(reports.all.count == 2)
        #expect(ada.value(forKeyPath: "friends.@min.name") as? String == "0.1")
    }

    @Test func aFractionThatIsTooLargeIsRefused() throws {
        let entity = Schema.Entity("Thing", properties: Schema.Attribute(name: "x", valueType: Float.self))
        let context = ModelContext(try DynamicStore(Schema(entity)).container)
        let thing = try context.make("Thing", ["x": 0.1])
        #expect(thing["x"] as? Float == 0.1)
        thing["x"] = 1e300
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    }
}
