extension SchemaComparison {
    mutating func compare(
        _ oldProperty: (any SchemaProperty)?, _ property: any SchemaProperty, of entity: Schema.Entity
    ) {
        switch (oldProperty, property) {
        case (nil, let attribute as Schema.Attribute): addAttribute(attribute, to: entity)
        case (nil, let relationship as Schema.Relationship): addRelationship(relationship, to: entity)
        case (let old as Schema.Attribute, let attribute as Schema.Attribute): compare(old, attribute, of: entity)
        case (let old as Schema.Relationship, let relationship as Schema.Relationship):
            compare(old, relationship, of: entity)
        case (_, is Schema.Relationship):
            add(
                .attributeBecameRelationship, to: entity, property.name, demand: .needsStage,
                reason: """
                    A value cannot become a reference by itself. Add the relationship under another name, and \
                    set it in a stage.
                    """)
        default:
            add(
                .relationshipBecameAttribute, to: entity, property.name, demand: .needsStage,
                reason: """
                    A reference cannot become a value by itself. Add the attribute under another name, and \
                    set it in a stage.
                    """)
        }
    }

    mutating func remove(_ property: any SchemaProperty, from entity: Schema.Entity) {
        if property.isRelationship {
            add(
                .relationshipRemoved, to: entity, property.name,
                reason: "The references are dropped; the objects referred to stay.")
        } else {
            add(.attributeRemoved, to: entity, property.name, reason: "The values are dropped.")
        }
    }

    private mutating func addAttribute(_ attribute: Schema.Attribute, to entity: Schema.Entity) {
        if attribute.hasDefaultValue {
            add(.attributeAdded, to: entity, attribute.name, reason: "Stored objects take the default value.")
        } else if attribute.isOptional {
            add(.attributeAdded, to: entity, attribute.name, reason: "Stored objects have no value.")
        } else {
            add(
                .attributeAdded, to: entity, attribute.name, demand: .needsDefault,
                reason: """
                    Stored objects have no value for a required attribute. Give it a default value, or make it \
                    optional.
                    """)
        }
    }

    private mutating func compare(_ old: Schema.Attribute, _ new: Schema.Attribute, of entity: Schema.Entity) {
        if old.name != new.name {
            add(.attributeRenamed(from: old.name), to: entity, new.name, reason: "Values are kept under the new name.")
        }
        if old.kind != new.kind {
            add(
                .attributeKindChanged(from: old.kind, to: new.kind), to: entity, new.name, demand: .needsStage,
                reason: """
                    \(old.valueTypeName) values are not turned into \(new.valueTypeName) values by themselves. Add an \
                    attribute under another name, and copy the values in a stage.
                    """)
        }
        compareOptionality(old, new, of: entity)
        if old.isTransient != new.isTransient { compareTransience(new, of: entity) }
        if old.isStoredExternally != new.isStoredExternally {
            add(
                .externalStorageChanged(isExternal: new.isStoredExternally), to: entity, new.name,
                reason: "Stored values stay where they are until they are written again.")
        }
        if old.storedDefault != new.storedDefault {
            add(
                .attributeDefaultChanged, to: entity, new.name,
                reason: "Stored objects keep their values; nothing is migrated.")
        }
        if (old as? Schema.CompositeAttribute)?.properties != (new as? Schema.CompositeAttribute)?.properties {
            add(
                .attributeMembersChanged, to: entity, new.name,
                reason: "Members that are gone are dropped; new ones take what the type decodes without them.")
        }
        compareModifiers(old.hashModifier, new.hashModifier, of: entity, new.name)
    }

    private mutating func compareOptionality(
        _ old: Schema.Attribute, _ new: Schema.Attribute, of entity: Schema.Entity
    ) {
        guard old.isOptional != new.isOptional else { return }
        let kind = SchemaDifference.Kind.attributeOptionalityChanged(isOptional: new.isOptional)
        if new.isOptional {
            add(kind, to: entity, new.name, reason: "All values stay.")
        } else if new.hasDefaultValue {
            add(kind, to: entity, new.name, reason: "Objects without a value take the default value.")
        } else {
            add(
                kind, to: entity, new.name, demand: .needsDefault, isChecked: true,
                reason: "Objects may have no value for an attribute that is now required. Give it a default value.")
        }
    }

    private mutating func compareTransience(_ new: Schema.Attribute, of entity: Schema.Entity) {
        let kind = SchemaDifference.Kind.attributeTransienceChanged(isTransient: new.isTransient)
        if new.isTransient {
            add(kind, to: entity, new.name, reason: "The stored values are dropped.")
        } else if new.hasDefaultValue || new.isOptional {
            add(kind, to: entity, new.name, reason: "Stored objects take the default value, or none.")
        } else {
            add(
                kind, to: entity, new.name, demand: .needsDefault,
                reason: "Stored objects have no value for an attribute that is now stored. Give it a default value.")
        }
    }

    private mutating func addRelationship(_ relationship: Schema.Relationship, to entity: Schema.Entity) {
        if relationship.isToOneRelationship, !relationship.isOptional {
            add(
                .relationshipAdded, to: entity, relationship.name, demand: .needsStage,
                reason: "Stored objects have nothing to refer to. Make the relationship optional, or set it in a stage."
            )
        } else {
            add(.relationshipAdded, to: entity, relationship.name, reason: "Stored objects refer to nothing yet.")
        }
    }

    private mutating func compare(_ old: Schema.Relationship, _ new: Schema.Relationship, of entity: Schema.Entity) {
        if old.name != new.name {
            add(
                .relationshipRenamed(from: old.name), to: entity, new.name,
                reason: "References are kept under the new name.")
        }
        if (oldEntityNames[new.destination] ?? new.destination) != old.destination {
            add(
                .relationshipDestinationChanged(from: old.destination, to: new.destination), to: entity, new.name,
                demand: .needsStage,
                reason: """
                    Stored references lead to \(old.destination), not to \(new.destination). Add a relationship under \
                    another name, and set it in a stage.
                    """)
        }
        if old.isToOneRelationship != new.isToOneRelationship { compareCardinality(new, of: entity) }
        if old.isToOneRelationship, new.isToOneRelationship, old.isOptional != new.isOptional {
            let kind = SchemaDifference.Kind.relationshipOptionalityChanged(isOptional: new.isOptional)
            if new.isOptional {
                add(kind, to: entity, new.name, reason: "All references stay.")
            } else {
                add(
                    kind, to: entity, new.name, demand: .needsStage, isChecked: true,
                    reason: """
                        Objects may refer to nothing through a relationship that is now required. Set it in a \
                        stage.
                        """)
            }
        }
        if Schema.counts(of: old) != Schema.counts(of: new), old.isToOneRelationship == new.isToOneRelationship {
            add(
                .relationshipCountsChanged, to: entity, new.name,
                reason: "References stay; an object that has too few or too many cannot be saved again.")
        }
        compareInverses(old, new, of: entity)
        if old.deleteRule != new.deleteRule {
            add(
                .deleteRuleChanged(from: old.deleteRule, to: new.deleteRule), to: entity, new.name,
                reason: "The rule holds from now on; nothing is migrated.")
        }
        compareModifiers(old.hashModifier, new.hashModifier, of: entity, new.name)
    }

    private mutating func compareCardinality(_ new: Schema.Relationship, of entity: Schema.Entity) {
        let kind = SchemaDifference.Kind.relationshipCardinalityChanged(isToOne: new.isToOneRelationship)
        if new.isToOneRelationship {
            add(
                kind, to: entity, new.name, demand: .needsStage,
                reason: """
                    Which of several objects is to stay cannot be told. Add a to-one relationship under another \
                    name, and set it in a stage.
                    """)
        } else {
            add(kind, to: entity, new.name, reason: "The one object becomes the only element.")
        }
    }

    private mutating func compareInverses(
        _ old: Schema.Relationship, _ new: Schema.Relationship, of entity: Schema.Entity
    ) {
        let names = oldPropertyNames[new.destination] ?? [:]
        guard new.inverseName.map({ names[$0] ?? $0 }) != old.inverseName else { return }
        add(
            .relationshipInverseChanged(from: old.inverseName, to: new.inverseName), to: entity, new.name,
            isChecked: new.inverseName != nil,
            reason: new.inverseName == nil
                ? "References stay on both sides, and no longer follow each other."
                : "References of the side that had them are entered on the other side.")
    }

    private mutating func compareModifiers(
        _ old: String?, _ new: String?, of entity: Schema.Entity, _ property: String
    ) {
        guard old != new else { return }
        add(
            .hashModifierChanged, to: entity, property,
            reason: "Values are kept as they are; a stage can rewrite them.")
    }
}

extension Schema {
    /// The bounds that a relationship sets, 0 standing for none.
    fileprivate static func counts(of relationship: Relationship) -> [Int] {
        [relationship.minimumModelCount ?? 0, relationship.maximumModelCount ?? 0]
    }
}
