internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The properties that both versions of a streamed stage's entities have, with the same meaning and type: attributes of
/// one kind, and to-one relationships with the same destination.
///
/// A renamed property is the same one. A to-many relationship with a to-one inverse is kept by its inverse.
struct CarriedPairs: Sendable {
    /// An entity that the stage rewrites.
    struct Entity: Sendable {
        let name: String
        let oldName: String
        /// Its index in the stage.
        let place: Int
        let properties: [Property]
        /// The index of its first property among those of all entities.
        let first: Int
    }

    struct Property: Sendable {
        let old: String
        let new: String
        /// Whether a new object may keep a default for it.
        let hasDefault: Bool
        /// The to-one relationship that is the inverse, with its entity.
        let partner: (entity: String, property: String)?
    }

    private(set) var entities: [Entity] = []

    init(from source: Schema, to target: Schema, streaming streamed: [StreamedEntity]) {
        let difference = SchemaDifference(from: source, to: target)
        var count = 0
        for (place, entity) in streamed.enumerated() {
            guard let old = source.entitiesByName[entity.entityName],
                let name = difference.oldEntityNames.first(where: { $0.value == entity.entityName })?.key,
                let new = target.entitiesByName[name]
            else { continue }
            let oldNames = difference.oldPropertyNames[name] ?? [:]
            let properties = new.properties.compactMap { property -> Property? in
                guard let oldName = oldNames[property.name],
                    let before = old.properties.first(where: { $0.name == oldName })
                else { return nil }
                return Self.pair(before, property, in: target, difference)
            }
            entities.append(
                Entity(name: name, oldName: old.name, place: place, properties: properties, first: count))
            count += properties.count
        }
    }

    private static func pair(
        _ old: any SchemaProperty, _ new: any SchemaProperty, in target: Schema, _ difference: SchemaDifference
    ) -> Property? {
        if let before = old as? Schema.Attribute, let after = new as? Schema.Attribute {
            guard !before.isTransient, !after.isTransient, before.kind == after.kind else { return nil }
            return Property(
                old: before.name, new: after.name, hasDefault: after.isOptional || after.hasDefaultValue, partner: nil)
        }
        guard let before = old as? Schema.Relationship, let after = new as? Schema.Relationship,
            before.isToOneRelationship, after.isToOneRelationship,
            difference.oldEntityNames[after.destination] == before.destination
        else { return nil }
        let inverse = target.inverse(of: after).flatMap { $0.isToOneRelationship ? $0.name : nil }
        return Property(
            old: before.name, new: after.name, hasDefault: after.isOptional,
            partner: inverse.map { (after.destination, $0) })
    }

    /// The index among all properties; nil for a property without a pair.
    func place(of property: String, in entity: String) -> Int? {
        guard let entity = entities.first(where: { $0.name == entity }),
            let place = entity.properties.firstIndex(where: { $0.new == property })
        else { return nil }
        return entity.first + place
    }

    /// The state of all properties when the stage begins or is resumed.
    ///
    /// - Parameter stored: The state when the stage was stopped; nil at the beginning.
    /// - Returns: In the order of the entities. A property without a stored state is not carried over: the finished
    ///   objects do not have it.
    func known(_ stored: [CarriedProperty]?) -> [CarriedProperty] {
        entities.flatMap { entity in
            entity.properties.map { property in
                let known = stored?.first { $0.entity == entity.name && $0.property == property.new }
                if let known { return known }
                var begun = CarriedProperty(entity: entity.name, property: property.new)
                begun.isSet = !property.hasDefault || stored != nil
                return begun
            }
        }
    }
}
