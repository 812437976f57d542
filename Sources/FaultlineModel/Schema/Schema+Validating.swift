extension Schema {
    /// The greatest number of properties that an entity can have, with inherited ones.
    public static let propertyCountMax = 1_000

    /// A valid declaration in a schema that probably has an unintended effect.
    public struct Warning: Hashable, CustomStringConvertible, Sendable {
        /// The entity that declares the property.
        public let entityName: String
        /// The property that is risky.
        public let propertyName: String
        /// The possible effect, and the remedy.
        public let message: String

        /// The message.
        public var description: String { message }
    }

    /// Checks that the schema is valid.
    ///
    /// A store accepts only valid schemas.
    ///
    /// Throws the first mistake found, in order of declaration, with entity and property.
    ///
    /// - Complexity: O(n log n) for n properties, and names in constraints and indexes, of all entities.
    public func validate() throws(SchemaError) {
        if let defect { throw defect }
        var names: Set<String> = []
        var originalNames: [String: String] = [:]
        for entity in entities {
            guard !entity.name.isEmpty else {
                throw SchemaError(.emptyName, "An entity has no name. Give every entity a name.")
            }
            guard names.insert(entity.name).inserted else {
                throw SchemaError(
                    .duplicateName, entity: entity.name,
                    """
                    Two entities are named \(entity.name). List each class once, and let relationships refer to classes \
                    of the same schema version only.
                    """)
            }
            if entity.isRenamed, let other = originalNames.updateValue(entity.name, forKey: entity.originalName) {
                throw SchemaError(
                    .duplicateOriginalName, entity: entity.name,
                    """
                    \(entity.name) and \(other) have the same original name, \(entity.originalName). Remove it from \
                    one of them.
                    """)
            }
        }
        for entity in entities {
            try validateNames(of: entity)
            try entity.checkHeirs()
            try validateGroups(of: entity)
            for property in entity.storedProperties {
                if let attribute = property.asAttribute { try validate(attribute, of: entity) }
            }
            for property in entity.storedProperties {
                guard let relationship = property.asRelationship else { continue }
                try validate(relationship, of: entity)
            }
        }
    }

    private func validateNames(of entity: Entity) throws(SchemaError) {
        if let parent = entity.superentityName, entitiesByName[parent] == nil {
            throw SchemaError(
                .unknownSuperentity, entity: entity.name,
                "\(entity.name) inherits from \(parent), which is not in the schema. Add \(parent) to the schema.")
        }
        let properties = entity.properties
        guard properties.count <= Schema.propertyCountMax else {
            throw SchemaError(
                .tooManyProperties, entity: entity.name,
                """
                \(entity.name) has \(properties.count) properties; \(Schema.propertyCountMax) is the most. Move some of \
                them to another entity or into a Codable structure.
                """)
        }
        var names: Set<String> = []
        var originalNames: [String: String] = [:]
        for property in properties {
            guard !property.name.isEmpty else {
                throw SchemaError(.emptyName, entity: entity.name, "A property of \(entity.name) has no name.")
            }
            guard names.insert(property.name).inserted else {
                throw SchemaError(
                    .duplicateName, entity: entity.name, property: property.name,
                    "\(entity.name) has two properties named \(property.name). Rename one of them.")
            }
            if property.originalName != property.name,
                let other = originalNames.updateValue(property.name, forKey: property.originalName)
            {
                throw SchemaError(
                    .duplicateOriginalName, entity: entity.name, property: property.name,
                    """
                    \(entity.name).\(property.name) and \(entity.name).\(other) have the same original name, \
                    \(property.originalName). Remove it from one of them.
                    """)
            }
        }
    }

    private func validateGroups(of entity: Entity) throws(SchemaError) {
        let properties = Dictionary(entity.properties.map { ($0.name, $0) }) { first, _ in first }
        for (groups, word) in [(entity.uniquenessConstraints, "uniqueness constraint"), (entity.indices, "index")] {
            for name in groups.joined() {
                guard let property = properties[name] else {
                    throw SchemaError(
                        .unknownProperty, entity: entity.name, property: name,
                        """
                        A\(word == "index" ? "n" : "") \(word) of \(entity.name) names \(name), which is not a stored \
                        property of \(entity.name).
                        """)
                }
                if let relationship = property.asRelationship, !relationship.isToOneRelationship {
                    throw Schema.uniqueOnToMany(entity: entity.name, property: name, word: word)
                }
                if property.isTransient, word != "index" {
                    throw Schema.uniqueOnEphemeral(entity: entity.name, property: name)
                }
            }
        }
        try validateTexts(of: entity, properties)
    }

    private func validateTexts(
        of entity: Entity, _ properties: [String: any SchemaProperty]
    ) throws(SchemaError) {
        func mistake(_ property: String?, _ message: String) -> SchemaError {
            SchemaError(.invalidTextIndex, entity: entity.name, property: property, message)
        }
        for text in entity.indexedTexts {
            guard (1...IndexedText.propertyCountMax).contains(text.properties.count),
                Set(text.properties).count == text.properties.count
            else {
                throw mistake(
                    nil,
                    """
                    A text index of \(entity.name) names \(text.properties.count) properties. Name each once, and at \
                    most \(IndexedText.propertyCountMax) of them.
                    """)
            }
            guard text.weights.isEmpty || text.weights.count == text.properties.count,
                text.weights.allSatisfy({ $0 >= 0 && $0.isFinite })
            else {
                throw mistake(
                    nil,
                    """
                    A text index of \(entity.name) has \(text.weights.count) weights for \(text.properties.count) \
                    properties. Give each property a weight of 0 or more, or none.
                    """)
            }
            for name in text.properties {
                guard let property = properties[name] else {
                    throw SchemaError(
                        .unknownProperty, entity: entity.name, property: name,
                        "A text index of \(entity.name) names \(name), which is not a stored property of it.")
                }
                guard property.asAttribute?.isSearchableText == true else {
                    throw mistake(
                        name,
                        """
                        A text index of \(entity.name) names \(name), which is no stored String. Take it out of the \
                        index.
                        """)
                }
                guard property.asAttribute?.isStoredExternally != true else {
                    throw mistake(
                        name,
                        """
                        A text index of \(entity.name) names \(name), which is stored externally: each search would read \
                        all of its texts. Take .externalStorage from it, or take it out of the index.
                        """)
                }
            }
        }
    }

    private func validate(_ attribute: Attribute, of entity: Entity) throws(SchemaError) {
        if attribute.isTransient, attribute.isUnique {
            throw Schema.uniqueOnEphemeral(entity: entity.name, property: attribute.name)
        }
        guard attribute.isStorable else {
            throw SchemaError(
                .unstorableType, entity: entity.name, property: attribute.name,
                """
                \(entity.name).\(attribute.name) is of type \(attribute.valueTypeName), which is not Codable. Make the \
                type Codable, give the attribute a transformer, or mark the property @Transient.
                """)
        }
        // A value that goes through a transformer may be of any type.
        if !attribute.isTransformable, let value = attribute.defaultValue,
            (try? AttributeValue(value, kind: attribute.kind)) == nil
        {
            throw SchemaError(
                .defaultMismatch, entity: entity.name, property: attribute.name,
                """
                \(entity.name).\(attribute.name) is of type \(attribute.valueTypeName), and has the default \(value), \
                which is none of its values. Give it one of that type.
                """)
        }
    }

    private func validate(_ relationship: Relationship, of entity: Entity) throws(SchemaError) {
        let place = "\(entity.name).\(relationship.name)"
        guard let destination = entitiesByName[relationship.destination] else {
            throw SchemaError(
                .unknownDestination, entity: entity.name, property: relationship.name,
                """
                \(place) refers to \(relationship.destination.isEmpty ? "no entity" : relationship.destination), which \
                is not in the schema. Add it to the schema.
                """)
        }
        if relationship.isUnique, !relationship.isToOneRelationship {
            throw Schema.uniqueOnToMany(
                entity: entity.name, property: relationship.name, word: "uniqueness constraint")
        }
        try validateCounts(of: relationship, entity: entity)
        guard let inverseName = relationship.inverseName else {
            guard relationship.inverseKeyPath == nil else {
                throw SchemaError(
                    .unknownInverse, entity: entity.name, property: relationship.name,
                    "The inverse given for \(place) is not a stored relationship of \(destination.name).")
            }
            return
        }
        guard let inverse = destination.properties.first(where: { $0.name == inverseName }) as? Relationship else {
            throw SchemaError(
                .unknownInverse, entity: entity.name, property: relationship.name,
                """
                \(place) has the inverse \(destination.name).\(inverseName), which is not a relationship of \
                \(destination.name).
                """)
        }
        guard inverse.inverseName == relationship.name, inverse.destination == entity.name else {
            let back = inverse.inverseName.map { "\(inverse.destination).\($0)" } ?? "nothing"
            throw SchemaError(
                .inverseMismatch, entity: entity.name, property: relationship.name,
                """
                \(place) has the inverse \(destination.name).\(inverseName), but the inverse of that is \(back). Name \
                each relationship as the inverse of one other only.
                """)
        }
    }

    private func validateCounts(of relationship: Relationship, entity: Entity) throws(SchemaError) {
        let minimum = relationship.minimumModelCount ?? 0
        let maximum = relationship.maximumModelCount ?? 0
        let most = relationship.isToOneRelationship ? 1 : Int.max
        guard minimum >= 0, maximum >= 0, minimum <= most, maximum <= most, maximum == 0 || minimum <= maximum else {
            throw SchemaError(
                .invalidModelCount, entity: entity.name, property: relationship.name,
                """
                \(entity.name).\(relationship.name) asks for at least \(minimum) and at most \(maximum) objects, which \
                no object can fulfil.
                """)
        }
    }

    private static func uniqueOnEphemeral(entity: String, property: String) -> SchemaError {
        SchemaError(
            .uniqueOnEphemeral, entity: entity, property: property,
            """
            \(entity).\(property) is ephemeral and so never stored, and cannot be unique. Remove .ephemeral, or the \
            constraint.
            """)
    }

    private static func uniqueOnToMany(entity: String, property: String, word: String) -> SchemaError {
        SchemaError(
            .uniqueOnToMany, entity: entity, property: property,
            """
            \(entity).\(property) is a to-many relationship, and cannot be part of a\(word == "index" ? "n" : "") \
            \(word). Only attributes and to-one relationships can.
            """)
    }

    /// The valid but risky declarations: delete rules that clear a required reference.
    ///
    /// - Complexity: O(n) for n properties of all entities.
    public var warnings: [Warning] {
        var warnings: [Warning] = []
        for entity in entities {
            for property in entity.storedProperties {
                guard let relationship = property.asRelationship else { continue }
                guard relationship.deleteRule == .nullify, let inverseName = relationship.inverseName,
                    let destination = entitiesByName[relationship.destination],
                    let inverse = destination.relationshipsByName[inverseName],
                    inverse.isToOneRelationship, !inverse.isOptional
                else { continue }
                warnings.append(
                    Warning(
                        entityName: entity.name, propertyName: relationship.name,
                        message: """
                            Deleting \(entity.name) clears \(destination.name).\(inverseName), which is required, so \
                            the save will fail. Make \(destination.name).\(inverseName) optional, or let \
                            \(entity.name).\(relationship.name) cascade.
                            """))
            }
        }
        return warnings
    }
}
