/// Objects that an object in the quarantine had relationships with, by their numbers in the version before.
public struct QuarantinedRelation: Sendable {
    /// The identifier of the object in the quarantine.
    public let id: UInt64
    /// Whether they referred to it; else they were members of its collection.
    public let refersToObject: Bool
    /// The entity of the others.
    public let entityName: String
    /// The property: theirs where they referred to the object, else the object's.
    public let propertyName: String
    /// The others: some of them, where there are thousands.
    public let numbers: [UInt64]

    init(_ numbers: QuarantinedNumbers) {
        id = numbers.owner
        refersToObject = numbers.refer
        entityName = numbers.entity
        propertyName = numbers.name
        self.numbers = numbers.numbers
    }
}
