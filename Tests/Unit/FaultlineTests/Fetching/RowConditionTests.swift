// swift-format-ignore-file: NeverForceUnwrap

import Faultline
import FaultlineTestSupport
import Testing

/// Conditions that no filter of the stored bytes decides are evaluated on rows, without an object.
@Suite struct RowConditionTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(Folder.self, Label.self, Company.self, Scalars.self, Optionals.self, Firm.self)
        let context = store.context()
        let folders = (0..<6).map { Folder("f\($0)") }
        for (place, folder) in folders.enumerated() {
            folder.parent = place == 0 ? nil : folders[(place - 1) / 2]
            context.insert(folder)
        }
        let labels = (0..<5).map { Label(String(repeating: "l", count: $0) + "\($0)") }
        labels.forEach(context.insert)
        for number in 0..<60 {
            let document = Document(number % 7 == 0 ? "" : "Document Ä\(number)", number: number)
            document.folder = number % 5 == 0 ? nil : folders[number % 6]
            document.labels = labels.filter { number % 4 != 0 && (number + $0.text.count) % 3 == 0 }
            if number % 3 == 0 { document.body = Body(Data([UInt8(number)])) }
            context.insert(document)
        }
        for number in 0..<4 {
            let company = Company("c\(number)")
            context.insert(company)
            for visitor in 0..<number { company.visitors?.append(Visitor("v\(visitor)")) }
        }
        var firms: [Firm] = []
        for number in 0..<8 {
            firms.append(Firm("firm \(number)", limit: number % 3, parent: number > 1 ? firms[number % 2] : nil))
            context.insert(firms[number])
            for guest in 0..<(number % 4) {
                let guest = FirmGuest("g\(guest % 2)", firms[number])
                guest.bytes = Data(repeating: UInt8(number), count: number)
                context.insert(guest)
            }
        }
        try context.save()
    }

    /// Compares a fetch in several forms with the same predicate on all objects.
    private func check<T: PersistentModel>(
        _ predicate: Predicate<T>, isAnswered: Bool = true, in given: ModelContext? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let context = given ?? store.context()
        let wanted = try context.all(T.self).filter { try predicate.evaluate($0) }.map(\.persistentModelID)
        if given == nil {
            #expect(!wanted.isEmpty, "The predicate finds nothing.", sourceLocation: sourceLocation)
            #expect(try wanted.count < context.fetchCount(FetchDescriptor<T>()), sourceLocation: sourceLocation)
        }
        let descriptor = FetchDescriptor(predicate: predicate)
        let searching = given ?? store.context()
        #expect(try searching.fetchIdentifiers(descriptor) == wanted, sourceLocation: sourceLocation)
        #expect(try searching.fetch(descriptor).map(\.persistentModelID) == wanted, sourceLocation: sourceLocation)
        #expect(try searching.fetchCount(descriptor) == wanted.count, sourceLocation: sourceLocation)
        var walked: [PersistentIdentifier] = []
        try searching.enumerate(descriptor) { walked.append($0.persistentModelID) }
        #expect(walked == wanted, sourceLocation: sourceLocation)
        guard given == nil else { return }
        let counting = store.context()
        #expect(try counting.fetchCount(descriptor) == wanted.count, sourceLocation: sourceLocation)
        if isAnswered { #expect(counting.counters.faultsFired == 0, sourceLocation: sourceLocation) }
        #expect(try counting.explain(descriptor).isAnsweredByRows == isAnswered, sourceLocation: sourceLocation)
    }

    @Test func `a path through relationships to one`() throws {
        try check(#Predicate<Document> { $0.folder?.name == "f3" })
        try check(#Predicate<Document> { $0.folder?.name != "f3" })
        try check(#Predicate<Document> { $0.folder?.parent?.name == "f1" })
        try check(#Predicate<Document> { $0.folder?.parent?.parent?.name == "f0" })
        try check(#Predicate<Document> { ($0.folder?.name.count ?? 0) == 2 })
        try check(#Predicate<Document> { $0.folder != nil && $0.folder!.name == "f2" })
        try check(#Predicate<Document> { $0.folder.flatMap { $0.name > "f3" } ?? false })
        try check(#Predicate<Document> { if let folder = $0.folder { folder.name == "f1" } else { false } })
        try check(#Predicate<Document> { $0.folder?.parent == nil })
        try check(#Predicate<Document> { $0.folder?.parent != nil || $0.title.count < 2 })
        try check(#Predicate<Document> { $0.folder?.name == "f3" || $0.number == 2 })
    }

    @Test func `a path reads each object that it leads to once`() throws {
        let context = store.context()
        let found = FetchDescriptor<Document>(predicate: #Predicate { $0.folder?.name == "f3" })
        let documents = try context.fetchCount(FetchDescriptor<Document>())
        let folders = try context.fetchCount(FetchDescriptor<Folder>())
        let before = context.counters.rowsRead
        #expect(try context.fetchCount(found) > 0)
        #expect(context.counters.rowsRead - before == documents + folders)
    }

    @Test func `a path that the value of another object decides`() throws {
        try check(
            #Predicate<Document> { document in
                document.folder.flatMap { $0.name.count < document.title.count } ?? false
            })
        let found = try #require(try store.context().fetch(FetchDescriptor<Folder>()).last).persistentModelID
        try check(#Predicate<Document> { $0.folder?.persistentModelID == found || $0.title.isEmpty })
        try check(#Predicate<Document> { $0.folder?.parent?.persistentModelID == found || $0.title.isEmpty })
    }

    @Test func `members of a relationship are counted and tested`() throws {
        let name = "l1"
        try check(#Predicate<Document> { $0.labels.isEmpty })
        try check(#Predicate<Document> { !$0.labels.isEmpty })
        try check(#Predicate<Document> { $0.labels.count > 1 })
        try check(#Predicate<Document> { $0.labels.contains { $0.text == name } })
        try check(#Predicate<Document> { $0.labels.allSatisfy { $0.text.count < 4 } })
        try check(#Predicate<Document> { $0.labels.filter { $0.text.count > 2 }.count == 1 })
        try check(#Predicate<Document> { $0.labels.filter { $0.text.count > 2 }.isEmpty })
        try check(#Predicate<Document> { $0.labels.contains { $0.documents.count > 11 } })
        try check(#Predicate<Folder> { $0.documents.contains { $0.labels.contains { $0.text == name } } })
        try check(
            #Predicate<Folder> { folder in folder.documents.contains { $0.title > folder.name } || folder.parent == nil
            })
        try check(#Predicate<Folder> { $0.folders.count == 2 })
        try check(#Predicate<Document> { ($0.folder?.documents.count ?? 0) > 7 })
        try check(#Predicate<Document> { ($0.folder?.folders.isEmpty ?? true) && $0.number > 3 })
        try check(#Predicate<Company> { ($0.visitors?.count ?? 0) > 1 })
        try check(#Predicate<Company> { $0.visitors?.isEmpty ?? true })
        try check(#Predicate<Company> { $0.visitors?.contains { $0.name == "v1" } ?? false })
    }

    @Test func `conditions on members are nested`() throws {
        try check(
            #Predicate<Firm> {
                $0.guests.flatMap { all in all.contains { one in all.contains { one.name < $0.name } } } ?? false
            })
        try check(
            #Predicate<Firm> { firm in
                firm.guests.flatMap { all in firm.parent.flatMap { all.count > $0.limit } ?? false } ?? false
            })
        try check(
            #Predicate<Firm> { firm in
                firm.children.contains { child in firm.children.contains { $0.limit > child.limit } }
            })
        try check(#Predicate<FirmGuest> { ($0.firm?.guests?.count ?? 0) > 1 && $0.firm!.children.isEmpty })
    }

    @Test func `an unwrapped nil in a path is an error`() throws {
        let context = store.context()
        let target = #Predicate<Firm> { $0.parent!.parent == nil }
        let value = #Predicate<Firm> { $0.parent!.name == "firm 1" }
        let members = #Predicate<Firm> { $0.parent!.children.count == 1 }
        for predicate in [target, value, members] {
            #expect(throws: PredicateError.self) { try context.fetch(FetchDescriptor(predicate: predicate)) }
        }
    }

    @Test func `a transformed value is compared as its getter returns it`() throws {
        let wanted = Data(repeating: 3, count: 3)
        try check(#Predicate<FirmGuest> { $0.bytes == wanted }, isAnswered: false)
        try check(#Predicate<FirmGuest> { $0.bytes.count == 3 }, isAnswered: false)
    }

    @Test func `identifiers join computed conditions`() throws {
        let identifiers = try store.context().fetchIdentifiers(FetchDescriptor<Document>())
        let some = Array(identifiers.prefix(30))
        try check(#Predicate<Document> { some.contains($0.persistentModelID) && $0.title.count > 10 })
    }

    @Test func `values are computed from rows`() throws {
        let part = "ä1"
        let expression = /Ä1\d/
        try check(#Predicate<Document> { $0.title.localizedStandardContains(part) })
        try check(#Predicate<Document> { $0.title.contains(expression) })
        try check(#Predicate<Document> { $0.title.count + $0.number > 30 })
        try check(#Predicate<Document> { $0.number % 4 == 1 && $0.folder?.name == "f1" })
        try check(#Predicate<Document> { $0.body == nil || $0.number / 2 > 20 })
        try check(#Predicate<Document> { ($0.body?.bytes.count ?? 0) == 1 })
        try check(#Predicate<Document> { $0.number > 10 ? $0.title.isEmpty : $0.body != nil })
    }

    @Test func `unsaved changes count`() throws {
        let context = store.context()
        let descriptor = FetchDescriptor<Folder>(predicate: #Predicate { $0.name == "f3" })
        let folder = try #require(try context.fetch(descriptor).first)
        folder.name = "renamed"
        let renamed = #Predicate<Document> { $0.folder?.name == "renamed" }
        try check(renamed, in: context)
        #expect(try context.fetchCount(FetchDescriptor(predicate: renamed)) > 0)
        var stored = FetchDescriptor(predicate: renamed)
        stored.includePendingChanges = false
        #expect(try context.fetchCount(stored) == 0)
        stored.predicate = #Predicate { $0.folder?.name == "f3" }
        #expect(try context.fetchCount(stored) > 0)
        context.rollback()

        let label = Label("new")
        let document = try #require(try context.fetch(FetchDescriptor<Document>()).first)
        document.labels = [label]
        try check(#Predicate<Document> { $0.labels.contains { $0.text == "new" } }, in: context)
        try check(#Predicate<Document> { $0.labels.count == 1 }, in: context)
        context.delete(folder)
        try check(#Predicate<Document> { $0.folder?.name == nil }, in: context)
        try check(#Predicate<Folder> { $0.documents.isEmpty }, in: context)
    }

    @Test func `members that joined and left count, though only links have changed`() throws {
        let context = store.context()
        let documents = try context.fetch(FetchDescriptor<Document>(sortBy: [SortDescriptor(\.number)]))
        let label = try #require(try context.fetch(FetchDescriptor<Label>()).first { !$0.documents.isEmpty })
        let before = label.documents.count
        let isEmpty = #Predicate<Document> { $0.labels.isEmpty }
        let unlabelled = try context.fetchCount(FetchDescriptor(predicate: isEmpty))
        #expect(documents[0].labels.isEmpty && documents[4].labels.isEmpty)
        documents[0].labels = [label]
        label.documents.append(documents[4])
        #expect(context.hasChanges && context.insertedModelsArray.isEmpty)
        try check(isEmpty, in: context)
        try check(#Predicate<Document> { $0.labels.contains { $0.text.count > 1 } }, in: context)
        try check(#Predicate<Label> { $0.documents.count == before + 2 }, in: context)
        try check(#Predicate<Body> { ($0.document?.labels.count ?? 0) > 1 }, in: context)
        #expect(try context.fetchCount(FetchDescriptor(predicate: isEmpty)) == unlabelled - 2)
        var stored = FetchDescriptor(predicate: isEmpty)
        stored.includePendingChanges = false
        #expect(try context.fetchCount(stored) == unlabelled)
    }

    @Test func `a deleted target reads as nil, and a deleted member is none`() throws {
        let context = store.context()
        for company in try context.fetch(FetchDescriptor<Company>(predicate: #Predicate { $0.name == "c3" })) {
            context.delete(company)
        }
        let label = try #require(try context.fetch(FetchDescriptor<Label>()).last)
        context.delete(label)
        try context.save()
        try check(#Predicate<Visitor> { $0.company?.name == nil })
        try check(#Predicate<Document> { $0.labels.count > 1 })
        try check(#Predicate<Document> { $0.labels.isEmpty })
    }

    @Test func `a value that the row has not in the property's form is asked of the object`() throws {
        let zero = 0
        let context = store.context()
        let refused = FetchDescriptor<Document>(predicate: #Predicate { $0.number / zero > 1 })
        let error = #expect(throws: SwiftDataError.self) { try context.fetch(refused) }
        #expect(error?.explanation.contains("Document.number of object 1") == true)
        try check(#Predicate<Scalars> { $0.scratch == 7 }, isAnswered: false, in: context)
    }

    /// Inserts objects with a value of each type.
    private func insertEveryType() throws {
        let context = store.context()
        for number in 1...3 {
            let object = Scalars()
            object.bool = number == 1
            object.int8 = -Int8(number)
            object.int16 = Int16(number)
            object.int32 = -Int32(number)
            object.int64 = .min + Int64(number)
            object.uint = .max - UInt(number)
            object.uint8 = .max - UInt8(number)
            object.uint16 = UInt16(number)
            object.uint32 = .max - UInt32(number)
            object.uint64 = .max - UInt64(number)
            object.float = Float(number) / 3
            object.double = Double(number) / 3
            object.string = String(repeating: "ü", count: number * 3_000)
            object.date = Date(timeIntervalSinceReferenceDate: Double(number))
            object.uuid = UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
            object.url = URL(filePath: "/\(number)")
            object.decimal = Decimal(number) / 3
            object.data = Data(repeating: UInt8(number), count: number * 3_000)
            object.rank = Rank.allCases[number - 1]
            object.color = Color.allCases[number - 1]
            object.place = Place(city: "\(number)")
            object.shape = .circle(radius: Double(number))
            context.insert(object)
            let other = Optionals()
            context.insert(other)
            guard number > 1 else { continue }
            other.bool = object.bool
            other.int8 = object.int8
            other.uint64 = object.uint64
            other.float = object.float
            other.string = object.string
            other.date = object.date
            other.uuid = object.uuid
            other.url = object.url
            other.decimal = object.decimal
            other.data = object.data
            other.rank = object.rank
            other.color = object.color
            other.place = object.place
            other.shape = object.shape
        }
        try context.save()
    }

    /// Finds each value of a property by rows.
    private func values<T: PersistentModel, V: Equatable & Codable & Sendable>(
        _ keyPath: any KeyPath<T, V> & Sendable, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for value in try store.context().all(T.self).map({ $0[keyPath: keyPath] }) {
            // Two branches, because a plain comparison is answered by the filter.
            let predicate = Predicate<T> { object in
                let property = PredicateExpressions.build_KeyPath(root: object, keyPath: keyPath)
                return PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_Conditional(
                        PredicateExpressions.build_Arg(true), property, property),
                    rhs: PredicateExpressions.build_Arg(value))
            }
            try check(predicate, sourceLocation: sourceLocation)
        }
    }

    @Test func `every type of attribute is read as its getter reads it`() throws {
        try insertEveryType()
        try values(\Scalars.int8)
        try values(\Scalars.int16)
        try values(\Scalars.int32)
        try values(\Scalars.int64)
        try values(\Scalars.uint)
        try values(\Scalars.uint8)
        try values(\Scalars.uint16)
        try values(\Scalars.uint32)
        try values(\Scalars.uint64)
        try values(\Scalars.float)
        try values(\Scalars.double)
        try values(\Scalars.string)
        try values(\Scalars.date)
        try values(\Scalars.uuid)
        try values(\Scalars.url)
        try values(\Scalars.decimal)
        try values(\Scalars.data)
        try values(\Scalars.rank)
        try values(\Scalars.color)
        try values(\Scalars.place)
        try values(\Scalars.shape)
    }

    @Test func `every optional type is read as its getter reads it`() throws {
        try insertEveryType()
        try values(\Optionals.bool)
        try values(\Optionals.int8)
        try values(\Optionals.uint64)
        try values(\Optionals.float)
        try values(\Optionals.string)
        try values(\Optionals.date)
        try values(\Optionals.uuid)
        try values(\Optionals.url)
        try values(\Optionals.decimal)
        try values(\Optionals.data)
        try values(\Optionals.rank)
        try values(\Optionals.color)
        try values(\Optionals.place)
        try values(\Optionals.shape)
    }
}
