internal import Foundation

/// Turns the elements of an `xcmapping.xml` into mappings.
///
/// The file is a store of the editor: objects of its classes, with attributes and relationships. Expressions and user
/// info are keyed archives in base 64. Classes, attributes and relationships that it does not know become findings.
struct MarkupMappingReader {
    private let path: String
    private var findings: [ModelFinding] = []
    /// The objects of the file by their identifiers.
    private var objects: [String: MarkupMappingObject] = [:]
    /// All archives in the file share it.
    private let budget = ReadingBudget()

    init(path: String) { self.path = path }

    /// The first byte of the version of a file that this release knows.
    private static let versionMax = 8

    mutating func content(of root: MarkupElement) throws(ModelFileError) -> MappingContent {
        guard root.name == "database" else {
            throw ModelFileError(
                .foreign, path, line: root.line,
                "The outermost element is \(root.name), where a mapping model has `database`. Give the file of a mapping model."
            )
        }
        var model: MarkupMappingObject?
        for element in root.children {
            switch element.name {
            case "databaseInfo": try checkVersion(element)
            case "object":
                guard let object = object(element) else { continue }
                if objects.updateValue(object, forKey: object.identifier) != nil {
                    invalid(object.identifier, object.line, "Two objects have this identifier; the last one counts.")
                }
                if object.kind == .model { model = model ?? object }
            default: unknown(element.name, at: "", element.line, "This element is not known, and was passed over.")
            }
        }
        guard let model else {
            throw ModelFileError(
                .foreign, path, line: root.line, "The file has no mapping model. It is another store of Core Data.")
        }
        var content = MappingContent()
        content.sourceModelPath = model.text("sourcemodelpath")
        content.destinationModelPath = model.text("destinationmodelpath")
        let members = members(model, "entitymappings", .mapping, at: "")
        let numbers = members.map { $0.text("mappingnumber").flatMap { Int($0) } ?? .max }
        // In the order of their numbers; equal ones as the file lists them.
        let order = members.indices.sorted { (numbers[$0], $0) < (numbers[$1], $1) }
        for index in order { content.mappings.append(mapping(members[index])) }
        for object in objects.values.sorted(by: { $0.line < $1.line }) where object.kind != .model {
            invalid(
                object.text("name") ?? object.identifier, object.line,
                "Nothing refers to this object of the class \(object.kind.rawValue), and it was passed over.")
        }
        guard !budget.isUsedUp else {
            throw ModelFileError(
                .tooLarge, path, "The archives in the file have objects that are parts of each other without end.")
        }
        content.findings = findings
        return content
    }

    // MARK: Objects

    private mutating func unknown(_ name: String, at place: String, _ line: Int, _ reason: String) {
        findings.append(ModelFinding(.unknown, name, at: place, line: line, reason))
    }

    private mutating func invalid(_ name: String, _ line: Int, _ reason: String) {
        findings.append(ModelFinding(.invalid, name, at: "", line: line, reason))
    }

    private mutating func checkVersion(_ element: MarkupElement) throws(ModelFileError) {
        guard let version = element.children(named: "version").first,
            let number = Int(version.text.filter { !$0.isWhitespace })
        else { return }
        guard number >> 24 <= Self.versionMax else {
            throw ModelFileError(
                .newer, path, line: version.line, "The file has the version \(number); a newer tool wrote it.")
        }
    }

    private mutating func object(_ element: MarkupElement) -> MarkupMappingObject? {
        let type = element.attributes["type"] ?? ""
        guard let object = MarkupMappingObject(element) else {
            unknown(type, at: "", element.line, "Objects of this class are not known.")
            return nil
        }
        for (name, line) in object.unknown {
            unknown(name, at: object.text("name") ?? type, line, "\(type) has it, and it is not known.")
        }
        return object
    }

    /// The objects that a relationship leads to, in its order.
    private mutating func members(
        _ object: MarkupMappingObject, _ name: String, _ kind: MarkupMappingObject.Kind, at place: String
    ) -> [MarkupMappingObject] {
        var members: [MarkupMappingObject] = []
        for identifier in object.references[name] ?? [] {
            if let member = objects[identifier], member.kind == kind {
                members.append(member)
                // A second reference to an object leads nowhere.
                objects[identifier] = nil
            } else {
                findings.append(
                    ModelFinding(
                        .invalid, name, at: place, line: object.line,
                        "It refers to \(identifier), which is no such object of the file, or belongs elsewhere."))
            }
        }
        return members
    }

    // MARK: Mappings

    private mutating func mapping(_ object: MarkupMappingObject) -> MappingModelFile.Mapping {
        let source = object.text("sourcename")
        let destination = object.text("destinationname")
        var mapping = MappingModelFile.Mapping(
            name: object.text("name") ?? MappingModelFile.Mapping.defaultName(from: source, to: destination))
        let place = mapping.name
        mapping.line = object.line
        mapping.sourceEntityName = source
        mapping.destinationEntityName = destination
        mapping.policyName = object.text("migrationpolicyclassname")
        mapping.kind = kind(object, at: place)
        mapping.userInfo = archive(object, "userinfodata", at: place).map(ArchivedText.pairs) ?? [:]
        let fetch = expression(object, "sourceexpressiondata", at: place)
        let text = object.text("sourcefilterpredicatestring")
        let reason = fetch == nil ? text.flatMap { mapping.take(condition: $0) } : mapping.take(fetch: fetch)
        if let reason { unknown(text ?? fetch?.description ?? "", at: place, object.line, reason) }
        if fetch != nil, let text, MappingPredicate.reading(text).predicate != mapping.filter ?? .constant(true) {
            findings.append(
                ModelFinding(
                    .invalid, text, at: place, line: object.line,
                    "The mapping has another condition in its expression, which counts."))
        }
        for member in members(object, "attributemappings", .attribute, at: place) {
            mapping.attributes.append(attribute(member, of: place))
        }
        for member in members(object, "relationshipmappings", .relationship, at: place) {
            mapping.relationships.append(relationship(member, of: place))
        }
        return mapping
    }

    private static let kinds: [String: MappingModelFile.Mapping.Kind] = [
        "Undefined": .undefined, "Custom": .custom, "Add": .add, "Remove": .remove, "Copy": .copy,
        "Transform": .transform,
    ]

    private mutating func kind(_ object: MarkupMappingObject, at place: String) -> MappingModelFile.Mapping.Kind {
        guard let name = object.text("mappingtypename") else { return .undefined }
        if let kind = Self.kinds[name] { return kind }
        unknown(
            "mappingtypename", at: place, object.line,
            "The kind \"\(name)\" is not known; it follows from entities and policy.")
        return .undefined
    }

    private mutating func attribute(_ object: MarkupMappingObject, of mapping: String) -> MappingModelFile.Property {
        var property = MappingModelFile.Property(name: object.text("name") ?? "", line: object.line)
        let place = "\(mapping).\(property.name)"
        property.expression = expression(object, "valueexpressiondata", at: place)
        property.isGenerated = property.expression == nil
        property.userInfo = archive(object, "userinfodata", at: place).map(ArchivedText.pairs) ?? [:]
        return property
    }

    /// A relationship; its value is an archive, or a path in the old object and the mapping that made the new objects.
    private mutating func relationship(
        _ object: MarkupMappingObject, of mapping: String
    ) -> MappingModelFile.Property {
        var property = attribute(object, of: mapping)
        let path = object.text("sourcekeypath")
        let other = object.text("sourcemappingname")
        guard property.isGenerated, path != nil || other != nil else { return property }
        let text = path ?? "$source.\(property.name)"
        let read = MappingExpression.reading(text)
        if let reason = read.reason {
            unknown(text, at: "\(mapping).\(property.name)", object.line, "It cannot be read: \(reason).")
        }
        var members = read.expression
        // The path may leave out the variable.
        if case .keyPath(nil, let names) = members { members = .keyPath(.variable("source"), names) }
        let name = other ?? text.split(separator: ".").last.map(String.init) ?? ""
        property.expression = .function(
            .variable("manager"), other == nil ? CounterpartCall.byRelationship : CounterpartCall.byMapping,
            [.constant(.text(name)), members])
        property.isGenerated = false
        return property
    }

    // MARK: Archives

    /// The outermost object of an archive in base 64; a damaged one becomes a finding.
    private mutating func archive(
        _ object: MarkupMappingObject, _ name: String, at place: String
    ) -> ArchivedObject? {
        guard let text = object.text(name), !budget.isUsedUp else { return nil }
        guard let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            unknown(name, at: place, object.line, "The value is no archive in base 64.")
            return nil
        }
        do { return try KeyedArchive(bytes, path: path, sharing: budget).root() } catch {
            findings.append(ModelFinding(.invalid, name, at: place, line: object.line, error.message))
            return nil
        }
    }

    /// The expression of an archive; nil if there is none.
    private mutating func expression(
        _ object: MarkupMappingObject, _ name: String, at place: String
    ) -> MappingExpression? {
        guard object.text(name) != nil else { return nil }
        guard let root = archive(object, name, at: place) else { return .unreadable("<damaged archive>") }
        var reader = ArchivedExpression()
        let expression = reader.expression(root)
        for (field, type) in reader.unknown {
            unknown(field, at: place, object.line, "\(type) has it, and it is not known.")
        }
        return expression
    }
}
