internal import FaultlineModel

/// Writes the classes of a version.
struct ModelClassWriter {
    let version: ModelVersion
    var findings: [ModelFinding] = []
    /// The name of each entity's class.
    let classNames: [String: String]
    /// The findings of the version by their places.
    private let findingsByPlace: [String: [ModelFinding]]
    /// The structures of composite attributes; attributes with the same parts may share one.
    let structures: CompositeStructures

    init(_ version: ModelVersion) {
        self.version = version
        findingsByPlace = Dictionary(grouping: version.findings, by: \.place)
        var names: [String: String] = [:]
        var taken: Set<String> = []
        for entity in version.schema.entities {
            var name = SwiftName.type(entity.name)
            // Two names may differ only in characters that Swift does not allow, or that files do not tell apart.
            while !taken.insert(name.lowercased()).inserted { name += "_" }
            names[entity.name] = name
        }
        classNames = names
        structures = CompositeStructures(of: version, apartFrom: taken)
    }

    mutating func files() -> [ModelSource.File] {
        var files = version.schema.entities.map { entity in
            let name = classNames[entity.name] ?? entity.name
            noteNames(of: entity, className: name)
            return ModelSource.File(name: "\(name).swift", text: text(of: entity, className: name))
        }
        for (name, parts) in structures.parts {
            files.append(ModelSource.File(name: "\(name).swift", text: text(of: parts, structureName: name)))
        }
        return files.sorted { $0.name < $1.name }
    }

    private mutating func noteNames(of entity: Schema.Entity, className: String) {
        if className != entity.name {
            findings.append(
                ModelFinding(
                    .unexpressed, "name", at: entity.name, "The class is \(className): the name is none of Swift's."))
        }
        if let parent = entity.superentityName {
            findings.append(
                ModelFinding(
                    .unexpressed, "parentEntity", at: entity.name,
                    "The class has the properties of \(parent) itself: its objects are no objects of \(parent), and relationships to \(parent) do not lead to them."
                ))
        }
        for relationship in entity.relationships where isOwnInverse(relationship, in: entity) {
            findings.append(
                ModelFinding(
                    .unexpressed, "inverseName", at: "\(entity.name).\(relationship.name)",
                    "The relationship is its own inverse, which a class cannot say: set both sides."))
        }
        for property in entity.properties where SwiftName.property(property.name) != property.name {
            findings.append(
                ModelFinding(
                    .unexpressed, "name", at: "\(entity.name).\(property.name)",
                    "The property is \(SwiftName.property(property.name)): Swift or the library needs the name."))
        }
    }

    // MARK: A class

    private mutating func text(of entity: Schema.Entity, className: String) -> String {
        var body: [String] = groups(of: entity, className: className)
        var isBesideOneLine = false
        for property in entity.properties {
            var lines = comments(of: property.name, of: entity)
            if let attribute = property.asAttribute {
                lines += self.lines(of: attribute, of: entity)
            } else if let relationship = property.asRelationship {
                lines += self.lines(of: relationship, of: entity)
            }
            if !body.isEmpty, !isBesideOneLine || lines.count > 1 { body.append("") }
            isBesideOneLine = lines.count == 1
            body += lines
        }
        if !body.isEmpty { body.append("") }
        body += initializer(of: entity)
        let source = entity.originalName
        let isRenamed = source != className
        var lines = header
        lines.append(
            "/// The entity `\(SwiftName.comment(entity.name))` of the model \(SwiftName.comment(version.name)).")
        lines += (findingsByPlace[entity.name] ?? []).map { "// \(SwiftName.comment("\($0.name): \($0.reason)"))" }
        lines.append("@Model\(isRenamed ? "(originalName: \(SwiftName.literal(source)))" : "")")
        lines.append("final class \(SwiftName.quoted(className)) {")
        lines += body.map { $0.isEmpty ? "" : "    " + $0 }
        lines.append("}")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The imports; names of types that a class of the model hides need the second.
    var header: [String] {
        let hidden = classNames.values.contains(where: SwiftName.usedTypes.contains)
        return ["import Faultline"] + (hidden ? ["import Foundation"] : []) + [""]
    }

    /// A type that written code uses, with its module if a class of the model has the same name.
    func type(_ name: String) -> String {
        guard classNames.values.contains(name) else { return name }
        return ["Data", "Date", "Decimal", "URL", "UUID"].contains(name) ? "Foundation.\(name)" : "Swift.\(name)"
    }

    /// The constraints and indexes of an entity and of those that it inherits from.
    private func groups(of entity: Schema.Entity, className: String) -> [String] {
        var lineage = [entity]
        while let parent = lineage.last?.superentity, lineage.count < 1_000 { lineage.append(parent) }
        func line(_ macro: String, _ groups: [[String]]) -> [String] {
            guard !groups.isEmpty else { return [] }
            let texts = groups.map { group in
                "[" + group.map { "\\.\(SwiftName.quoted(SwiftName.property($0)))" }.joined(separator: ", ") + "]"
            }
            return ["#\(macro)<\(SwiftName.quoted(className))>(\(texts.joined(separator: ", ")))"]
        }
        return line("Unique", lineage.flatMap(\.uniquenessConstraints)) + line("Index", lineage.flatMap(\.indices))
    }

    private func comments(of property: String, of entity: Schema.Entity) -> [String] {
        (findingsByPlace["\(entity.name).\(property)"] ?? []).map {
            "// \(SwiftName.comment("\($0.name): \($0.reason)"))"
        }
    }

    private func initializer(of entity: Schema.Entity) -> [String] {
        let names = entity.properties.filter(needsArgument).map { property in
            (SwiftName.quoted(SwiftName.property(property.name)), typeText(of: property, in: entity))
        }
        guard !names.isEmpty else { return ["init() {}"] }
        let parameters = names.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
        return ["init(\(parameters)) {"] + names.map { "    self.\($0.0) = \($0.0)" } + ["}"]
    }

    /// Whether a property has no initial value.
    private func needsArgument(_ property: any SchemaProperty) -> Bool {
        if let attribute = property.asAttribute { return !attribute.isOptional && !attribute.hasDefaultValue }
        return property.asRelationship.map { $0.isToOneRelationship && !$0.isOptional } ?? false
    }

    /// The type of a property as source has it.
    func typeText(of property: any SchemaProperty, in entity: Schema.Entity) -> String {
        if let relationship = property.asRelationship {
            let name = SwiftName.quoted(classNames[relationship.destination] ?? relationship.destination)
            guard relationship.isToOneRelationship else { return "[\(name)]" }
            return relationship.isOptional ? "\(name)?" : name
        }
        guard let attribute = property.asAttribute else { return type("Data") }
        let name =
            attribute is Schema.CompositeAttribute
            ? structureName(of: attribute.name, in: entity) : type(attribute.valueTypeName)
        return attribute.isOptional ? "\(name)?" : name
    }
}
