// Copies that share no mutable part: a schema is built by one owner and used by many.

extension Schema {
    /// An independent copy of the schema.
    package func copied() -> Schema {
        Schema(entities: entities.map { $0.copied() }, version: version)
    }
}

extension Schema.Entity {
    /// An independent copy of the entity, with all properties, inherited ones too.
    ///
    /// It names its superentity, but is not connected with it: it has the inherited properties already.
    package func copied() -> Schema.Entity {
        let copy = Schema.Entity(
            name, subentities: [], properties: storedProperties.map(Self.copied),
            uniquenessConstraints: uniquenessConstraints, indices: indices, indexedTexts: indexedTexts)
        copy.originalName = originalName
        copy.superentityName = superentityName
        copy.heirs = heirs
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

    /// Whether both inherit the same properties.
    package func inheritsAs(_ other: Schema.Entity) -> Bool {
        inheritedProperties.count == other.inheritedProperties.count
            && zip(inheritedProperties, other.inheritedProperties).allSatisfy(Self.isEqual)
    }
}
