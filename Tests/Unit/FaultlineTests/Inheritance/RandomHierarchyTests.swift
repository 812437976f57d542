import Faultline
import FaultlineRepair
import FaultlineStore
import FaultlineTestSupport
import Testing

/// Random operations on objects of random sets of classes, compared with a model in memory.
struct RandomHierarchyTests {
    /// An object as the model knows it.
    private struct Known: Equatable {
        var kind: Int
        var name: String
        var days = 1
        var company = ""
        var cost = 2.5
        var talk = ""
        var mood = ""
    }

    private static let kinds: [any PersistentModel.Type] = [
        Trip.self, BusinessTrip.self, ConferenceTrip.self, PrivateTrip.self,
    ]

    /// Makes an object of a kind, with the values that the model is to know.
    private static func make(_ known: Known) -> Trip {
        switch known.kind {
        case 1: BusinessTrip(name: known.name, company: known.company)
        case 2: ConferenceTrip(name: known.name, company: known.company, talk: known.talk)
        case 3: PrivateTrip(name: known.name, mood: known.mood)
        default: Trip(name: known.name)
        }
    }

    private static func known(_ trip: Trip) -> Known {
        var known = Known(kind: 0, name: trip.name, days: trip.days)
        if let trip = trip as? BusinessTrip {
            (known.kind, known.company, known.cost) = (1, trip.company, trip.cost)
        }
        if let trip = trip as? ConferenceTrip { (known.kind, known.talk) = (2, trip.talk) }
        if let trip = trip as? PrivateTrip { (known.kind, known.mood) = (3, trip.mood) }
        return known
    }

    /// Changes an object and its entry in the model alike.
    private static func change(_ trip: Trip, _ known: inout Known, _ random: inout Seed) {
        let number = random.below(50)
        switch (random.below(4), known.kind) {
        case (0, _): (trip.days, known.days) = (number, number)
        case (1, _):
            trip.name += "+"
            known.name += "+"
        case (2, 2):
            (trip as? ConferenceTrip)?.talk = "v\(number)"
            known.talk = "v\(number)"
        case (_, 1), (_, 2):
            (trip as? BusinessTrip)?.company = "v\(number)"
            (trip as? BusinessTrip)?.cost = Double(number)
            (known.company, known.cost) = ("v\(number)", Double(number))
        case (_, 3):
            (trip as? PrivateTrip)?.mood = "v\(number)"
            known.mood = "v\(number)"
        default: (trip.note, trip.note) = ("note", nil)
        }
    }

    /// The name that an object had at first.
    private static func key(_ trip: Trip) -> String { String(trip.name.prefix { $0 != "+" }) }

    /// Compares the results of fetches of all classes with the model.
    private static func compare(_ context: ModelContext, _ model: [Known], _ count: Int) throws {
        func sorted(_ all: [Known]) -> [Known] { all.sorted { ($0.name, $0.kind) < ($1.name, $1.kind) } }
        #expect(sorted(try context.fetch(FetchDescriptor<Trip>()).map(known)) == sorted(model))
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == model.count)
        #expect(
            try context.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0.days < 4 }))
                == model.count { $0.days < 4 })
        guard count > 1 else { return }
        let business = model.filter { $0.kind == 1 || $0.kind == 2 }
        #expect(sorted(try context.fetch(FetchDescriptor<BusinessTrip>()).map(known)) == sorted(business))
        #expect(
            try context.fetchCount(FetchDescriptor<BusinessTrip>(predicate: #Predicate { $0.cost > 20 }))
                == business.count { $0.cost > 20 })
        #expect(
            try context.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { !($0 is BusinessTrip) }))
                == model.count - business.count)
        guard count > 3 else { return }
        #expect(
            sorted(try context.fetch(FetchDescriptor<PrivateTrip>()).map(known))
                == sorted(model.filter { $0.kind == 3 }))
    }

    @Test(arguments: 1...UInt64(60))
    func `random operations agree with a model`(seed: UInt64) throws {
        var random = Seed(seed)
        let count = [1, 2, 3, 4, 4][random.below(5)]
        let folder = TemporaryDirectory()
        let configuration = ModelConfiguration(url: URL(filePath: "\(folder.path)/test.store"))
        func open() throws -> ModelContainer {
            try ModelContainer(for: Schema(Array(Self.kinds.prefix(count))), configurations: [configuration])
        }
        var container = try open()
        var context = ModelContext(container)
        var (saved, model): ([String: Known], [String: Known]) = ([:], [:])
        var next = 0
        for _ in 0..<40 {
            let all = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
            switch random.below(10) {
            case 0...3:
                next += 1
                var known = Known(kind: random.below(count), name: "n\(next)")
                if known.kind == 1 || known.kind == 2 { known.company = "c\(next)" }
                if known.kind == 2 { known.talk = "t\(next)" }
                if known.kind == 3 { known.mood = "m\(next)" }
                context.insert(Self.make(known))
                model[known.name] = known
            case 4, 5:
                guard let trip = all.randomElement(using: &random), var known = model[Self.key(trip)] else { break }
                Self.change(trip, &known, &random)
                model[Self.key(trip)] = known
            case 6:
                guard let trip = all.randomElement(using: &random) else { break }
                model[Self.key(trip)] = nil
                context.delete(trip)
            case 7:
                context.rollback()
                model = saved
            default:
                try context.save()
                saved = model
                if random.below(4) == 0 {
                    try container.close()
                    container = try open()
                    context = ModelContext(container)
                } else if random.below(2) == 0 {
                    context = ModelContext(container)
                }
            }
            try Self.compare(context, Array(model.values), count)
        }
        try context.save()
        try Self.compare(ModelContext(container), Array(model.values), count)
        var findings: [String] = []
        try container.rowStore.log.verify({ findings.append("\($0)") }, progress: { _, _ in })
        #expect(findings.isEmpty)
        try container.close()
    }
}
