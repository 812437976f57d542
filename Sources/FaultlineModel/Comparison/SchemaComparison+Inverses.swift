// Defines which of two inverse relationships stores their objects' references: a to-one stores them in the rows of its
// own objects; a to-many whose inverse is to-one stores nothing; any other to-many has links, which it shares with its
// inverse.

extension SchemaComparison {
    /// The reason why the references of a relationship whose inverse changed cannot be carried over automatically; nil
    /// if they can.
    func obstacle(from old: Schema.Relationship, to new: Schema.Relationship) -> String? {
        let inverse = self.new.inverse(of: new)
        let formerInverse = self.old.inverse(of: old)
        let former = inverse.flatMap { _ in self.former(ofInverseOf: new) }
        let isSamePair = former != nil && former?.name == formerInverse?.name
        if isSamePair { return nil }
        let other = "\(new.destination).\(new.inverseName ?? "")"
        if let inverse, inverse.isToOneRelationship {
            return former == nil
                ? "\(other) is new, and stored objects do not know whom it should refer to. Set it in a stage."
                : "\(other) has references of its own, which may say something else. Set both sides in a stage."
        }
        if new.isToOneRelationship { return nil }
        if former != nil {
            return "\(other) has references of its own, which may say something else. Set both sides in a stage."
        }
        guard let formerInverse, !old.isToOneRelationship, !formerInverse.isToOneRelationship,
            let left = newRelationship(carryingOn: formerInverse, of: new.destination), !left.isToOneRelationship
        else { return nil }
        return """
            It shares its links with \(new.destination).\(left.name), and only one of the two can keep them. Add a \
            relationship under another name, and set it in a stage.
            """
    }

    /// The old name of the property that is now a relationship's inverse; nil if it has none, or a new one.
    func oldName(ofInverseOf relationship: Schema.Relationship) -> String? {
        relationship.inverseName.flatMap { oldPropertyNames[relationship.destination]?[$0] }
    }

    private func former(ofInverseOf relationship: Schema.Relationship) -> Schema.Relationship? {
        guard let entity = oldEntityNames[relationship.destination].flatMap({ old.entitiesByName[$0] }),
            let name = oldName(ofInverseOf: relationship)
        else { return nil }
        return entity.relationship(named: name)
    }

    private func newRelationship(
        carryingOn old: Schema.Relationship, of entityName: String
    ) -> Schema.Relationship? {
        let name = oldPropertyNames[entityName]?.first { $0.value == old.name }?.key
        return name.flatMap { new.entitiesByName[entityName]?.relationship(named: $0) }
    }
}

extension Schema {
    /// The inverse of a relationship; nil if there is none.
    package func inverse(of relationship: Relationship) -> Relationship? {
        relationship.inverseName.flatMap { entitiesByName[relationship.destination]?.relationship(named: $0) }
    }
}

extension Schema.Entity {
    /// The relationship with a name, own or inherited.
    package func relationship(named name: String) -> Schema.Relationship? {
        properties.first { $0.name == name } as? Schema.Relationship
    }
}
