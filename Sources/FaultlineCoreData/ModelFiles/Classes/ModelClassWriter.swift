internal import FaultlineModel

/// Writes the classes of a version.
struct ModelClassWriter {
    let version: ModelVersion
    var findings: [ModelFinding] = []
    /// The name of each entity's class.
    let classNames: [String: String]
    let propertyNames: PropertyNames
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
        propertyNames = PropertyNames(of: version.schema)
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
        for relationship in entity.relationships where isOwnInverse(relationship, in: entity) {
            findings.append(
                ModelFinding(
                    .unexpressed, "inverseName", at: "\(entity.name).\(relationship.name)",
                    "The relationship is its own inverse, which a class cannot say: set both sides."))
        }
        for property in entity.storedProperties {
            let (name, place) = (swiftName(of: property, in: entity), "\(entity.name).\(property.name)")
            if name != property.name {
                let isTaken = name != SwiftName.property(property.name)
                findings.append(
                    ModelFinding(
                        .unexpressed, "name", at: place,
                        "The property is \(name): \(isTaken ? "the class has or inherits another one of that name" : "Swift or the library needs the name")."
                    ))
            }
            if entity.superentityName != nil, property.asAttribute?.options.contains(.spotlight) == true {
                findings.append(
                    ModelFinding(
                        .unexpressed, "spotlightIndexingEnabled", at: place,
                        "A class that inherits from another one cannot have a text index: move the attribute to the root class."
                    ))
            }
        }
    }

    /// The name of a property in its class, own or inherited.
    func swiftName(of property: any SchemaProperty, in entity: Schema.Entity) -> String {
        propertyNames.name(of: property.name, in: entity.name)
    }

    // MARK: A class

    private mutating func text(of entity: Schema.Entity, className: String) -> String {
        var body: [String] = groups(of: entity, className: className)
        var isBesideOneLine = false
        for property in entity.storedProperties {
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
        let parent = entity.superentityName.map { ": \(SwiftName.quoted(classNames[$0] ?? $0))" } ?? ""
        lines.append("\(entity.subentities.isEmpty ? "final " : "")class \(SwiftName.quoted(className))\(parent) {")
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

    /// The constraints and indexes that an entity declares: they cover its subentities.
    private func groups(of entity: Schema.Entity, className: String) -> [String] {
        func line(_ macro: String, _ groups: [[String]]) -> [String] {
            guard !groups.isEmpty else { return [] }
            let texts = groups.map { group in
                "["
                    + group.map { "\\.\(SwiftName.quoted(propertyNames.name(of: $0, in: entity.name)))" }.joined(
                        separator: ", ") + "]"
            }
            return ["#\(macro)<\(SwiftName.quoted(className))>(\(texts.joined(separator: ", ")))"]
        }
        return line("Unique", entity.uniquenessConstraints) + line("Index", entity.indices)
    }

    private func comments(of property: String, of entity: Schema.Entity) -> [String] {
        (findingsByPlace["\(entity.name).\(property)"] ?? []).map {
            "// \(SwiftName.comment("\($0.name): \($0.reason)"))"
        }
    }

    /// The initializer takes a value for each property without one, inherited ones first.
    private func initializer(of entity: Schema.Entity) -> [String] {
        let own = arguments(of: entity)
        guard let parent = entity.superentity else {
            guard !own.isEmpty else { return ["init() {}"] }
            return ["init(\(parameters(own))) {"] + own.map { "    self.\($0.name) = \($0.name)" } + ["}"]
        }
        var inherited: [(name: String, type: String)] = []
        var next: Schema.Entity? = parent
        while let ancestor = next {
            inherited = arguments(of: ancestor) + inherited
            next = ancestor.superentity
        }
        let passed = inherited.map { "\($0.name): \($0.name)" }.joined(separator: ", ")
        return ["\(own.isEmpty ? "override " : "")init(\(parameters(inherited + own))) {"]
            + own.map { "    self.\($0.name) = \($0.name)" } + ["    super.init(\(passed))", "}"]
    }

    private func parameters(_ arguments: [(name: String, type: String)]) -> String {
        arguments.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
    }

    /// The name and type of each declared property without an initial value.
    private func arguments(of entity: Schema.Entity) -> [(name: String, type: String)] {
        entity.storedProperties.filter(needsArgument).map { property in
            (SwiftName.quoted(swiftName(of: property, in: entity)), typeText(of: property, in: entity))
        }
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
        if attribute.holdsAnyValue { return heldType(of: attribute.name, in: entity) }
        let name =
            attribute is Schema.CompositeAttribute
            ? structureName(of: attribute.name, in: entity) : type(attribute.valueTypeName)
        return attribute.isOptional ? "\(name)?" : name
    }

    /// The type of a property that is never stored: objects of a class, or any value.
    private func heldType(of property: String, in entity: Schema.Entity) -> String {
        let relationships = version.entities.first { $0.name == entity.name }?.relationships
        guard let relationship = relationships?.first(where: { $0.name == property }),
            let destination = relationship.destination
        else { return "Any?" }
        let name = SwiftName.quoted(classNames[destination] ?? destination)
        return relationship.isToMany ? "[\(name)]" : "\(name)?"
    }
}
