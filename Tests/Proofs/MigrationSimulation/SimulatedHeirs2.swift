package import Faultline
internal import Foundation

/// The target: a class is put in above business trips, the mood belongs to all trips, and names are indexed.
package enum SimulatedHeirs2: VersionedSchema {
    package static var models: [any PersistentModel.Type] {
        [Trip.self, ManagedTrip.self, BusinessTrip.self, PrivateTrip.self, Traveller.self, Town.self]
    }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 3, 0) }

    @Model package class Trip {
        #Index<Trip>([\.number], [\.name, \.number])
        var number: Int
        var name: String
        var code: Int?
        @Attribute(.externalStorage) var photo: Data?
        var traveller: Traveller?
        var mood: String = "none"
        init(number: Int) {
            self.number = number
            name = "trip \(number)"
        }
    }

    @Model package class ManagedTrip: Trip {
        var approval: String?
        var stars: Int = 3
        override init(number: Int) { super.init(number: number) }
    }

    @Model package final class BusinessTrip: ManagedTrip {
        #Unique<BusinessTrip>([\.code])
        #Index<BusinessTrip>([\.company])
        var company: String
        init(number: Int, company: String) {
            self.company = company
            super.init(number: number)
        }
    }

    @Model package final class PrivateTrip: Trip {
        override init(number: Int) { super.init(number: number) }
    }

    @Model package final class Traveller {
        var number: Int
        @Relationship(inverse: \Trip.traveller) var trips: [Trip] = []
        init(number: Int) { self.number = number }
    }

    /// Distinguishes the new state from the old one.
    @Model package final class Town {
        var name: String
        init(name: String) { self.name = name }
    }
}
