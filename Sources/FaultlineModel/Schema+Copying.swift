// Copies that share nothing that can be changed: what is put together by one is used by many.

extension Schema {
    /// A schema of its own that says the same.
    package func copied() -> Schema {
        Schema(entities: entities.map { $0.copied() }, version: version)
    }
}

extension Schema.Entity {
    /// An entity of its own that says the same, and has all properties, the inherited ones too.
    ///
    /// It names the entity that it inherits from, and is not joined with it: what that hands down it has already.
    package func copied() -> Schema.Entity {
        let copy = Schema.Entity(
            name, subentities: [], properties: storedProperties.map(Self.copied),
            uniquenessConstraints: uniquenessConstraints, indices: indices)
        copy.originalName = originalName
        copy.superentityName = superentityName
        copy.inheritedProperties = inheritedProperties.map(Self.copied)
        return copy
    }

    private static func copied(_ property: any SchemaProperty) -> any SchemaProperty {
        switch property {
        case let attribute as Schema.Attribute: attribute.copied()
        case let relationship as Schema.Relationship: relationship.copied()
        default: property
        }
    }

    /// Whether both inherit the same.
    package func inheritsAs(_ other: Schema.Entity) -> Bool {
        inheritedProperties.count == other.inheritedProperties.count
            && zip(inheritedProperties, other.inheritedProperties).allSatisfy(Self.isEqual)
    }
}
