// snippet
#if canImport(SwiftData)
import SwiftData
#else
import Faultline
#endif
// end
import Testing

enum TripModels {
    @Model final class Trip {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
        init(name: String) { self.name = name }
    }

    @Model final class Stop {
        var city: String
        @Attribute(.externalStorage) var photo: Data?
        var trip: Trip?
        init(city: String) { self.city = city }
    }
}

enum TripPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [TripVersion.self] }
    static var stages: [MigrationStage] { [] }
}

enum TripVersion: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [TripModels.Trip.self, TripModels.Stop.self] }
}

/// The code of From SwiftData.
@Suite struct FromSwiftDataGuide {
    private typealias Trip = TripModels.Trip
    private typealias Stop = TripModels.Stop
    private let place = GuidePlace()

    // swift-format-ignore
    private func URL(filePath path: String) -> Foundation.URL { place.url(path) }

    @Test func `From SwiftData: the stack`() async throws {
        // snippet
        let configuration = ModelConfiguration(url: URL(filePath: "/var/lib/trips.store"))
        let container = try ModelContainer(
            for: Trip.self, migrationPlan: TripPlan.self, configurations: configuration)
        let context = ModelContext(container)
        context.insert(Trip(name: "Norway"))
        try context.save()
        // end
        // snippet
        let trip = try #require(try context.fetch(FetchDescriptor<Trip>()).first)
        trip.stops.append(Stop(city: "Oslo"))  // costs the same among ten stops and among 100,000
        print(trip.relationship(\.stops).count)  // counts without making an object
        trip.stops.first?.photo = Data(count: 1 << 20)  // stored outside of the row at any size
        try context.save()
        // end
        #expect(trip.relationship(\.stops).count == 1)
        // snippet
        let names = try await container.perform { context in
            try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        }
        // end
        #expect(names == ["Norway"])
    }

    @Test func `From SwiftData: identifiers and deleted objects`() throws {
        let container = try ModelContainer(
            for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let norway = Trip(name: "Norway")
        context.insert(norway)
        try context.save()
        let encoded = try JSONEncoder().encode(norway.persistentModelID)
        // snippet
        let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: encoded)
        guard let trip = try context.existing(identifier, as: Trip.self) else { return }
        context.delete(trip)
        try context.save()
        print(trip.name)  // the last value; SwiftData ends the process here
        // end
        #expect(trip.name == "Norway" && trip.isDeleted)
        #expect(try context.existing(identifier, as: Trip.self) == nil)
    }

    @Test func `From SwiftData: errors of getters`() throws {
        // snippet
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
        let context = ModelContext(try ModelContainer(for: Trip.self, configurations: configuration))
        context.errorHandler = { error in print("a getter or a setter failed: \(error)") }
        // end
        #expect(context.errorHandler != nil)
    }
}
