internal import Faultline

/// The classes of a serial life.
enum SerialKind: Int, CaseIterable {
    case slim, hall, seat, bench, wide, named

    static let types: [any SerialObject.Type] = [Slim.self, Hall.self, Seat.self, Bench.self, Wide.self, Named.self]

    var type: any SerialObject.Type { Self.types[rawValue] }

    /// The number of an object's numbers besides its key.
    var slotCount: Int {
        switch self {
        case .slim, .seat, .named: 1
        case .hall, .bench: 0
        case .wide: 79
        }
    }

    /// The names of the properties of these numbers.
    var slotNames: [String] {
        switch self {
        case .slim, .seat: ["number"]
        case .named: ["name"]
        case .hall, .bench: []
        case .wide: (1...79).map { "p\($0)" }
        }
    }

    /// The class that its objects refer to.
    var target: SerialKind? {
        switch self {
        case .slim: .hall
        case .seat: .bench
        case .hall, .bench, .wide, .named: nil
        }
    }

    /// The maximum number of an object's members.
    var memberMax: Int { self == .bench ? 3 : .max }

    func make(_ key: Int) -> any SerialObject {
        switch self {
        case .slim: Slim(key)
        case .hall: Hall(key)
        case .seat: Seat(key)
        case .bench: Bench(key)
        case .wide: Wide(key)
        case .named: Named(key, name: key)
        }
    }

    /// Fetches the objects with a key through an index.
    func find(_ key: Int, in context: ModelContext) throws -> [any SerialObject] {
        switch self {
        case .slim: try context.fetch(FetchDescriptor<Slim>(predicate: #Predicate { $0.key == key }))
        case .hall: try context.fetch(FetchDescriptor<Hall>(predicate: #Predicate { $0.key == key }))
        case .seat: try context.fetch(FetchDescriptor<Seat>(predicate: #Predicate { $0.key == key }))
        case .bench: try context.fetch(FetchDescriptor<Bench>(predicate: #Predicate { $0.key == key }))
        case .wide: try context.fetch(FetchDescriptor<Wide>(predicate: #Predicate { $0.key == key }))
        case .named: try context.fetch(FetchDescriptor<Named>(predicate: #Predicate { $0.key == key }))
        }
    }
}
