import FaultlineCoreData
import FaultlineTestSupport
import Testing

/// Policies and plans as they are published for Core Data and SwiftData: only their import was changed.
struct FoundingSourceTests {
    // MARK: A photo moves into an entity of its own

    private static let employeeCount = 2_000
    /// 4 MiB for a list of 5,000 names.
    private static let listByteCountMax = (4 << 20) * employeeCount / 5_000

    /// Every tenth employee has none, every fiftieth one of 100 KiB, and the others one that stands in the row.
    private static func photo(_ number: Int) -> Data? {
        if number % 10 == 3 { return nil }
        let byteCount = number % 50 == 0 ? 100 << 10 : 2_000
        return Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
    }

    private static func name(_ number: Int) -> String { "employee \(number + 10_000)" }

    /// Bytes that the engine takes to list all names.
    private static func listing(_ container: ModelContainer) throws -> (byteCount: Int, blobBytesRead: Int) {
        let context = ModelContext(container)
        let before = container.counters.cacheBytes
        let names = try context.all("Employee").compactMap { $0.value(forKey: "name") as? String }
        #expect(names.sorted() == (0..<employeeCount).map(name))
        return (container.counters.cacheBytes - before, context.counters.blobBytesRead)
    }

    @Test func `a policy moves a photo into an entity of its own`() throws {
        let place = StorePlace()
        try place.use(CompanyModel.withPhotos) { _, context in
            let departments = (0..<3).map { context.make("Department", ["title": "department \($0)"]) }
            for number in 0..<Self.employeeCount {
                context.make(
                    "Employee",
                    [
                        "name": Self.name(number), "salary": 1_000.5 + Double(number),
                        "photo": Self.photo(number) as Any? ?? NSNull(), "department": departments[number % 3],
                    ])
            }
            try context.save()
        }
        let before = try place.use(CompanyModel.withPhotos) { container, _ in try Self.listing(container) }
        let mapping = NSMappingModel(
            NSEntityMapping(from: "Employee", to: "Employee", policy: SplitPhotoPolicy.self),
            NSEntityMapping(from: "Department", to: "Department"))
        try place.use(CompanyModel.withProfiles, mapping: mapping) { _, _ in }

        let after = try place.use(CompanyModel.withProfiles) { container, _ in try Self.listing(container) }
        #expect(before.byteCount > Self.listByteCountMax, "\(before)")
        #expect(after.byteCount <= Self.listByteCountMax && after.blobBytesRead == 0, "\(after)")
        try place.use(CompanyModel.withProfiles) { _, context in
            for object in try context.all("Employee") {
                let number = try #require(Int((object.value(forKey: "name") as? String ?? "").dropFirst(9))) - 10_000
                #expect(object.value(forKeyPath: "profile.photo") as? Data == Self.photo(number))
                #expect(object.value(forKey: "salary") as? Double == 1_000.5 + Double(number))
                #expect(object.value(forKeyPath: "department.title") as? String == "department \(number % 3)")
            }
            try #expect(context.all("Photo").count == Self.employeeCount * 9 / 10)
        }
    }

    // MARK: Values that are derived

    private static let day = 86_400.0

    private func makeEvents(in place: StorePlace) throws {
        try place.use(CalendarModel.withDates) { _, context in
            for number in 0..<3 {
                let stamp = Date(timeIntervalSince1970: (32 * Double(number) + 0.5) * Self.day)
                context.make("Event", ["timeStamp": stamp])
            }
            try context.save()
        }
    }

    private func mapping(_ policy: NSEntityMigrationPolicy.Type) -> NSMappingModel {
        NSMappingModel(NSEntityMapping(from: "Event", to: "Event", policy: policy))
    }

    @Test func `a policy without super derives a day and a month`() throws {
        let place = StorePlace()
        try makeEvents(in: place)
        try place.use(CalendarModel.withParts, mapping: mapping(DatePartsPolicy.self)) { _, context in
            let events = try context.all("Event").sorted {
                ($0.value(forKey: "month") as? Int ?? 0) < ($1.value(forKey: "month") as? Int ?? 0)
            }
            #expect(events.map { $0.value(forKey: "month") as? Int16 } == [1, 2, 3])
            let stamps = events.compactMap { $0.value(forKey: "timeStamp") as? Date }
            let days = stamps.map { Calendar(identifier: .gregorian).component(.day, from: $0) }
            #expect(events.map { $0.value(forKey: "day") as? Int } == days)
            #expect(events.allSatisfy { $0.value(forKey: "memo") as? String == "Good morning!" })
        }
    }

    @Test(arguments: [true, false]) func `the seven calls come in their order`(_ associates: Bool) throws {
        let place = StorePlace()
        try makeEvents(in: place)
        let calls = SevenCalls(associates: associates)
        try SevenCalls.$current.withValue(calls) {
            try place.use(CalendarModel.withParts, mapping: mapping(SevenCallsPolicy.self)) { _, context in
                try #expect(context.all("Event").count == 3)
            }
        }
        // As in Core Data, an object that was not associated is not visited by the second pass.
        let relating = associates ? ["relate", "relate", "relate"] : []
        #expect(
            calls.all == ["begin", "create", "create", "create", "endCreation"] + relating
                + ["endRelation", "validate 3", "end"])
    }

    // MARK: Entities that are restructured

    @Test func `a plan keeps objects in a static variable`() throws {
        let place = StorePlace()
        try place.use(Schema(versionedSchema: NotesV1.self)) { _, context in
            for number in 0..<20 { context.insert(NotesV1.Wine(name: "wine \(number)", grapes: ["a", "\(number)"])) }
            try context.save()
        }
        try place.use(Schema(versionedSchema: NotesV2.self), plan: NotesPlan.self) { _, context in
            let notes = try context.fetch(FetchDescriptor<NotesV2.WineNote>(sortBy: [SortDescriptor(\.title)]))
            #expect(notes.count == 20)
            #expect(notes.map(\.title) == (0..<20).map { "wine \($0)" }.sorted())
            #expect(notes.allSatisfy { $0.parts.names == ["a", String($0.title.dropFirst(5))] })
        }
    }

    @Test func `four kinds become four others of one protocol`() throws {
        let place = StorePlace()
        try place.use(Schema(versionedSchema: NotesV1.self)) { _, context in
            context.insert(NotesV1.Wine(name: "Rosso", grapes: ["Sangiovese"]))
            context.insert(NotesV1.Beer(name: "Helles", hops: ["Hersbrucker"]))
            context.insert(NotesV1.Coffee(name: "Espresso", beans: ["Arabica", "Robusta"]))
            context.insert(NotesV1.Tea(name: "Assam", leaves: []))
            try context.save()
        }
        try place.use(Schema(versionedSchema: NotesV2.self), plan: FourNotesPlan.self) { _, context in
            var notes: [any DrinkNote] = try context.fetch(FetchDescriptor<NotesV2.WineNote>())
            notes += try context.fetch(FetchDescriptor<NotesV2.BeerNote>())
            notes += try context.fetch(FetchDescriptor<NotesV2.CoffeeNote>())
            notes += try context.fetch(FetchDescriptor<NotesV2.TeaNote>())
            #expect(notes.map(\.title) == ["Rosso", "Helles", "Espresso", "Assam"])
            #expect(notes.map(\.parts.kind) == ["grapes", "hops", "beans", "leaves"])
            #expect(notes.map(\.parts.names) == [["Sangiovese"], ["Hersbrucker"], ["Arabica", "Robusta"], []])
        }
    }

    @Test func `new objects in the context of the old version stop the migration, printed or not`() throws {
        let place = StorePlace()
        let old = Schema(versionedSchema: NotesV1.self)
        try place.use(old) { _, context in
            context.insert(NotesV1.Wine(name: "Rosso", grapes: ["Sangiovese"]))
            try context.save()
        }
        let error = #expect(throws: MigrationError.self) {
            try place.use(Schema(versionedSchema: NotesV2.self), plan: FirstNotesPlan.self) { _, _ in }
        }
        #expect(error?.code == .stageFailed && error?.stage == "1.0.0 → 2.0.0")
        let cause = String(describing: error?.cause)
        #expect(cause.contains("WineNote"))
        try place.use(old) { _, context in
            let wines = try context.fetch(FetchDescriptor<NotesV1.Wine>())
            #expect(wines.map(\.name) == ["Rosso"] && wines.map(\.grapes) == [["Sangiovese"]])
        }
    }
}
