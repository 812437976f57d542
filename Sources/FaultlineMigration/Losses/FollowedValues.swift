internal import FaultlineModel

/// A value of an entity's objects, by its stored names.
struct StoredValueName: Hashable, CustomStringConvertible {
    let property: String
    /// Names of members within a composite value, outermost first; empty for the whole property.
    var members: [String] = []

    var description: String { ([property] + members).joined(separator: ".") }
}

/// Follows the values of one entity of a store through the steps of a migration.
struct FollowedValues {
    /// Whether the last step has dropped the objects themselves.
    private(set) var areGone = false
    /// Whether nothing remains to follow: code has handled the objects, or they are dropped.
    private(set) var isDone = false

    /// The entity's current name.
    private var name: String
    private var attributes: [Attribute] = []
    private var references: [Reference] = []

    /// An attribute that still exists.
    private struct Attribute {
        let stored: String
        var name: String
        /// Paths of the members that still exist.
        var members: Set<[String]>
    }

    /// A relationship with a side that still exists.
    private struct Reference {
        let stored: String
        /// That side.
        var entity: String
        var name: String
        /// Whether code has handled the objects of one of the sides.
        var isSeen = false
    }

    init(_ entity: Schema.Entity, in schema: Schema) {
        name = entity.name
        for property in entity.properties {
            if let attribute = property as? Schema.Attribute, !attribute.isTransient,
                !Schema.Heir.isMark(attribute.name)
            {
                attributes.append(
                    Attribute(stored: attribute.name, name: attribute.name, members: Set(attribute.memberPaths)))
            } else if let relationship = property as? Schema.Relationship,
                schema.stores(relationship, of: entity)
            {
                references.append(Reference(stored: relationship.name, entity: entity.name, name: relationship.name))
            }
        }
    }

    /// Follows the values through a step.
    ///
    /// - Returns: The values that it drops, and that neither code nor a mapping has seen; not those that are dropped
    ///   with their objects.
    mutating func follow(
        _ step: MigrationSteps.Step, _ difference: SchemaDifference, _ handled: HandledValues
    ) -> [StoredValueName] {
        if handled.contains(name) {
            isDone = true
            return []
        }
        guard let next = difference.newEntityName(of: name), let entity = step.to.entitiesByName[next] else {
            isDone = true
            areGone = !handled.isMapped(name)
            return areGone ? [] : unread(step, difference, handled)
        }
        let name = name
        let old = step.from.entitiesByName[name]
        var dropped: [StoredValueName] = []
        attributes = attributes.compactMap { attribute in
            if handled.contains(attribute.name, of: name) { return nil }
            guard let after = difference.newPropertyName(of: attribute.name, in: next),
                let new = entity.attribute(named: after), !new.isTransient
            else {
                if !handled.isRead(attribute.name, of: name) {
                    dropped.append(StoredValueName(property: attribute.stored))
                }
                return nil
            }
            var kept = attribute
            kept.name = after
            // The members that another type would decode are unknown.
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
            if Self.follow(&reference, step, difference, handled) { return reference.isSeen ? nil : reference }
            dropped.append(StoredValueName(property: reference.stored))
            return nil
        }
        self.name = next
        return dropped
    }

    /// The values of objects that mappings make those of other entities, without the values that they read.
    private func unread(
        _ step: MigrationSteps.Step, _ difference: SchemaDifference, _ handled: HandledValues
    ) -> [StoredValueName] {
        let unread = attributes.filter { !handled.isRead($0.name, of: name) }.map(\.stored)
        let cut = references.filter { reference in
            var reference = reference
            return !Self.follow(&reference, step, difference, handled)
        }
        return (unread + cut.map(\.stored)).map { StoredValueName(property: $0) }
    }

    /// Follows a relationship through a step; false if the step drops both sides.
    private static func follow(
        _ reference: inout Reference, _ step: MigrationSteps.Step, _ difference: SchemaDifference,
        _ handled: HandledValues
    ) -> Bool {
        let relationship = step.from.entitiesByName[reference.entity]?.relationship(named: reference.name)
        var sides = [(reference.entity, reference.name)]
        if let relationship, let inverse = step.from.inverse(of: relationship) {
            sides.append((relationship.destination, inverse.name))
        }
        for (entity, name) in sides {
            if handled.contains(entity) || handled.contains(name, of: entity) {
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
        reference.isSeen = sides.contains { handled.isRead($0.1, of: $0.0) }
        return reference.isSeen
    }
}

extension SchemaDifference {
    fileprivate func newEntityName(of name: String) -> String? { oldEntityNames.first { $0.value == name }?.key }

    fileprivate func newPropertyName(of name: String, in entityName: String) -> String? {
        oldPropertyNames[entityName]?.first { $0.value == name }?.key
    }
}

extension Schema {
    /// Whether a relationship is followed for both of its sides: the side whose rows have the references, or the first
    /// of two equal ones.
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
    /// The paths of all members of a composite attribute, including nested ones; empty for other attributes.
    fileprivate var memberPaths: [[String]] {
        guard let composite = self as? Schema.CompositeAttribute else { return [] }
        return composite.properties.flatMap { member in
            [[member.name]] + member.memberPaths.map { [member.name] + $0 }
        }
    }
}

extension Set<[String]> {
    /// The paths that do not lie within others, in order.
    fileprivate var topmost: [[String]] {
        filter { path in !(1..<Swift.max(path.count, 1)).contains { contains(Array(path.prefix($0))) } }
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}
