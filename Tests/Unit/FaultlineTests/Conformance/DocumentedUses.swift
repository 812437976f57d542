import Faultline
import Foundation
import Observation
import Testing

// MARK: Preserving model data, and relationships with enumerations and model classes

enum TripKind: String, Codable, CaseIterable {
    case work, leisure
}

struct Coordinate: Codable, Hashable {
    var latitude: Double
    var longitude: Double
}

@Model class Journey {
    #Index<Journey>([\.name], [\.startDate, \.endDate])
    #Unique<Journey>([\.name, \.startDate])

    @Attribute(.preserveValueOnDeletion) var name: String
    var startDate: Date
    var endDate: Date
    var kind: TripKind = TripKind.leisure
    @Attribute(.externalStorage) var photo: Data?
    @Attribute(originalName: "place") var destination: Coordinate?
    @Transient var isSelected = false
    @Relationship(deleteRule: .cascade, inverse: \Lodging.journey) var lodging: Lodging?
    @Relationship(deleteRule: .cascade, inverse: \Activity.journey) var activities: [Activity] = []

    init(name: String, startDate: Date = .now, endDate: Date = .distantFuture) {
        self.name = name
        self.startDate = startDate
        self.endDate = endDate
    }
}

@Model final class Lodging {
    var address: String
    var journey: Journey?

    init(address: String, journey: Journey? = nil) {
        self.address = address
        self.journey = journey
    }
}

@Model final class Activity {
    @Attribute(.unique) var title: String
    var minutes: Int
    var journey: Journey?

    init(title: String, minutes: Int) {
        self.title = title
        self.minutes = minutes
    }
}

// MARK: Adopting inheritance

@available(macOS 26, iOS 26, *)
@Model final class OfficialJourney: Journey {
    var purpose: String
    var expense: Double = 0.0

    init(name: String, purpose: String) {
        self.purpose = purpose
        super.init(name: name)
    }
}

// MARK: Maintaining a local copy of server data

struct ServerActivities: Decodable {
    struct Entry: Decodable {
        let title: String
        let minutes: Int
    }

    let entries: [Entry]
}

extension Activity {
    convenience init(_ entry: ServerActivities.Entry) { self.init(title: entry.title, minutes: entry.minutes) }
}

@ModelActor actor ServerCopy {
    func refresh(_ json: Data) throws -> Int {
        let activities = try JSONDecoder().decode(ServerActivities.self, from: json)
        for entry in activities.entries { modelContext.insert(Activity(entry)) }
        try modelContext.save()
        return try modelContext.fetchCount(FetchDescriptor<Activity>())
    }

    func title(of identifier: PersistentIdentifier) -> String? { self[identifier, as: Activity.self]?.title }
}

// MARK: Migrations

enum JourneysV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model final class Note {
        var text: String
        init(text: String) { self.text = text }
    }
}

enum JourneysV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model final class Note {
        @Attribute(.unique) var text: String
        var isDone: Bool = false
        init(text: String) { self.text = text }
    }
}

enum JourneysPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [JourneysV1.self, JourneysV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: JourneysV1.self, toVersion: JourneysV2.self,
                willMigrate: { context in
                    var texts = Set<String>()
                    for note in try context.fetch(FetchDescriptor<JourneysV1.Note>())
                    where !texts.insert(note.text).inserted {
                        context.delete(note)
                    }
                    try context.save()
                },
                didMigrate: { context in
                    for note in try context.fetch(FetchDescriptor<JourneysV2.Note>()) { note.isDone = true }
                    try context.save()
                })
        ]
    }
}

// Safe because the saves and the counts of a test are on one thread.
/// Counts notifications.
private final class Saves: @unchecked Sendable {
    private(set) var count = 0
    func note(_ hasInserts: Bool) { count += hasInserts ? 1 : 0 }
}

/// The calls that the pages of SwiftData's documentation are about: in Swift 6 mode, and in Swift 5 mode in another
/// target.
@MainActor @Suite struct DocumentedUses {
    private let container: ModelContainer

    init() throws {
        let schema = Schema([Journey.self, OfficialJourney.self, Lodging.self, Activity.self])
        let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true, allowsSave: true)
        container = try ModelContainer(for: schema, configurations: [configuration])
    }

    @Test func addingEditingAndDeleting() throws {
        let context = container.mainContext
        context.autosaveEnabled = false
        let journey = Journey(name: "Alps")
        context.insert(journey)
        journey.lodging = Lodging(address: "Hut")
        journey.activities.append(Activity(title: "Climb", minutes: 90))
        journey.destination = Coordinate(latitude: 46, longitude: 8)
        #expect(context.hasChanges && context.insertedModelsArray.count == 3)
        try context.save()
        journey.kind = .work
        #expect(context.changedModelsArray.contains { $0.persistentModelID == journey.persistentModelID })
        context.rollback()
        #expect(journey.kind == .leisure)
        try context.transaction {
            journey.name = "The Alps"
            context.delete(journey.activities[0])
        }
        #expect(try context.fetchCount(FetchDescriptor<Activity>()) == 0)
        try context.delete(model: Journey.self, where: #Predicate { $0.name.contains("Alps") })
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Lodging>()).isEmpty)
    }

    @Test func filteringAndSorting() throws {
        let context = ModelContext(container)
        let now = Date.now
        for number in 1...9 {
            let journey = Journey(name: "Journey \(number)", startDate: now.addingTimeInterval(Double(number) * 86_400))
            journey.lodging = number > 3 ? Lodging(address: "Street \(number)") : nil
            context.insert(journey)
        }
        try context.save()
        let text = "journey"
        let later = now.addingTimeInterval(4 * 86_400)
        let predicate = #Predicate<Journey> { journey in
            journey.name.localizedStandardContains(text) && journey.startDate > later && journey.lodging != nil
        }
        var descriptor = FetchDescriptor<Journey>(
            predicate: predicate, sortBy: [SortDescriptor(\.startDate, order: .reverse), SortDescriptor(\.name)])
        descriptor.fetchLimit = 3
        descriptor.relationshipKeyPathsForPrefetching = [\.lodging]
        descriptor.propertiesToFetch = [\.name]
        #expect(try context.fetch(descriptor).map(\.name) == ["Journey 9", "Journey 8", "Journey 7"])
        #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 5)
        let weight = #Expression<Journey, Int> { journey in
            journey.activities.filter { $0.minutes > 60 }.count
        }
        let busy = #Predicate<Journey> { journey in weight.evaluate(journey) > 0 }
        #expect(try context.fetchCount(FetchDescriptor(predicate: busy)) == 0)
        var count = 0
        try context.enumerate(FetchDescriptor<Journey>(), batchSize: 4) { _ in count += 1 }
        #expect(count == 9)
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Journey>(), batchSize: 5)
        let first = try #require(identifiers.first)
        let model = context.model(for: first)
        #expect((context.registeredModel(for: first) as Journey?) === (model as? Journey) && model is Journey)
    }

    @Test func revertingWithTheUndoManager() throws {
        let context = container.mainContext
        context.undoManager = UndoManager()
        let journey = Journey(name: "First")
        context.insert(journey)
        context.processPendingChanges()
        journey.name = "Second"
        context.processPendingChanges()
        context.undoManager?.undo()
        #expect(journey.name == "First")
        context.undoManager?.redo()
        #expect(journey.name == "Second")
    }

    @Test func historyOfChanges() throws {
        let context = ModelContext(container)
        context.author = "importer"
        let journey = Journey(name: "Rome")
        context.insert(journey)
        try context.save()
        journey.name = "Naples"
        try context.save()
        context.delete(journey)
        try context.save()
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        descriptor.predicate = #Predicate { $0.author == "importer" }
        let transactions = try context.fetchHistory(descriptor)
        var seen: [String] = []
        for change in transactions.flatMap(\.changes) {
            switch change {
            case .insert(let insert as DefaultHistoryInsert<Journey>):
                seen.append("\(insert.changedPersistentIdentifier.entityName)")
            case .update(let update as DefaultHistoryUpdate<Journey>):
                seen.append(update.updatedAttributes.contains(\.name) ? "name" : "other")
            case .delete(let delete as DefaultHistoryDelete<Journey>):
                seen.append(delete.tombstone[\.name] as? String ?? "nothing")
            default: seen.append("more")
            }
        }
        #expect(seen == ["Journey", "name", "Naples"])
        let token = try #require(transactions.first?.token)
        let decoded = try JSONDecoder().decode(
            DefaultHistoryToken.self, from: try JSONEncoder().encode(token))
        descriptor.predicate = #Predicate { $0.token > decoded && $0.author == "importer" }
        #expect(try context.fetchHistory(descriptor).count == 2)
        try context.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= token }))
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(descriptor) }
    }

    @Test func inheritance() throws {
        guard #available(macOS 26, iOS 26, *) else { return }
        let context = ModelContext(container)
        context.insert(Journey(name: "Beach"))
        context.insert(OfficialJourney(name: "Fair", purpose: "Sales"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Journey>()) == 2)
        let official = #Predicate<Journey> { $0 is OfficialJourney }
        #expect(try context.fetch(FetchDescriptor(predicate: official)).map(\.name) == ["Fair"])
        let sales = #Predicate<Journey> { journey in
            if let official = journey as? OfficialJourney { official.purpose == "Sales" } else { false }
        }
        #expect(try context.fetchCount(FetchDescriptor(predicate: sales)) == 1)
    }

    @Test func aLocalCopyOfServerData() async throws {
        let copy = ServerCopy(modelContainer: container)
        let json = Data(#"{"entries":[{"title":"Swim","minutes":30},{"title":"Run","minutes":20}]}"#.utf8)
        #expect(try await copy.refresh(json) == 2)
        #expect(try await copy.refresh(json) == 2)
        let context = ModelContext(container)
        let run = try #require(try context.fetch(FetchDescriptor<Activity>(sortBy: [SortDescriptor(\.title)])).first)
        #expect(await copy.title(of: run.persistentModelID) == "Run")
    }

    @Test func aMigrationPlan() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "uses-\(UUID()).store")
        defer { try? FileManager.default.removeItem(at: url) }
        do {
            let old = try ModelContainer(
                for: Schema(versionedSchema: JourneysV1.self), configurations: [ModelConfiguration(url: url)])
            let context = ModelContext(old)
            for text in ["a", "b", "a"] { context.insert(JourneysV1.Note(text: text)) }
            try context.save()
            try old.close()
        }
        let container = try ModelContainer(
            for: JourneysV2.Note.self, migrationPlan: JourneysPlan.self, configurations: ModelConfiguration(url: url))
        let notes = try ModelContext(container).fetch(
            FetchDescriptor<JourneysV2.Note>(sortBy: [SortDescriptor(\.text)]))
        #expect(notes.map(\.text) == ["a", "b"] && notes.allSatisfy(\.isDone))
        try container.close()
    }

    @Test func observingResults() async throws {
        let context = container.mainContext
        context.insert(Journey(name: "One"))
        try context.save()
        let observer = try ResultsObserver<Journey, Never>(
            fetchDescriptor: FetchDescriptor(sortBy: [SortDescriptor(\.name)]), modelContext: context)
        #expect(observer.results.map(\.name) == ["One"])
        let saves = Saves()
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
            saves.note($0.userInfo?[ModelContext.NotificationKey.insertedIdentifiers.rawValue] != nil)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        context.insert(Journey(name: "Two"))
        try context.save()
        for _ in 0..<2_000 where observer.results.count < 2 { try await _Concurrency.Task.sleep(for: .milliseconds(5)) }
        #expect(saves.count == 1 && observer.results.map(\.name) == ["One", "Two"])
    }
}
