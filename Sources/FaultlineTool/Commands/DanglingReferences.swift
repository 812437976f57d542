import FaultlineCommands

/// References of one property that lead to deleted objects: they read as nil, and are no damage.
struct DanglingReferences: CustomStringConvertible {
    let entity: String
    let property: String
    private(set) var count = 0

    init(entity: String, property: String) {
        self.entity = entity
        self.property = property
    }

    mutating func add() { count += 1 }

    var description: String {
        "dangling: \(Quantity.count(count)) objects of \(entity) refer by \(property) to objects that are gone."
    }
}
