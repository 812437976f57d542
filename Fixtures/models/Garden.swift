import Faultline

// Attributes of every kind, with and without a default, as an app of one file has them.

enum Light: String, Codable, CaseIterable {
    case shade, halfShade, sun
}

enum Hardiness: Int, Codable {
    case tender = 1
    case hardy = 2
}

struct Watering: Codable, Hashable {
    var everyDays = 3
    var litres = 0.5
    var hours: [Int] = [7]
}

@Model
final class Plant {
    @Attribute(.unique) var label: String
    var commonName: String?
    var plantedOn: Date
    var light: Light = Light.sun
    var hardiness: Hardiness?
    var watering: Watering = Watering()
    var heightInCentimetres: Double
    var leafCount: Int = 0
    var isPerennial: Bool
    var price: Decimal = 0
    var tags: [String] = []
    var catalogPage: URL?
    var serial: UUID = UUID()
    @Attribute(.externalStorage) var picture: Data?
    @Transient var isSelected = false

    var bed: Bed?

    init(label: String, plantedOn: Date = .now, heightInCentimetres: Double, isPerennial: Bool = true) {
        self.label = label
        self.plantedOn = plantedOn
        self.heightInCentimetres = heightInCentimetres
        self.isPerennial = isPerennial
    }

    var isTall: Bool { heightInCentimetres > 150 }
}

@Model
final class Bed {
    var name: String
    var squareMetres: Float
    @Relationship(deleteRule: .cascade, inverse: \Plant.bed)
    var plants: [Plant]

    init(name: String, squareMetres: Float, plants: [Plant] = []) {
        self.name = name
        self.squareMetres = squareMetres
        self.plants = plants
    }
}
