import Faultline
import FaultlineLog
import FaultlineStore
import Testing

@Model final class Squad {
    var name: String
    @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Player.squad) var players: [Player] = []

    init(_ name: String, _ players: [Player]) {
        self.name = name
        self.players = players
    }
}

@Model final class Player {
    var name: String
    var squad: Squad?

    init(_ name: String) { self.name = name }
}

/// Inserts many rows at once without making objects.
@Suite struct BatchInsertTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(
            Folder.self, Document.self, Label.self, Body.self, Team.self, User.self, Scalars.self, Photo.self,
            Hall.self, Seat.self, Optionals.self, Squad.self, Player.self)
    }

    // MARK: Values

    @Test func valuesOfEveryKindAndDefaultsAreWritten() throws {
        let context = store.context()
        let result = try context.batchInsert(
            Scalars.self,
            (0..<3).lazy.map { (number: Int) -> [String: Any?] in
                [
                    "int": number, "int8": -number, "uint64": UInt64.max, "double": 1.5, "bool": true,
                    "string": "s\(number)",
                    "rank": Rank.high, "color": "blue", "place": Place(city: "Bern"), "shape": Shape.circle(radius: 2),
                    "date": Date(timeIntervalSinceReferenceDate: 5), "decimal": Decimal(12),
                    "url": URL(string: "https://example.org") as Any, "data": Data(repeating: 7, count: 9_000),
                ]
            })
        #expect(result.objectCounts == ["Scalars": 3] && result.upsertCount == 0)
        let found = try store.reopened().all(Scalars.self, sortBy: [SortDescriptor(\.int)])
        #expect(found.map(\.string) == ["s0", "s1", "s2"] && found.map(\.int8) == [0, -1, -2])
        let last = try #require(found.last)
        #expect(last.uint64 == .max && last.rank == .high && last.color == .blue && last.place.city == "Bern")
        #expect(last.shape == .circle(radius: 2) && last.decimal == 12 && last.data.count == 9_000)
        #expect(last.url.absoluteString == "https://example.org" && last.date.timeIntervalSinceReferenceDate == 5)
        // Attributes that the row does not name get their defaults from the class.
        #expect(last.numbers == [] && last.float == 0 && last.uuid == Scalars().uuid)

        try store.context().batchInsert(Optionals.self, [[:], ["named": "given", "preset": nil]])
        let optionals = try store.reopened().all(Optionals.self)
        #expect(optionals.map(\.named) == ["default name", "given"] && optionals.map(\.preset) == [42, nil])
    }

    @Test func aClosureFillsRows() throws {
        let context = store.context()
        let team = Team("t")
        context.insert(team)
        try context.save()
        var number = 0
        try context.batchInsert(User.self) { row in
            guard number < 500 else { return false }
            number += 1
            row.set(\.email, to: "u\(number)")
            row.set(\.age, to: number)
            row.set(\.team, to: number % 2 == 0 ? team.persistentModelID : nil)
            return true
        }
        // The members are available after the batch, in the order of the rows.
        #expect(team.users.map(\.age) == Array(stride(from: 2, through: 500, by: 2)))
        let again = try store.reopened()
        #expect(try again.fetchCount(FetchDescriptor<User>()) == 500)
        let email = "u77"
        #expect(try again.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.email == email })).first?.age == 77)
    }

    @Test func noObjectIsMadeAndNoMemoryHeld() throws {
        let context = store.context()
        var (peak, count) = (0, 0)
        let log = store.container.rowStore.log
        let text = String(repeating: "x", count: 1_000)
        let result = try context.batchInsert(Document.self) { row in
            guard count < 100_000 else { return false }
            count += 1
            if count % 1_000 == 0 {
                peak = max(peak, log.budget.used)
                #expect(context.residentObjects.isEmpty)
            }
            row.set(\.title, to: text)
            row.set(\.number, to: count)
            return true
        }
        #expect(result.objectCount == 100_000 && context.residentObjects.isEmpty)
        // 100 MB of rows, in one transaction.
        #expect(peak < 80 << 20)
        #expect(
            try context.fetchCount(FetchDescriptor<Document>(predicate: #Predicate { $0.number > 99_000 })) == 1_000)
    }

    // MARK: Uniqueness

    @Test func aRowThatCollidesUpdatesTheStoredObject() throws {
        let context = store.context()
        let (team, deputy) = (Team("t"), User("deputy"))
        let user = User("u", first: "A", last: "B", age: 1, team: team)
        user.deputy = deputy
        for object in [user, deputy] { context.insert(object) }
        try context.save()
        #expect(user.age == 1)
        let identifier = user.persistentModelID
        let result = try context.batchInsert(
            User.self,
            [["email": "u", "first": "A", "last": "C", "age": 2], ["email": "v"], ["email": "v", "age": 3]])
        #expect(result.objectCounts == ["User": 3] && result.upsertCount == 2)
        // Live objects show the new values. A property that the row does not set is kept only if it is a relationship.
        #expect(user.age == 2 && user.last == "C" && user.team === team && user.deputy === deputy)
        let again = try store.reopened()
        let users = try again.all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(users.map(\.email) == ["deputy", "u", "v"] && users.map(\.age) == [0, 2, 3])
        #expect(users[1].persistentModelID == identifier && users[1].deputy === users[0])
        #expect(users[0].deputyOf === users[1])
        // One row has the values of two objects, so the whole batch is refused.
        let error = #expect(throws: SwiftDataError.self) {
            try again.batchInsert(User.self, [["email": "w"], ["email": "v", "first": "A", "last": "C"]])
        }
        #expect(error == .modelValidationFailure && error?.explanation.contains("row 2") == true)
        #expect(error?.findings.map(\.rule) == [.unique])
        #expect(try store.reopened().all(User.self).count == 3)
    }

    @Test func relationshipsInKeysCount() throws {
        let context = store.context()
        let halls = [Hall("a"), Hall("b")]
        halls.forEach(context.insert)
        try context.save()
        let rows = (0..<20).map { number -> [String: Any?] in
            ["row": number % 5, "hall": halls[number / 5 % 2].persistentModelID, "note": "\(number)"]
        }
        let result = try context.batchInsert(Seat.self, rows)
        #expect(result.objectCount == 20 && result.upsertCount == 10)
        let seats = try store.reopened().all(Seat.self)
        #expect(Set(seats.compactMap { Int($0.note) }) == Set(10..<20))
    }

    // MARK: Relationships

    @Test func oneToOneRelationshipsKeepTheirOtherSides() throws {
        let context = store.context()
        let (one, two) = (Document("one"), Document("two"))
        one.body = Body(Data([1]))
        for document in [one, two] { context.insert(document) }
        try context.save()
        let old = try #require(one.body)
        // The last row takes the first one's partner, and the first is left without one.
        try context.batchInsert(
            Body.self,
            [
                ["bytes": Data([2]), "document": two.persistentModelID],
                ["bytes": Data([3]), "document": one.persistentModelID],
                ["bytes": Data([4]), "document": two.persistentModelID],
            ])
        #expect(one.body?.bytes == Data([3]) && two.body?.bytes == Data([4]) && old.document == nil)
        let again = try store.reopened()
        let bodies = try again.all(Body.self)
        #expect(bodies.map { $0.document?.title } == [nil, nil, "one", "two"])
        #expect(
            try again.all(Document.self, sortBy: [SortDescriptor(\.title)]).map { $0.body?.bytes } == [
                Data([3]), Data([4]),
            ])
    }

    @Test func aRowIsMovedFromOnePartnerToAnother() throws {
        let context = store.context()
        let (a, b) = (User("a"), User("b"))
        let user = User("u")
        user.deputy = a
        for object in [a, b, user] { context.insert(object) }
        try context.save()
        try context.batchInsert(User.self, [["email": "u", "deputy": b.persistentModelID]])
        #expect(user.deputy === b && a.deputyOf == nil && b.deputyOf === user)
        let again = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(again[0].deputyOf == nil && again[1].deputyOf === again[2])
    }

    @Test func boundsOfCollectionsHold() throws {
        let context = store.context()
        let squad = Squad("s", [Player("p1")])
        context.insert(squad)
        try context.save()
        let identifier = squad.persistentModelID
        let error = #expect(throws: SwiftDataError.self) {
            try context.batchInsert(Player.self, (0..<3).map { ["name": "q\($0)", "squad": identifier] })
        }
        #expect(error?.findings.map(\.rule) == [.maximumModelCount])
        #expect(error?.findings.first?.object == identifier && error?.findings.first?.propertyName == "players")
        try context.batchInsert(Player.self, (0..<2).map { ["name": "q\($0)", "squad": identifier] })
        #expect(try store.reopened().first(Squad.self).players.map(\.name) == ["p1", "q0", "q1"])
        // A squad without players would violate its minimum count.
        let few = #expect(throws: SwiftDataError.self) { try store.context().batchInsert(Squad.self, [["name": "x"]]) }
        #expect(few?.findings.map(\.rule) == [.minimumModelCount])
    }

    // MARK: Refusals

    @Test func allMissingValuesAreListedAndNothingIsInserted() throws {
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        try context.save()
        let gone = folder.persistentModelID
        context.delete(folder)
        try context.save()
        let error = #expect(throws: SwiftDataError.self) {
            try context.batchInsert(
                Document.self, [["title": "a"], ["number": 2], ["title": "c", "folder": gone], [:], ["title": "e"]])
        }
        let findings = try #require(error?.findings)
        #expect(findings.map(\.rule) == [.required, .missingObject, .required])
        #expect(findings.map(\.propertyName) == ["title", "folder", "title"])
        #expect(findings[0].description.hasPrefix("row 2 of the batch, Document.title"))
        #expect(try store.reopened().all(Document.self).isEmpty)
    }

    @Test func underNullifyAReferenceToAnObjectThatIsGoneCountsAsNil() throws {
        let context = store.context()
        let (folder, kept) = (Folder("gone"), Folder("kept"))
        for folder in [folder, kept] { context.insert(folder) }
        try context.save()
        let rows = [folder, kept].map { ["title": $0.name, "folder": $0.persistentModelID] as [String: Any?] }
        context.delete(folder)
        try context.save()
        #expect(throws: SwiftDataError.self) { try context.batchInsert(Document.self, rows) }
        context.danglingReferences = .nullify
        #expect(try context.batchInsert(Document.self, rows).objectCount == 2)
        let documents = try store.reopened().all(Document.self, sortBy: [SortDescriptor(\.title)])
        #expect(documents.map { $0.folder?.name } == [nil, "kept"])
    }

    @Test func aRequiredReferenceToAnObjectThatIsGoneIsAFindingUnderNullifyToo() throws {
        let store = try TestStore(Rung.self)
        let context = store.context()
        let ladder = Ladder()
        context.insert(ladder)
        try context.save()
        let row: [String: Any?] = ["ladder": ladder.persistentModelID]
        context.delete(ladder)
        try context.save()
        context.danglingReferences = .nullify
        let error = #expect(throws: SwiftDataError.self) { try context.batchInsert(Rung.self, [row]) }
        #expect(error?.findings.map(\.rule) == [.required])
        #expect(try store.reopened().fetchCount(FetchDescriptor<Rung>()) == 0)
    }

    @Test(
        arguments: [
            ["titel": "x"], ["title": nil], ["title": 5], ["title": "x", "number": "five"],
            ["title": "x", "labels": 1],
            ["title": "x", "folder": "f"],
        ] as [[String: (any Sendable)?]])
    func whatAPropertyCannotHaveIsRefusedByName(_ row: [String: (any Sendable)?]) throws {
        let context = store.context()
        let error = #expect(throws: SwiftDataError.self) {
            try context.batchInsert(Document.self, [["title": "first"], row.mapValues { $0 as Any? }])
        }
        let name = row.keys.first { $0 != "title" } ?? "title"
        #expect(error?.explanation.contains(name) == true)
        #expect(try store.reopened().all(Document.self).isEmpty)
    }

    @Test func identifiersOfOthersAreRefused() throws {
        let context = store.context()
        let other = try TestStore(Folder.self)
        let far = Folder("far")
        let otherContext = other.context()
        otherContext.insert(far)
        try otherContext.save()
        let unsaved = Folder("unsaved")
        context.insert(unsaved)
        let team = Team("t")
        let third = store.context()
        third.insert(team)
        try third.save()
        for identifier in [far.persistentModelID, unsaved.persistentModelID, team.persistentModelID] {
            #expect(throws: SwiftDataError.modelValidationFailure) {
                try context.batchInsert(Document.self, [["title": "x", "folder": identifier]])
            }
        }
        #expect(context.hasChanges)
    }

    @Test func aClosureThatThrowsOrSavesInsertsNothing() throws {
        struct Stop: Error {}
        let context = store.context()
        var count = 0
        #expect(throws: Stop.self) {
            try context.batchInsert(Document.self) { row in
                count += 1
                row.set("title", to: "x")
                if count == 3_000 { throw Stop() }
                return true
            }
        }
        let other = store.context()
        other.insert(Folder("f"))
        #expect(throws: SwiftDataError.modelValidationFailure) {
            try context.batchInsert(Document.self) { row in
                row.set(\.title, to: "x")
                try other.save()
                return true
            }
        }
        try other.save()
        #expect(try store.reopened().all(Document.self).isEmpty)
        #expect(try store.context().all(Folder.self).count == 1)
    }

    // MARK: Contexts

    @Test func contextsSeeTheBatchWithTheirNextFetchAndUnsavedChangesStay() throws {
        let context = store.context()
        let user = User("u", age: 1)
        context.insert(user)
        try context.save()
        let other = store.context()
        let theirs = try other.first(User.self)
        #expect(theirs.age == 1)
        user.first = "unsaved"
        context.author = "importer"
        try context.batchInsert(User.self, [["email": "u", "age": 2], ["email": "v"]])
        #expect(theirs.age == 1)
        #expect(try other.fetchCount(FetchDescriptor<User>()) == 2 && theirs.age == 2)
        #expect(user.first == "unsaved" && user.age == 1 && context.hasChanges)
        try context.save()
        #expect(try context.batchInsert(User.self, []).objectCount == 0)
        let again = try store.reopened().all(User.self, sortBy: [SortDescriptor(\.email)])
        #expect(again.map(\.age) == [2, 0] && again[0].first == "unsaved")
    }

    @Test func objectsWithoutClassesAreInserted() throws {
        let store = try DynamicStore()
        let context = ModelContext(store.container)
        try context.batchInsert(entityName: "Department", [["name": "d"]])
        let department = try #require(try context.named("d", "Department"))
        var age = 0
        let result = try context.batchInsert(entityName: "Person") { row in
            guard age < 100 else { return false }
            age += 1
            row.set("name", to: "p\(age)")
            row.set("age", to: age)
            row.set("department", to: department.objectID)
            row.set("photo", to: Data(repeating: 1, count: 10_000))
            return true
        }
        #expect(result.objectCounts == ["Person": 100])
        #expect((department["people"] as? [ManagedObject])?.count == 100)
        let error = #expect(throws: SwiftDataError.self) {
            try context.batchInsert(entityName: "Person", [["age": 1], ["department": department.objectID]])
        }
        #expect(error?.findings.map(\.propertyName) == ["name", "name"])
        let again = try store.reopened()
        #expect(try again.count(for: FetchRequest(entityName: "Person", filter: Filter.key("shoe") == 40)) == 100)
        #expect(try #require(try again.named("p7"))["department"] is ManagedObject)
        #expect(try store.findings() == [])
    }
}
