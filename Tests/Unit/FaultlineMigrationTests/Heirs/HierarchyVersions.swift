import Faultline

/// A root class with one subclass.
enum Travel1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(1, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }

    static func fill(_ context: ModelContext) throws {
        for number in 1...3 {
            context.insert(Trip(name: "t\(number)"))
            context.insert(BusinessTrip(name: "b\(number)", company: "c\(number)"))
        }
        try context.save()
    }
}

/// The root class has another property, and one is renamed.
enum Travel2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(2, 0, 0)

    @Model class Trip {
        @Attribute(originalName: "name") var title: String
        var days: Int = 7
        init(title: String) { self.title = title }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(title: String, company: String) {
            self.company = company
            super.init(title: title)
        }
    }
}

/// There is another subclass.
enum Travel3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self, PrivateTrip.self] }
    static let versionIdentifier = Schema.Version(3, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }

    @Model class PrivateTrip: Trip {
        var mood: String = "good"
        override init(name: String) { super.init(name: name) }
    }
}

/// A property of the subclass is optional.
enum Travel6: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(6, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String?
        override init(name: String) { super.init(name: name) }
    }
}

/// There is no subclass.
enum Travel4: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self] }
    static let versionIdentifier = Schema.Version(4, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// The subclass is a root class.
enum Travel5: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(5, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip {
        var name: String
        var company: String
        init(name: String, company: String) {
            self.name = name
            self.company = company
        }
    }
}

/// A class between two others, which are renamed with a property.
enum Travel7: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, ManagedTrip.self, WorkTrip.self] }
    static let versionIdentifier = Schema.Version(7, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class ManagedTrip: Trip {
        var approval: String?
        var stars: Int = 3
        override init(name: String) { super.init(name: name) }
    }

    @Model(originalName: "BusinessTrip") final class WorkTrip: ManagedTrip {
        @Attribute(originalName: "company") var firm: String
        init(name: String, firm: String) {
            self.firm = firm
            super.init(name: name)
        }
    }
}

/// The subclass's property belongs to the root class.
enum Travel8: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(8, 0, 0)

    @Model class Trip {
        var name: String
        var company: String = "none"
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        override init(name: String) { super.init(name: name) }
    }
}

/// There is a class above the root class.
enum Travel9: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Journey.self, Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(9, 0, 0)

    @Model class Journey {
        var kind: String?
        init(kind: String?) { self.kind = kind }
    }

    @Model class Trip: Journey {
        var name: String
        init(name: String) {
            self.name = name
            super.init(kind: nil)
        }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }
}

/// The subclass requires another property.
enum Travel10: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(10, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        var city: String
        init(name: String, company: String, city: String) {
            self.company = company
            self.city = city
            super.init(name: name)
        }
    }
}

/// The property of the subclass belongs to its sister too.
enum Travel11: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self, PrivateTrip.self] }
    static let versionIdentifier = Schema.Version(11, 0, 0)

    @Model class Trip {
        var name: String
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }

    @Model class PrivateTrip: Trip {
        var mood: String = "good"
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }
}

/// The property of the root class belongs to the subclass.
enum Travel12: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self] }
    static let versionIdentifier = Schema.Version(12, 0, 0)

    @Model class Trip {
        var name: String
        var number: Int?
        init(name: String) { self.name = name }
    }

    @Model class BusinessTrip: Trip {
        var company: String
        init(name: String, company: String) {
            self.company = company
            super.init(name: name)
        }
    }
}
