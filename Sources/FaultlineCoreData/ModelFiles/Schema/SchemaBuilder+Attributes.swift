internal import FaultlineModel
internal import Foundation

extension SchemaBuilder {
    /// The attributes of an entity as a schema has them.
    mutating func attributes(of entity: ModelVersion.Entity) -> [any SchemaProperty] {
        var names = inheritedNames(of: entity)
        var originals: Set<String> = []
        var made: [any SchemaProperty] = []
        for var attribute in entity.attributes where !attribute.name.isEmpty {
            let place = "\(entity.name).\(attribute.name)"
            guard names.insert(attribute.name).inserted else {
                noteDuplicate(place, line: attribute.line)
                continue
            }
            dropRepeated(&attribute.renamingIdentifier, of: attribute.name, &originals, place, line: attribute.line)
            if let attribute = self.attribute(attribute, at: place) { made.append(attribute) }
        }
        return made
    }

    /// The names of the properties that an entity inherits.
    func inheritedNames(of entity: ModelVersion.Entity) -> Set<String> {
        Set(
            lineage(of: entity).dropFirst().flatMap { ancestor in
                ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)
            })
    }

    mutating func noteDuplicate(_ place: String, line: Int?) {
        note(
            .invalid, "name", at: place, line: line,
            "The entity has two properties of this name, or inherits one. The schema has the first.")
    }

    /// Clears a renaming identifier that another property of the entity has.
    mutating func dropRepeated(
        _ identifier: inout String?, of name: String, _ originals: inout Set<String>, _ place: String, line: Int?
    ) {
        guard let original = identifier, original != name, !originals.insert(original).inserted else { return }
        note(
            .invalid, "elementID", at: place, line: line,
            "Another property has the renaming identifier \(original), too. The schema passes it over.")
        identifier = nil
    }

    /// An attribute, or a part of one; nil for one that no schema can have.
    private mutating func attribute(_ attribute: ModelVersion.Attribute, at place: String) -> Schema.Attribute? {
        guard attribute.type != .composite else { return composite(attribute, at: place) }
        guard let type = attribute.type.valueType else {
            if attribute.isTransient, !placesOfUnknownTypes.contains(place) { return transient(attribute) }
            if placesOfUnknownTypes.contains(place) { return nil }
            note(
                .unexpressed, "attributeType", at: place, line: attribute.line,
                "Values of the type \(attribute.type) cannot be stored, and the schema leaves the attribute out.")
            return nil
        }
        let value = attribute.defaultValue?.value(of: attribute.type)
        if attribute.defaultValue != nil, value == nil {
            note(
                .unexpressed, "defaultValue", at: place, line: attribute.line,
                "The default \(attribute.defaultValue?.description ?? "") is no value of the type \(attribute.type).")
        }
        return Schema.Attribute(
            name: attribute.name, originalName: attribute.renamingIdentifier, options: options(of: attribute),
            valueType: attribute.isOptional ? Self.optional(type) : type, defaultValue: value,
            hashModifier: attribute.versionHashModifier)
    }

    private static func optional(_ type: any Any.Type) -> any Any.Type {
        func wrap<T>(_ type: T.Type) -> any Any.Type { T?.self }
        return _openExistential(type, do: wrap)
    }

    private func options(of attribute: ModelVersion.Attribute) -> [Schema.Attribute.Option] {
        var options: [Schema.Attribute.Option] = []
        if attribute.isTransient { options.append(.ephemeral) }
        // Only bytes become blobs.
        if attribute.isStoredExternally, attribute.type.isBytes { options.append(.externalStorage) }
        if attribute.isPreservedOnDeletion { options.append(.preserveValueOnDeletion) }
        if attribute.allowsCloudEncryption { options.append(.allowsCloudEncryption) }
        if attribute.isIndexedBySpotlight { options.append(.spotlight) }
        return options
    }

    private mutating func composite(_ attribute: ModelVersion.Attribute, at place: String) -> Schema.Attribute? {
        guard !attribute.elements.isEmpty else {
            note(
                .invalid, "composite", at: place, line: attribute.line,
                "The parts of the composite attribute are not in the model, and the schema leaves it out.")
            return nil
        }
        var parts: [Schema.Attribute] = []
        for part in attribute.elements {
            if let made = self.attribute(part, at: "\(place).\(part.name)") { parts.append(made) }
        }
        if attribute.defaultValue != nil {
            note(
                .unexpressed, "defaultValue", at: place, line: attribute.line,
                "The default of a composite attribute is left out.")
        }
        return Schema.CompositeAttribute(
            written: WrittenAttribute(
                name: attribute.name, originalName: attribute.renamingIdentifier,
                options: options(of: attribute), kind: .codable,
                valueTypeName: attribute.compositeTypeName, isOptional: attribute.isOptional,
                hashModifier: attribute.versionHashModifier, defaultValue: nil),
            properties: parts)
    }
}

extension ModelVersion.Attribute {
    /// The name of a structure with the parts of a composite attribute.
    var compositeTypeName: String {
        if let name = valueClassName, name != "NSDictionary" { return name }
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}

extension ModelVersion.AttributeType {
    /// The type of stored values; nil if there are none.
    ///
    /// The bytes of transformable attributes are kept.
    var valueType: (any Any.Type)? {
        switch self {
        case .integer16: Int16.self
        case .integer32: Int32.self
        case .integer64: Int64.self
        case .decimal: Decimal.self
        case .double: Double.self
        case .float: Float.self
        case .string: String.self
        case .boolean: Bool.self
        case .date: Date.self
        case .binary, .transformable: Data.self
        case .uuid: UUID.self
        case .uri: URL.self
        case .undefined, .objectID, .composite: nil
        }
    }

    /// Whether values are bytes.
    var isBytes: Bool { self == .binary || self == .transformable }
}
