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
        case (let old as Schema.Attribute, let relationship as Schema.Relationship) where old.isTransient:
            addRelationship(relationship, to: entity)
        case (let old as Schema.Relationship, let attribute as Schema.Attribute) where attribute.isTransient:
            remove(old, from: entity)
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
        if old.kind != new.kind { compareKinds(old, new, of: entity) }
        compareOptionality(old, new, of: entity)
        if old.isTransient != new.isTransient { compareTransience(new, of: entity) }
        if old.isStoredExternally != new.isStoredExternally {
            add(
                .externalStorageChanged(isExternal: new.isStoredExternally), to: entity, new.name,
                reason: "Stored values stay where they are until they are written again.")
        }
        if old.storedDefault != new.storedDefault, old.kind == new.kind {
            add(
                .attributeDefaultChanged, to: entity, new.name,
                reason: "Stored objects keep their values; nothing is migrated.")
        }
        if (old as? Schema.CompositeAttribute)?.properties != (new as? Schema.CompositeAttribute)?.properties {
            add(
                .attributeMembersChanged, to: entity, new.name,
                reason: "Removed members are dropped. New ones get the values that the type decodes without them.")
        }
        compareModifiers(old.hashModifier, new.hashModifier, of: entity, new.name)
    }

    private mutating func compareKinds(_ old: Schema.Attribute, _ new: Schema.Attribute, of entity: Schema.Entity) {
        let kind = SchemaDifference.Kind.attributeKindChanged(from: old.kind, to: new.kind)
        if old.isTransient || new.isTransient {
            add(kind, to: entity, new.name, reason: "No stored value is read as the new type.")
        } else if !new.kind.holdsEveryValue(of: old.kind) {
            add(
                kind, to: entity, new.name, demand: .needsStage,
                reason: """
                    \(old.valueTypeName) values are not turned into \(new.valueTypeName) values by themselves. Add an \
                    attribute under another name, and copy the values in a stage.
                    """)
        } else if isUnique(new.name, in: entity), !new.kind.hasKeys(of: old.kind) {
            add(
                kind, to: entity, new.name, demand: .needsStage,
                reason: """
                    A unique \(new.valueTypeName) is looked up by another key than a \(old.valueTypeName). Write the \
                    objects anew in a streamed stage.
                    """)
        } else {
            add(
                kind, to: entity, new.name,
                reason: "Every \(old.valueTypeName) is a \(new.valueTypeName): values are read as the new type.")
        }
    }

    private func isUnique(_ property: String, in entity: Schema.Entity) -> Bool {
        entity.allUniquenessConstraints.contains { $0.contains(property) }
    }

    private mutating func compareOptionality(
        _ old: Schema.Attribute, _ new: Schema.Attribute, of entity: Schema.Entity
    ) {
        guard old.isOptional != new.isOptional, !old.isTransient, !new.isTransient else { return }
        let kind = SchemaDifference.Kind.attributeOptionalityChanged(isOptional: new.isOptional)
        if new.isOptional {
            add(kind, to: entity, new.name, reason: "All values stay.")
        } else if new.hasDefaultValue, isUnique(new.name, in: entity) {
            add(
                kind, to: entity, new.name, isChecked: true,
                reason: """
                    Objects without a value would all take the default value, which is to be unique. If there are any, \
                    give each a value in a stage first.
                    """)
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

    mutating func compareModifiers(
        _ old: String?, _ new: String?, of entity: Schema.Entity, _ property: String
    ) {
        guard old != new else { return }
        add(
            .hashModifierChanged, to: entity, property,
            reason: "Values are kept as they are; a stage can rewrite them.")
    }
}
