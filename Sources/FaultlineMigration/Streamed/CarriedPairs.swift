internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The properties that both versions of a streamed stage's entities have, under one meaning and type: attributes of one
/// kind, and relationships to one whose destinations are the same.
///
/// A renamed property is the same one. A relationship to many with an inverse to one is kept by that.
struct CarriedPairs: Sendable {
    /// An entity that the stage makes anew.
    struct Entity: Sendable {
        let name: String
        let oldName: String
        /// Its place in the stage.
        let place: Int
        let properties: [Property]
        /// Place of its first property among those of all entities.
        let first: Int
    }

    struct Property: Sendable {
        let old: String
        let new: String
        /// Whether a new object may leave it at a default.
        let hasDefault: Bool
        /// The relationship to one that is the inverse, with its entity.
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

    /// Place among all properties; nil for one that is not paired.
    func place(of property: String, in entity: String) -> Int? {
        guard let entity = entities.first(where: { $0.name == entity }),
            let place = entity.properties.firstIndex(where: { $0.new == property })
        else { return nil }
        return entity.first + place
    }

    /// The state of all properties when the stage begins, or goes on.
    ///
    /// - Parameter stored: As the stage was stopped; nil where it begins.
    /// - Returns: In the order of the entities. A property that was not there before is left alone: the objects that are
    ///   done have not got it.
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
