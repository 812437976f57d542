/// Related objects of an object in the quarantine, by their numbers in the version before.
public struct QuarantinedRelation: Sendable {
    /// The identifier of the object in the quarantine.
    public let id: UInt64
    /// Whether they referred to it; if not, they were members of its collection.
    public let refersToObject: Bool
    /// The entity of the related objects.
    public let entityName: String
    /// The property: of the related objects if they referred to the object, else of the object.
    public let propertyName: String
    /// The numbers of the related objects: some of them, if there are thousands.
    public let numbers: [UInt64]

    init(_ numbers: QuarantinedNumbers) {
        id = numbers.owner
        refersToObject = numbers.refer
        entityName = numbers.entity
        propertyName = numbers.name
        self.numbers = numbers.numbers
    }
}
