internal import Faultline
internal import Foundation

// A hierarchy of three levels: relationships to its root, from its root, and between sisters.

@Model class Asset {
    #Index<Asset>([\.number])
    var key: Int
    var number = 0
    @Attribute(.unique, .spotlight) var name: String?
    @Attribute(.externalStorage) var photo: Data?
    // Unique among machines only.
    var mark: Int?
    var keeper: Person?
    var lifter: Crane?
    init(_ key: Int) { self.key = key }
}

@Model class Machine: Asset {
    #Unique<Machine>([\.mark])
    #Index<Machine>([\.power, \.number])
    var power = 1
    var driver: Person?
    var shed: House?
    override init(_ key: Int) { super.init(key) }
}

@Model final class Crane: Machine {
    var reach = 2
    @Relationship(deleteRule: .cascade, inverse: \Asset.lifter) var loads: [Asset] = []
    override init(_ key: Int) { super.init(key) }
}

@Model final class House: Asset {
    // Declared in another way than that of machines.
    var power = 3.0
    var firm: Firm
    @Relationship(deleteRule: .deny, inverse: \Machine.shed) var machines: [Machine] = []
    @Relationship(minimumModelCount: 0, maximumModelCount: 2) var badges: [Badge] = []
    init(_ key: Int, _ firm: Firm) {
        self.firm = firm
        super.init(key)
    }
}

extension Asset: GraphObject {
    /// The values that the classes below declare, as `GraphState.Node.own` has them.
    var own: [Int] {
        switch self {
        case let crane as Crane: [crane.power, crane.reach]
        case let machine as Machine: [machine.power]
        case let house as House: [Int(house.power)]
        default: []
        }
    }

    func setOwn(_ place: Int, to value: Int) {
        switch self {
        case let crane as Crane where place == 1: crane.reach = value
        case let machine as Machine: machine.power = value
        case let house as House: house.power = Double(value)
        default: break
        }
    }
}
