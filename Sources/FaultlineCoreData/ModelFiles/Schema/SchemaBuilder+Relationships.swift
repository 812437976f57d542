internal import FaultlineModel

extension SchemaBuilder {
    /// The relationships of an entity as a schema has them, each with the inverse that the model names.
    mutating func relationships(of entity: ModelVersion.Entity) -> [any SchemaProperty] {
        var names = inheritedNames(of: entity).union(entity.attributes.map(\.name))
        var originals: Set<String> = []
        for attribute in entity.attributes {
            if let original = attribute.renamingIdentifier, original != attribute.name { originals.insert(original) }
        }
        var made: [any SchemaProperty] = []
        for var relationship in entity.relationships where !relationship.name.isEmpty {
            let place = "\(entity.name).\(relationship.name)"
            guard names.insert(relationship.name).inserted else {
                noteDuplicate(place, line: relationship.line)
                continue
            }
            guard let destination = relationship.destination, entitiesByName[destination] != nil else {
                note(
                    .invalid, "destinationEntity", at: place, line: relationship.line,
                    "It leads to \(relationship.destination ?? "no entity"), which is not in the model. The schema leaves it out."
                )
                continue
            }
            dropRepeated(
                &relationship.renamingIdentifier, of: relationship.name, &originals, place, line: relationship.line)
            made.append(
                relationship.isTransient
                    ? transient(relationship, to: destination)
                    : self.relationship(relationship, to: destination, at: place))
        }
        return made
    }

    private mutating func relationship(
        _ relationship: ModelVersion.Relationship, to destination: String, at place: String
    ) -> Schema.Relationship {
        let isToMany = relationship.isToMany
        // Core Data accepts an optional relationship without objects at any minimum, and no required one.
        let least = isToMany && !relationship.isOptional ? max(relationship.minimumCount, 1) : 0
        let most = isToMany ? relationship.maximumCount : 0
        if isToMany, relationship.isOptional, relationship.minimumCount > 0 {
            note(
                .unexpressed, "minCount", at: place, line: relationship.line,
                "At least \(relationship.minimumCount) objects, or none: the schema has no minimum.")
        }
        let isContradiction = most > 0 && least > most
        if isContradiction {
            note(
                .invalid, "maxCount", at: place, line: relationship.line,
                "The minimum \(least) exceeds the maximum \(most): the schema has neither.")
        }
        return Schema.Relationship(
            name: relationship.name, originalName: relationship.renamingIdentifier, destination: destination,
            isToOne: !isToMany, isOptional: !isToMany && relationship.isOptional,
            deleteRule: relationship.deleteRule, minimumModelCount: isContradiction ? 0 : least,
            maximumModelCount: isContradiction ? 0 : most, inverseName: relationship.inverseName,
            hashModifier: relationship.versionHashModifier)
    }

    /// Clears inverses that do not lead back, until all others do.
    mutating func connectInverses() {
        while clearInverses() {}
    }

    /// Clears inverses that do not lead back; true if there were some.
    private mutating func clearInverses() -> Bool {
        var isCleared = false
        for entity in entities {
            let lines = Dictionary(entity.relationships.map { ($0.name, $0.line) }) { first, _ in first }
            for relationship in (properties[entity.name] ?? []).compactMap({ $0.asRelationship }) {
                guard let name = relationship.inverseName, !leadsBack(relationship, of: entity, by: name) else {
                    continue
                }
                let destination = entitiesByName[relationship.destination]
                let isTransient = destination.flatMap { property(name, of: $0) }?.isTransient == true
                let reason =
                    isTransient
                    ? "is transient, and is not kept" : "is missing, or is the inverse of another relationship"
                note(
                    isTransient ? .unexpressed : .invalid, "inverseName",
                    at: "\(entity.name).\(relationship.name)", line: lines[relationship.name] ?? nil,
                    "Its inverse \(relationship.destination).\(name) \(reason). The schema has no inverse.")
                relationship.inverseName = nil
                isCleared = true
            }
        }
        return isCleared
    }

    private func leadsBack(
        _ relationship: Schema.Relationship, of entity: ModelVersion.Entity, by name: String
    ) -> Bool {
        guard let destination = entitiesByName[relationship.destination],
            let inverse = property(name, of: destination)?.asRelationship
        else { return false }
        return inverse.inverseName == relationship.name && inverse.destination == entity.name
    }
}
