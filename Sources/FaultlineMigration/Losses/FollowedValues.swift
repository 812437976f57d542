internal import FaultlineModel

/// A value of an entity's objects, by the names that the store has.
struct StoredValueName: Hashable, CustomStringConvertible {
    let property: String
    /// Names of members within a composite value, outermost first; empty for all of a property.
    var members: [String] = []

    var description: String { ([property] + members).joined(separator: ".") }
}

/// The values of one entity of a store, on their way through the steps of a migration.
struct FollowedValues {
    /// Whether the last step has dropped the objects themselves.
    private(set) var areGone = false
    /// Whether there is nothing left to follow: code has got the objects, or they are gone.
    private(set) var isDone = false

    /// The entity's name so far.
    private var name: String
    private var attributes: [Attribute] = []
    private var references: [Reference] = []

    /// An attribute that is still there.
    private struct Attribute {
        let stored: String
        var name: String
        /// Paths of the members that are still there.
        var members: Set<[String]>
    }

    /// A relationship of which one side is still there.
    private struct Reference {
        let stored: String
        /// That side.
        var entity: String
        var name: String
        /// Whether code has got the objects of one of the sides.
        var isSeen = false
    }

    init(_ entity: Schema.Entity, in schema: Schema) {
        name = entity.name
        for property in entity.properties {
            if let attribute = property as? Schema.Attribute, !attribute.isTransient {
                attributes.append(
                    Attribute(stored: attribute.name, name: attribute.name, members: Set(attribute.memberPaths)))
            } else if let relationship = property as? Schema.Relationship,
                schema.stores(relationship, of: entity)
            {
                references.append(Reference(stored: relationship.name, entity: entity.name, name: relationship.name))
            }
        }
    }

    /// Goes through a step.
    ///
    /// - Returns: What it drops that no code has seen; not what goes with the objects.
    mutating func follow(_ step: MigrationSteps.Step, _ difference: SchemaDifference) -> [StoredValueName] {
        if step.handles(name) {
            isDone = true
            return []
        }
        guard let next = difference.newEntityName(of: name), let entity = step.to.entitiesByName[next] else {
            areGone = true
            isDone = true
            return []
        }
        let old = step.from.entitiesByName[name]
        var dropped: [StoredValueName] = []
        attributes = attributes.compactMap { attribute in
            guard let after = difference.newPropertyName(of: attribute.name, in: next),
                let new = entity.attribute(named: after), !new.isTransient
            else {
                dropped.append(StoredValueName(property: attribute.stored))
                return nil
            }
            var kept = attribute
            kept.name = after
            // What other types decode nobody can say.
            if old?.attribute(named: attribute.name) is Schema.CompositeAttribute, new is Schema.CompositeAttribute {
                kept.members.formIntersection(new.memberPaths)
                dropped += attribute.members.subtracting(kept.members).topmost.map {
                    StoredValueName(property: attribute.stored, members: $0)
                }
            }
            return kept
        }
        references = references.compactMap { reference in
            var reference = reference
            if Self.follow(&reference, step, difference) { return reference.isSeen ? nil : reference }
            dropped.append(StoredValueName(property: reference.stored))
            return nil
        }
        name = next
        return dropped
    }

    /// Goes through a step with a relationship; false if it drops both sides.
    private static func follow(
        _ reference: inout Reference, _ step: MigrationSteps.Step, _ difference: SchemaDifference
    ) -> Bool {
        let relationship = step.from.entitiesByName[reference.entity]?.relationship(named: reference.name)
        var sides = [(reference.entity, reference.name)]
        if let relationship, let inverse = step.from.inverse(of: relationship) {
            sides.append((relationship.destination, inverse.name))
        }
        for (entity, name) in sides {
            if step.handles(entity) {
                reference.isSeen = true
                return true
            }
            guard let after = difference.newEntityName(of: entity),
                let afterName = difference.newPropertyName(of: name, in: after),
                step.to.entitiesByName[after]?.relationship(named: afterName) != nil
            else { continue }
            reference.entity = after
            reference.name = afterName
            return true
        }
        return false
    }
}

extension MigrationSteps.Step {
    /// Whether code of the step gets the objects of an entity of the version before it.
    fileprivate func handles(_ entityName: String) -> Bool {
        closures?.willMigrate != nil || streamedEntities.contains { $0.entityName == entityName }
            || mappingModels.flatMap(\.entityMappings).contains { $0.sourceEntityName == entityName }
    }
}

extension SchemaDifference {
    fileprivate func newEntityName(of name: String) -> String? { oldEntityNames.first { $0.value == name }?.key }

    fileprivate func newPropertyName(of name: String, in entityName: String) -> String? {
        oldPropertyNames[entityName]?.first { $0.value == name }?.key
    }
}

extension Schema {
    /// Whether a relationship is to be followed for both of its sides: the one whose rows have the references, and of
    /// two that are alike the first.
    fileprivate func stores(_ relationship: Relationship, of entity: Entity) -> Bool {
        guard let inverse = inverse(of: relationship) else { return true }
        if relationship.isToOneRelationship != inverse.isToOneRelationship { return relationship.isToOneRelationship }
        return (entity.name, relationship.name) <= (relationship.destination, inverse.name)
    }
}

extension Schema.Entity {
    fileprivate func attribute(named name: String) -> Schema.Attribute? {
        properties.first { $0.name == name } as? Schema.Attribute
    }
}

extension Schema.Attribute {
    /// The ways to all members of a composite attribute, and to theirs; empty for others.
    fileprivate var memberPaths: [[String]] {
        guard let composite = self as? Schema.CompositeAttribute else { return [] }
        return composite.properties.flatMap { member in
            [[member.name]] + member.memberPaths.map { [member.name] + $0 }
        }
    }
}

extension Set<[String]> {
    /// Those that do not lie within others, in order.
    fileprivate var topmost: [[String]] {
        filter { path in !(1..<Swift.max(path.count, 1)).contains { contains(Array(path.prefix($0))) } }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}
