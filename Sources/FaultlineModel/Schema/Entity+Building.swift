/// The role of a persisted property, by its type.
package enum PropertyRole: Sendable {
    case attribute
    case toOne(destination: String)
    case toMany(destination: String)
}

extension Schema.Entity {
    /// Makes an entity from a model class's list of its properties.
    ///
    /// `role` distinguishes models from values by type. The slot of a property is its position in `metadata`, without
    /// indexes and constraints. Inverses given as key paths stay unresolved until `Schema.resolveInverses()`.
    ///
    /// Throws `unknownProperty` if an index or a constraint names a property that is not persisted.
    package convenience init(
        _ name: String, metadata: [Schema.PropertyMetadata], role: (any Any.Type) -> PropertyRole
    ) throws(SchemaError) {
        var properties: [any SchemaProperty] = []
        var names: [AnyKeyPath: String] = [:]
        for item in metadata where !item.isGroups {
            properties.append(Schema.Entity.property(item, role: role))
            names[item.keypath] = item.name
        }

        var constraints: [[String]] = []
        var indices: [[String]] = []
        var texts: [Schema.IndexedText] = []
        for item in metadata {
            guard item.isGroups, let groups = item.metadata as? any KeyPathGroups, let property = item.metadata else {
                continue
            }
            let textIndex = groups as? any TextIndexDeclaration
            for group in groups.keyPathGroups {
                let members = group.compactMap { names[$0] }
                guard members.count == group.count else {
                    throw SchemaError(
                        .unknownProperty, entity: name,
                        """
                        \(property.isUnique ? "#Unique" : textIndex == nil ? "#Index" : "#TextIndex") of \(name) names a property that is not stored. \
                        Computed and @Transient properties, and properties of other models, cannot be used there.
                        """)
                }
                if let textIndex {
                    texts.append(Schema.IndexedText(members, weights: textIndex.weights))
                } else if property.isUnique {
                    constraints.append(members)
                } else {
                    indices.append(members)
                }
            }
        }
        self.init(
            name, subentities: [], properties: properties, uniquenessConstraints: constraints, indices: indices,
            indexedTexts: texts)
        namesByKeyPath = names
    }

    private static func property(
        _ item: Schema.PropertyMetadata, role: (any Any.Type) -> PropertyRole
    ) -> any SchemaProperty {
        let type = Swift.type(of: item.keypath).valueType
        switch role(type) {
        case .toOne(let destination), .toMany(let destination):
            let relationship = item.metadata?.asRelationship ?? Schema.Relationship()
            relationship.name = item.name
            relationship.keypath = item.keypath
            relationship.valueType = type
            relationship.destination = destination
            if let attribute = item.metadata?.asAttribute {
                relationship.originalName = attribute.originalName
                relationship.hashModifier = attribute.hashModifier
                if attribute.isUnique { relationship.options.append(.unique) }
            }
            return relationship
        case .attribute:
            let attribute = item.metadata?.asAttribute ?? Schema.Attribute()
            attribute.name = item.name
            attribute.valueType = type
            attribute.defaultValue = item.defaultValue
            return attribute
        }
    }
}

extension Schema.PropertyMetadata {
    /// Whether this is an index or a uniqueness constraint: attributes and relationships are excluded by their class,
    /// which is faster than checking a conformance.
    fileprivate var isGroups: Bool {
        guard let metadata, metadata.asAttribute == nil, metadata.asRelationship == nil else { return false }
        return metadata is any KeyPathGroups
    }
}
