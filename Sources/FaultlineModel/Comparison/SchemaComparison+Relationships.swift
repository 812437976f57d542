extension SchemaComparison {
    mutating func addRelationship(_ relationship: Schema.Relationship, to entity: Schema.Entity) {
        if relationship.isToOneRelationship, !relationship.isOptional {
            add(
                .relationshipAdded, to: entity, relationship.name, demand: .needsStage,
                reason: "Stored objects have nothing to refer to. Make the relationship optional, or set it in a stage."
            )
        } else {
            add(.relationshipAdded, to: entity, relationship.name, reason: "Stored objects refer to nothing yet.")
        }
    }

    mutating func compare(_ old: Schema.Relationship, _ new: Schema.Relationship, of entity: Schema.Entity) {
        if old.name != new.name {
            add(
                .relationshipRenamed(from: old.name), to: entity, new.name,
                reason: "References are kept under the new name.")
        }
        let isElsewhere = (oldEntityNames[new.destination] ?? new.destination) != old.destination
        if isElsewhere {
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
                    kind, to: entity, new.name, isChecked: true,
                    reason:
                        "Every stored object must refer to one. If some refer to nothing, set them in a stage first.")
            }
        }
        if Schema.counts(of: old) != Schema.counts(of: new), old.isToOneRelationship == new.isToOneRelationship {
            add(
                .relationshipCountsChanged, to: entity, new.name,
                reason: "References stay; an object that has too few or too many cannot be saved again.")
        }
        if !isElsewhere { compareInverses(old, new, of: entity) }
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
        guard oldName(ofInverseOf: new) != old.inverseName || (new.inverseName == nil) != (old.inverseName == nil)
        else { return }
        let kind = SchemaDifference.Kind.relationshipInverseChanged(from: old.inverseName, to: new.inverseName)
        if let obstacle = obstacle(from: old, to: new) {
            add(kind, to: entity, new.name, demand: .needsStage, reason: obstacle)
        } else if new.inverseName == nil {
            add(kind, to: entity, new.name, reason: "References stay as they are, and are no longer followed.")
        } else {
            add(kind, to: entity, new.name, reason: "The other side follows the references that are there.")
        }
    }
}

extension Schema {
    /// The bounds of a relationship's counts; 0 means none.
    fileprivate static func counts(of relationship: Relationship) -> [Int] {
        [relationship.minimumModelCount ?? 0, relationship.maximumModelCount ?? 0]
    }
}
