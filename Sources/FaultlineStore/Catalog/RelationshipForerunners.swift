internal import FaultlineModel

/// Finds the previous schema's counterparts of a schema's relationships.
struct RelationshipForerunners {
    let schema: Schema
    let previous: Schema?
    let difference: SchemaDifference?
    /// The entity map of the previous schema.
    let map: EntityMap

    /// To-one references that rows have.
    struct Reference {
        /// New name of the entity whose rows have them.
        let entity: String
        let column: UInt32
        /// New name of the entity that they refer to.
        let destination: String
        /// Whether the objects with the references own the collection that they become.
        let isOwner: Bool
    }

    /// The references that stored the relationship until now, if links are to store it: those of the relationship
    /// itself, or those of its inverse, before or now.
    ///
    /// - Returns: Nil if nothing stored it, or links did.
    func reference(behind relationship: Schema.Relationship, of owner: String) -> Reference? {
        if let own = reference(behind: relationship, of: owner, isOwner: true) { return own }
        guard let inverse = schema.inverse(of: relationship) else { return nil }
        return reference(behind: inverse, of: relationship.destination, isOwner: false)
    }

    private func reference(behind relationship: Schema.Relationship, of entity: String, isOwner: Bool) -> Reference? {
        guard let previous, let former = oldEntity(of: entity),
            let oldName = difference?.oldPropertyNames[entity]?[relationship.name],
            let old = former.relationship(named: oldName)
        else { return nil }
        if old.isToOneRelationship {
            return column(of: oldName, in: former).map {
                Reference(entity: entity, column: $0, destination: relationship.destination, isOwner: isOwner)
            }
        }
        guard let inverse = previous.inverse(of: old), inverse.isToOneRelationship,
            let destination = oldEntity(of: relationship.destination), destination.name == old.destination
        else { return nil }
        return column(of: inverse.name, in: destination).map {
            Reference(entity: relationship.destination, column: $0, destination: entity, isOwner: !isOwner)
        }
    }

    /// Whether a to-one relationship was an optional one before.
    func wasOptional(_ relationship: Schema.Relationship, of entity: String) -> Bool {
        guard let name = difference?.oldPropertyNames[entity]?[relationship.name],
            let old = oldEntity(of: entity)?.relationship(named: name)
        else { return false }
        return old.isToOneRelationship && old.isOptional
    }

    private func oldEntity(of name: String) -> Schema.Entity? {
        difference?.oldEntityNames[name].flatMap { previous?.entitiesByName[$0] }
    }

    private func column(of property: String, in entity: Schema.Entity) -> UInt32? {
        map.entity(named: entity.name)?.columns.first { $0.name == property }?.number
    }
}
