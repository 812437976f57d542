import Faultline

// Versions: models in extensions of their schema, a type alias for the newest, a plan of lightweight stages.

typealias Trip = TravelSchemaV3.Trip
typealias Stop = TravelSchemaV3.Stop

enum TravelSchemaV1: VersionedSchema {
    static var versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Trip.self] }
}

extension TravelSchemaV1 {
    @Model
    final class Trip {
        var name: String
        var destination: String
        var startDate: Date
        var endDate: Date

        init(name: String, destination: String, startDate: Date, endDate: Date) {
            self.name = name
            self.destination = destination
            self.startDate = startDate
            self.endDate = endDate
        }
    }
}

/// Adds attributes with and without a default.
enum TravelSchemaV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Trip.self] }

    @Model
    final class Trip {
        var name: String
        var destination: String
        var startDate: Date
        var endDate: Date
        var isFavourite: Bool = false
        var notes: String?

        init(name: String, destination: String, startDate: Date, endDate: Date) {
            self.name = name
            self.destination = destination
            self.startDate = startDate
            self.endDate = endDate
        }
    }
}

/// Renames an attribute, adds an entity and a relationship to it.
enum TravelSchemaV3: VersionedSchema {
    static var versionIdentifier: Schema.Version { .init(3, 0, 0) }
    static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }

    @Model
    final class Trip {
        @Attribute(originalName: "name") var title: String
        var destination: String
        var startDate: Date
        var endDate: Date
        var isFavourite: Bool = false
        var notes: String?
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

        init(title: String, destination: String, startDate: Date, endDate: Date) {
            self.title = title
            self.destination = destination
            self.startDate = startDate
            self.endDate = endDate
        }
    }

    @Model
    final class Stop {
        var place: String
        var trip: Trip?

        init(place: String) {
            self.place = place
        }
    }
}

enum TravelMigrationPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [TravelSchemaV1.self, TravelSchemaV2.self, TravelSchemaV3.self]
    }

    static var stages: [MigrationStage] { [v1ToV2, v2ToV3] }

    static let v1ToV2 = MigrationStage.lightweight(fromVersion: TravelSchemaV1.self, toVersion: TravelSchemaV2.self)
    static let v2ToV3 = MigrationStage.lightweight(fromVersion: TravelSchemaV2.self, toVersion: TravelSchemaV3.self)
}
