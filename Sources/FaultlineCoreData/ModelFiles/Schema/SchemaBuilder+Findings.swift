internal import FaultlineModel

// The parts of a model that `ModelVersion` keeps, and a schema does not have.

extension SchemaBuilder {
    /// Notes the parts of the model itself.
    mutating func noteParts() {
        for configuration in content.configurations {
            note(
                .unexpressed, "configuration", at: configuration.name, line: nil,
                "The configuration with \(configuration.entityNames.count) entities: the schema has all entities of the model. A coordinator opens a store for the configuration by its name."
            )
        }
        for request in content.fetchRequests {
            note(
                .unexpressed, "fetchRequest", at: request.name, line: request.line,
                "The stored request for \(request.entityName ?? "no entity"): write it as a FetchDescriptor.")
        }
    }

    /// Notes the parts of an entity and of its properties.
    mutating func noteProperties(of entity: ModelVersion.Entity) {
        if entity.isAbstract {
            note(
                .unexpressed, "isAbstract", at: entity.name, line: entity.line,
                "The entity is abstract: the schema does not forbid objects of it.")
        }
        if let modifier = entity.versionHashModifier {
            note(
                .unexpressed, "versionHashModifier", at: entity.name, line: entity.line,
                "The modifier \"\(modifier)\" of the entity: give it to one of its properties.")
        }
        noteUserInfo(entity.userInfo, at: entity.name, line: entity.line)
        for property in entity.fetchedProperties {
            note(
                .unexpressed, "fetchedProperty", at: "\(entity.name).\(property.name)", line: property.line,
                "The fetched property for \(property.request?.entityName ?? "no entity"): write it as a method that fetches."
            )
            noteUserInfo(property.userInfo, at: "\(entity.name).\(property.name)", line: property.line)
        }
        for attribute in entity.attributes { noteParts(of: attribute, at: "\(entity.name).\(attribute.name)") }
        for relationship in entity.relationships {
            noteUserInfo(relationship.userInfo, at: "\(entity.name).\(relationship.name)", line: relationship.line)
        }
    }

    private mutating func noteUserInfo(_ texts: [String: String], at place: String, line: Int?) {
        guard !texts.isEmpty else { return }
        note(
            .unexpressed, "userInfo", at: place, line: line,
            "The texts under \(texts.keys.sorted().joined(separator: ", ")).")
    }

    private mutating func noteParts(of attribute: ModelVersion.Attribute, at place: String) {
        let line = attribute.line
        let isText = attribute.type == .string
        if let minimum = attribute.minimum {
            note(
                .unexpressed, "minimum", at: place, line: line,
                "\(isText ? "The least length" : "The least value"), \(minimum): check it in validateForInsert() and validateForUpdate()."
            )
        }
        if let maximum = attribute.maximum {
            note(
                .unexpressed, "maximum", at: place, line: line,
                "\(isText ? "The greatest length" : "The greatest value"), \(maximum): check it in validateForInsert() and validateForUpdate()."
            )
        }
        if let expression = attribute.regularExpression {
            note(
                .unexpressed, "regularExpression", at: place, line: line,
                "The regular expression \(expression): check it in validateForInsert() and validateForUpdate().")
        }
        for condition in attribute.conditions {
            note(
                .unexpressed, "validation", at: place, line: line,
                "The condition \(condition): check it in validateForInsert() and validateForUpdate().")
        }
        if let derivation = attribute.derivation {
            note(
                .unexpressed, "derivationExpression", at: place, line: line,
                "The expression \(derivation): the schema has the attribute, and nothing computes its values.")
        }
        if attribute.type == .transformable {
            let transformer = attribute.transformerName ?? "the archiver of Foundation"
            note(
                .unexpressed, "valueTransformerName", at: place, line: line,
                "Values of \(attribute.valueClassName ?? "any class") are kept as the bytes that \(transformer) made.")
        }
        noteUserInfo(attribute.userInfo, at: place, line: line)
        for part in attribute.elements { noteParts(of: part, at: "\(place).\(part.name)") }
    }
}
