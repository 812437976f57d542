import Faultline
import Foundation

enum Mood: String, Codable, Sendable { case calm, rough }

struct Berth: Codable, Hashable, Sendable {
    var deck: Int
    var name: String?
}

@Model final class Voyage {
    #Unique<Voyage>([\.code])
    var code: String
    @Attribute(.spotlight) var title: String
    var begins: Date
    var cost: Decimal
    var mood: Mood
    var berth: Berth
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(deleteRule: .cascade, inverse: \Leg.voyage) var legs: [Leg] = []
    @Relationship(inverse: \Pennant.voyages) var tags: [Pennant] = []

    init(_ code: String, title: String = "", cost: Decimal = 0) {
        self.code = code
        self.title = title
        begins = Date(timeIntervalSinceReferenceDate: 1)
        self.cost = cost
        mood = .calm
        berth = Berth(deck: 1, name: nil)
    }
}

@Model final class Leg {
    var place: String
    var voyage: Voyage?

    init(_ place: String) { self.place = place }
}

@Model final class Pennant {
    var name: String
    var voyages: [Voyage] = []

    init(_ name: String) { self.name = name }
}

@Model final class Cabin {
    var name: String
    var voyage: Voyage

    init(_ name: String, _ voyage: Voyage) {
        self.name = name
        self.voyage = voyage
    }
}
