internal import FaultlineModel

/// A stored attribute that is not optional, and that an object may lack.
struct RequiredValue {
    let slot: Int
    /// Whether the value is that of a `Codable` type: then its bytes tell whether there is one.
    let isEncoded: Bool

    /// Nil for other properties, and for attributes with a default.
    init?(_ property: any SchemaProperty, _ slot: Int) {
        guard let attribute = property.asAttribute, !attribute.isOptional, !attribute.isTransient else { return nil }
        isEncoded = attribute.kind == .codable
        guard isEncoded || !attribute.hasDefaultValue else { return nil }
        self.slot = slot
    }
}
