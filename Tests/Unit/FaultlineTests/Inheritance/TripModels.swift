import Faultline

/// The root of a hierarchy of three levels.
@Model class Trip {
    #Index<Trip>([\.name])
    var name: String
    var days: Int = 1
    var note: String?
    var traveller: Traveller?
    @Attribute(.unique) var code: String?

    init(name: String, days: Int = 1, traveller: Traveller? = nil) {
        self.name = name
        self.days = days
        self.traveller = traveller
    }

    var summary: String { "\(name), \(days)" }
}

@Model class BusinessTrip: Trip {
    #Unique<BusinessTrip>([\.note])
    #Index<BusinessTrip>([\.company, \.name])
    var company: String
    var cost: Double = 2.5
    var agency: Agency?
    @Attribute(.preserveValueOnDeletion) var ticket: String?
    @Attribute(.ephemeral) var draft: String = "none"
    @Attribute(.externalStorage) var receipt: Data?
    @Relationship(minimumModelCount: 0, maximumModelCount: 2) var colleagues: [Traveller] = []

    init(name: String, company: String, agency: Agency? = nil, traveller: Traveller? = nil) {
        self.company = company
        self.agency = agency
        super.init(name: name, traveller: traveller)
    }

    override var summary: String { "\(super.summary), \(company)" }
}

@Model final class ConferenceTrip: BusinessTrip {
    var talk: String
    @Relationship(deleteRule: .cascade) var slides: [Slide] = []

    init(name: String, company: String, talk: String) {
        self.talk = talk
        super.init(name: name, company: company)
    }
}

@Model final class PrivateTrip: Trip {
    /// Declared otherwise than that of `BusinessTrip`.
    var cost: Int = 0
    var mood: String
    @Transient var scratch = 7

    init(name: String, mood: String = "good") {
        self.mood = mood
        super.init(name: name)
    }
}

@Model final class Traveller {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Trip.traveller) var trips: [Trip] = []
    var favourite: BusinessTrip?

    init(_ name: String) { self.name = name }
}

@Model final class Agency {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \BusinessTrip.agency) var bookings: [BusinessTrip] = []

    init(_ name: String) { self.name = name }
}

@Model final class Slide {
    var text: String
    var conference: ConferenceTrip?

    init(_ text: String) { self.text = text }
}

extension TestStore {
    static func ofTrips() throws -> TestStore {
        try TestStore(Trip.self, BusinessTrip.self, ConferenceTrip.self, PrivateTrip.self, Traveller.self)
    }

    /// A store with two trips of each class.
    static func withTrips() throws -> TestStore {
        let store = try ofTrips()
        let context = store.context()
        for number in 1...2 {
            context.insert(Trip(name: "plain \(number)", days: number))
            context.insert(BusinessTrip(name: "business \(number)", company: "Company \(number)"))
            context.insert(ConferenceTrip(name: "conference \(number)", company: "Company 3", talk: "Talk \(number)"))
            context.insert(PrivateTrip(name: "private \(number)", mood: "mood \(number)"))
        }
        try context.save()
        return store
    }
}
