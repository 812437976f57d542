internal import FaultlineModel
internal import Foundation

extension ModelClassWriter {
    // MARK: Attributes

    func lines(of attribute: Schema.Attribute, of entity: Schema.Entity) -> [String] {
        let name = swiftName(of: attribute, in: entity)
        if attribute.holdsAnyValue {
            let type = typeText(of: attribute, in: entity)
            return ["@Transient var \(SwiftName.quoted(name)): \(type)\(type.hasSuffix("]") ? " = []" : "")"]
        }
        // A text index covers a table: only the root class may declare one.
        let options = attribute.options.filter { $0 != .spotlight || entity.superentityName == nil }
        var arguments = options.map(\.debugDescription)
        let original = attribute.originalName
        if original != name { arguments.append("originalName: \(SwiftName.literal(original))") }
        if let modifier = attribute.hashModifier { arguments.append("hashModifier: \(SwiftName.literal(modifier))") }
        let value = attribute.defaultValue.flatMap(literal).map { " = \($0)" } ?? ""
        let declaration = "var \(SwiftName.quoted(name)): \(typeText(of: attribute, in: entity))\(value)"
        return arguments.isEmpty
            ? [declaration] : ["@Attribute(\(arguments.joined(separator: ", ")))", declaration]
    }

    /// A default value as source has it.
    func literal(_ value: Any) -> String? {
        switch value {
        case let value as Bool: value ? "true" : "false"
        case let value as Int16: "\(value)"
        case let value as Int32: "\(value)"
        case let value as Int64: "\(value)"
        case let value as Double: literal(value)
        case let value as Float: literal(Double(value))
        case let value as String: SwiftName.literal(value)
        case let value as Decimal: "\(type("Decimal"))(string: \"\(value)\") ?? 0"
        case let value as Date:
            "\(type("Date"))(timeIntervalSinceReferenceDate: \(literal(value.timeIntervalSinceReferenceDate)))"
        case let value as Data:
            "\(type("Data"))(base64Encoded: \"\(value.base64EncodedString())\") ?? \(type("Data"))()"
        case let value as UUID: "\(type("UUID"))(uuidString: \"\(value.uuidString)\") ?? \(type("UUID"))()"
        case let value as URL:
            "\(type("URL"))(string: \(SwiftName.literal(value.absoluteString))) ?? \(type("URL"))(filePath: \"/\")"
        default: nil
        }
    }

    private func literal(_ number: Double) -> String {
        if number.isNaN { return ".nan" }
        if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
        return "\(number)"
    }

    // MARK: Relationships

    func lines(of relationship: Schema.Relationship, of entity: Schema.Entity) -> [String] {
        let name = swiftName(of: relationship, in: entity)
        var arguments: [String] = []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if let least = relationship.minimumModelCount, least > 0 { arguments.append("minimumModelCount: \(least)") }
        if let most = relationship.maximumModelCount, most > 0 { arguments.append("maximumModelCount: \(most)") }
        let original = relationship.originalName
        if original != name { arguments.append("originalName: \(SwiftName.literal(original))") }
        if let inverse = inverse(of: relationship, in: entity) { arguments.append("inverse: \(inverse)") }
        if let modifier = relationship.hashModifier {
            arguments.append("hashModifier: \(SwiftName.literal(modifier))")
        }
        let value = relationship.isToOneRelationship ? "" : " = []"
        let declaration = "var \(SwiftName.quoted(name)): \(typeText(of: relationship, in: entity))\(value)"
        return arguments.isEmpty
            ? [declaration] : ["@Relationship(\(arguments.joined(separator: ", ")))", declaration]
    }

    /// The inverse as source has it; nil on the side that does not name it.
    ///
    /// Both sides would refer to each other in a circle. A to-many relationship names it before a to-one.
    private func inverse(of relationship: Schema.Relationship, in entity: Schema.Entity) -> String? {
        guard let name = relationship.inverseName,
            let destination = version.schema.entitiesByName[relationship.destination],
            destination.storedPropertiesByName[name] != nil, !isOwnInverse(relationship, in: entity),
            let inverse = destination.relationship(named: name)
        else { return "nil" }
        let names =
            relationship.isToOneRelationship == inverse.isToOneRelationship
            ? (entity.name, relationship.name) <= (destination.name, name) : !relationship.isToOneRelationship
        guard names else { return nil }
        let type = SwiftName.quoted(classNames[destination.name] ?? destination.name)
        return "\\\(type).\(SwiftName.quoted(propertyNames.name(of: name, in: destination.name)))"
    }

    /// Whether a relationship is its own inverse, as that of friends.
    func isOwnInverse(_ relationship: Schema.Relationship, in entity: Schema.Entity) -> Bool {
        relationship.destination == entity.name && relationship.inverseName == relationship.name
    }

    // MARK: Composite attributes

    /// The name of the structure of a composite attribute.
    func structureName(of attribute: String, in entity: Schema.Entity) -> String {
        structures.names["\(entity.name).\(attribute)"] ?? type("Data")
    }

    /// The file of a structure; the structures of its parts are written, too.
    func text(of parts: [ModelVersion.Attribute], structureName name: String) -> String {
        (header + structure(name, parts)).joined(separator: "\n") + "\n"
    }

    private func structure(_ name: String, _ parts: [ModelVersion.Attribute]) -> [String] {
        var lines = [
            "/// A composite attribute of the model \(SwiftName.comment(version.name)).",
            "struct \(SwiftName.quoted(name)): Codable, Hashable, Sendable {",
        ]
        var inner: [String] = []
        for part in parts {
            let partName = SwiftName.quoted(SwiftName.identifier(part.name))
            if part.type == .composite {
                let typeName = SwiftName.type("\(name)\(part.name.prefix(1).uppercased())\(part.name.dropFirst())")
                inner += [""] + structure(typeName, part.elements)
                let value = part.isOptional ? "?" : " = \(SwiftName.quoted(typeName))()"
                lines.append("    var \(partName): \(SwiftName.quoted(typeName))\(value)")
            } else if let valueType = part.type.valueType {
                let typeName = type(unqualifiedName(of: valueType))
                let value = part.defaultValue?.value(of: part.type).flatMap(literal) ?? zero(part.type)
                lines.append("    var \(partName): \(typeName)\(part.isOptional ? "?" : " = \(value)")")
            }
        }
        return lines + ["}"] + inner
    }

    /// A value for a required part without a default.
    private func zero(_ type: ModelVersion.AttributeType) -> String {
        switch type {
        case .string: "\"\""
        case .boolean: "false"
        case .date: "\(self.type("Date"))(timeIntervalSinceReferenceDate: 0)"
        case .uuid: "\(self.type("UUID"))()"
        case .uri: "\(self.type("URL"))(filePath: \"/\")"
        case .binary, .transformable: "\(self.type("Data"))()"
        default: "0"
        }
    }
}
