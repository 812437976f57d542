internal import Foundation

/// Turns the objects of a compiled mapping model into mappings.
///
/// A compiled mapping model is a keyed archive of an `NSMappingModel`. Classes and fields that it does not know become
/// findings.
struct ArchivedMappingReader {
    private let archive: KeyedArchive
    private var findings: [ModelFinding] = []

    init(_ bytes: Data, path: String) throws(ModelFileError) {
        archive = try KeyedArchive(bytes, path: path)
    }

    mutating func content() throws(ModelFileError) -> MappingContent {
        let root = try archive.root()
        guard root.isKind(of: "NSMappingModel") else {
            throw ModelFileError(
                .foreign, archive.path,
                "The archive has an object of the class \(root.className ?? "none"), where a mapping model has NSMappingModel."
            )
        }
        guard let objects = root["NSEntityMappings"]?.list else {
            throw ModelFileError(
                .malformed, archive.path, "The mapping model has no list of mappings. Copy the file again.")
        }
        // The mappings by name are the same objects.
        check(root, at: "", ["NSEntityMappings", "NSEntityMappingsByName"])
        var content = MappingContent()
        for object in objects {
            guard object.isKind(of: "NSEntityMapping") else {
                unknown(object.className ?? "value", at: "", "Mappings of this class are not known.")
                continue
            }
            content.mappings.append(mapping(object))
        }
        guard !archive.budget.isUsedUp else {
            throw ModelFileError(
                .tooLarge, archive.path, "The objects of the archive are parts of each other without end.")
        }
        content.findings = findings
        return content
    }

    private mutating func unknown(_ name: String, at place: String, _ reason: String) {
        findings.append(ModelFinding(.unknown, name, at: place, reason))
    }

    /// Reports the fields of an object that are not known.
    private mutating func check(_ object: ArchivedObject, at place: String, _ known: Set<String>) {
        for name in object.keys where !known.contains(name) {
            unknown(
                name, at: place,
                "This field of \(object.className ?? "an object") is not known, and was passed over.")
        }
    }

    private mutating func mapping(_ object: ArchivedObject) -> MappingModelFile.Mapping {
        let source = object["NSSourceEntityName"]?.text
        let destination = object["NSDestinationEntityName"]?.text
        var mapping = MappingModelFile.Mapping(
            name: object["NSMappingName"]?.text
                ?? MappingModelFile.Mapping.defaultName(from: source, to: destination))
        let place = mapping.name
        check(
            object, at: place,
            [
                "NSMappingName", "NSMappingType", "NSSourceEntityName", "NSDestinationEntityName",
                "NSSourceEntityVersionHash", "NSDestinationEntityVersionHash", "NSSourceExpression",
                "NSEntityMigrationPolicyClassName", "NSAttributeMappings", "NSRelationshipMappings", "NSUserInfo",
            ])
        mapping.sourceEntityName = source
        mapping.destinationEntityName = destination
        mapping.sourceEntityHash = object["NSSourceEntityVersionHash"]?.data
        mapping.destinationEntityHash = object["NSDestinationEntityVersionHash"]?.data
        let number = object["NSMappingType"]?.integer ?? 0
        if let kind = MappingModelFile.Mapping.Kind(rawValue: number) {
            mapping.kind = kind
        } else {
            unknown(
                "NSMappingType", at: place, "The kind \(number) is not known; it follows from entities and policy.")
        }
        mapping.policyName = object["NSEntityMigrationPolicyClassName"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        let fetch = expression(object["NSSourceExpression"], at: place)
        if let reason = mapping.take(fetch: fetch) { unknown(fetch?.description ?? "", at: place, reason) }
        mapping.userInfo = ArchivedText.pairs(object["NSUserInfo"])
        mapping.attributes = properties(object["NSAttributeMappings"], of: place)
        mapping.relationships = properties(object["NSRelationshipMappings"], of: place)
        return mapping
    }

    private mutating func properties(
        _ list: ArchivedObject?, of mapping: String
    ) -> [MappingModelFile.Property] {
        var properties: [MappingModelFile.Property] = []
        for object in list?.list ?? [] {
            let name = object["NSDestinationPropertyName"]?.text ?? ""
            let place = "\(mapping).\(name)"
            check(
                object, at: place,
                ["NSDestinationPropertyName", "NSValueExpression", "NSUserInfo", "NSPropertyTransforms"])
            var property = MappingModelFile.Property(
                name: name, expression: expression(object["NSValueExpression"], at: place),
                userInfo: ArchivedText.pairs(object["NSUserInfo"]))
            if object["NSPropertyTransforms"] != nil {
                // They change the value, in a way that is not published.
                unknown("NSPropertyTransforms", at: place, "Transforms of properties are not known.")
                property.expression = .unreadable("<NSPropertyTransforms>")
            }
            properties.append(property)
        }
        return properties
    }

    private mutating func expression(_ object: ArchivedObject?, at place: String) -> MappingExpression? {
        var reader = ArchivedExpression()
        let expression = reader.expression(object)
        for (name, type) in reader.unknown { unknown(name, at: place, "\(type) has it, and it is not known.") }
        return expression
    }
}

extension MappingModelFile.Mapping {
    /// Takes the expression that fetches the old objects: a usual one as its condition.
    ///
    /// - Returns: The reason if the text of the condition cannot be read.
    mutating func take(fetch: MappingExpression?) -> String? {
        guard let fetch else { return nil }
        guard case .fetch(.function(.variable("manager"), Self.fetchName, let arguments), _, countsOnly: false) = fetch,
            arguments.count == 2, arguments[0] == .constant(sourceEntityName.map(ModelVersion.Value.text)),
            case .constant(.text(let text)) = arguments[1]
        else {
            sourceExpression = fetch
            return nil
        }
        return take(condition: text)
    }

    private static let fetchName = "fetchRequestForSourceEntityNamed:predicateString:"

    /// Takes the text of the condition; `TRUEPREDICATE` is none.
    mutating func take(condition text: String) -> String? {
        let read = MappingPredicate.reading(text)
        filter = read.predicate == .constant(true) ? nil : read.predicate
        return read.reason.map { "The condition cannot be read: \($0)." }
    }
}
