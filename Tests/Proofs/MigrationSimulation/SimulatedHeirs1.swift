package import Faultline
internal import Foundation

/// A hierarchy of classes from which a lightweight migration starts.
package enum SimulatedHeirs1: VersionedSchema {
    package static var models: [any PersistentModel.Type] {
        [Trip.self, BusinessTrip.self, PrivateTrip.self, Traveller.self]
    }
    package static var versionIdentifier: Schema.Version { Schema.Version(1, 3, 0) }

    @Model package class Trip {
        #Index<Trip>([\.number])
        var number: Int
        var name: String
        var code: Int?
        @Attribute(.externalStorage) var photo: Data?
        var traveller: Traveller?
        init(number: Int) {
            self.number = number
            name = "trip \(number)"
        }
    }

    @Model package final class BusinessTrip: Trip {
        #Unique<BusinessTrip>([\.code])
        var company: String
        init(number: Int, company: String) {
            self.company = company
            super.init(number: number)
        }
    }

    @Model package final class PrivateTrip: Trip {
        var mood: String
        init(number: Int, mood: String) {
            self.mood = mood
            super.init(number: number)
        }
    }

    @Model package final class Traveller {
        var number: Int
        @Relationship(inverse: \Trip.traveller) var trips: [Trip] = []
        init(number: Int) { self.number = number }
    }
}
