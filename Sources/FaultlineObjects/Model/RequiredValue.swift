internal import FaultlineModel

/// A stored attribute that is not optional, and that an object may lack.
struct RequiredValue {
    let slot: Int
    /// Whether the value is that of a `Codable` type: then its bytes tell whether there is one.
    let isEncoded: Bool

    /// Nil for other properties, and for attributes with a default.
    ///
    /// - Parameters:
    ///   - property: Any property.
    ///   - slot: Its slot.
    ///   - isRequired: Whether a class requires an attribute that is optional in the table.
    init?(_ property: any SchemaProperty, _ slot: Int, isRequired: Bool = false) {
        guard let attribute = property.asAttribute, isRequired || !attribute.isOptional, !attribute.isTransient else {
            return nil
        }
        isEncoded = attribute.kind == .codable
        guard isEncoded || !attribute.hasDefaultValue else { return nil }
        self.slot = slot
    }
}
