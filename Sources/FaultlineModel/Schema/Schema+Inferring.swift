extension Schema {
    /// Turns inverses given as key paths into names, then pairs relationships whose inverse is evident.
    ///
    /// Two relationships are paired if each is the only one between their two entities in its direction, and neither
    /// declares an inverse or is named as one. A relationship of an entity to itself is never paired automatically.
    /// Call this before the schema is shared.
    package func resolveInverses() {
        for entity in entities {
            for property in entity.storedProperties {
                guard let relationship = property.asRelationship else { continue }
                guard let keyPath = relationship.inverseKeyPath,
                    let destination = entitiesByName[relationship.destination],
                    let name = destination.namesByKeyPath[keyPath]
                else { continue }
                relationship.inverseName = name
                let inverse = destination.relationshipsByName[name]
                if inverse?.inverseName == nil, inverse?.destination == entity.name {
                    inverse?.inverseName = relationship.name
                }
            }
        }
        inferInverses()
    }

    private func inferInverses() {
        for entity in entities {
            for property in entity.storedProperties {
                guard let relationship = property.asRelationship else { continue }
                guard Schema.isUnclaimed(relationship), relationship.destination != entity.name,
                    let destination = entitiesByName[relationship.destination],
                    Schema.relationships(of: entity, to: destination).count == 1
                else { continue }
                let candidates = Schema.relationships(of: destination, to: entity)
                guard candidates.count == 1, Schema.isUnclaimed(candidates[0]) else { continue }
                relationship.inverseName = candidates[0].name
                candidates[0].inverseName = relationship.name
            }
        }
    }

    private static func isUnclaimed(_ relationship: Relationship) -> Bool {
        relationship.inverseName == nil && !relationship.declaresInverse
    }

    private static func relationships(of entity: Entity, to destination: Entity) -> [Relationship] {
        entity.storedProperties.compactMap { $0.asRelationship }.filter { $0.destination == destination.name }
    }
}
