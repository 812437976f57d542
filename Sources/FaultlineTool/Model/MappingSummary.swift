import FaultlineCommands
import FaultlineCoreData

/// A mapping model that `faultline model` shows, by itself or between two versions of a package.
struct MappingSummary {
    private let file: MappingModelFile
    /// The names of the versions, or of those that the file names.
    private let from: String?
    private let to: String?
    /// The findings of the file, and its parts that have no equivalent.
    let findings: [ModelFinding]

    init(_ file: MappingModelFile) {
        self.file = file
        from = file.sourceModelPath
        to = file.destinationModelPath
        findings = file.findings
    }

    /// Shows a mapping model between the given versions, or those that it leads from and to.
    init(_ file: MappingModelFile, of package: ModelPackage, from: ModelVersion?, to: ModelVersion?) throws {
        let pairs = package.versions.flatMap { old in package.versions.map { (old, $0) } }.filter { old, new in
            old.name != new.name && (from == nil || from?.name == old.name) && (to == nil || to?.name == new.name)
        }
        let chosen = from != nil && to != nil ? pairs : pairs.filter { file.leads(from: $0, to: $1) }
        guard chosen.count == 1, let pair = chosen.first else {
            throw CommandFailure(
                CommandFailure.wrongUsage,
                "\(file.path) leads between \(chosen.isEmpty ? "no" : "several") versions of the package. Give --from and --to."
            )
        }
        self.file = file
        self.from = pair.0.name
        self.to = pair.1.name
        // A condition that cannot be read is one of both.
        let known = Set(file.findings.map { [$0.place, $0.name] })
        findings =
            file.findings
            + file.unexpressed(from: pair.0.schema, to: pair.1.schema).filter { !known.contains([$0.place, $0.name]) }
    }

    var name: String { file.name }

    // MARK: Text

    func text(isStyled: Bool) -> String {
        var table = Table([("mapping", .left), ("from", .left), ("to", .left), ("policy", .left), ("condition", .left)])
        for mapping in file.mappings {
            table.add([
                mapping.name, mapping.sourceEntityName ?? "", mapping.destinationEntityName ?? "",
                mapping.policyName ?? "", mapping.filter.map { "\($0)" } ?? "",
            ])
        }
        let versions = from.flatMap { from in to.map { ": \(from) to \($0)" } } ?? ""
        var text = "\(file.name)\(versions)\n\n" + table.text(isStyled: isStyled)
        for mapping in file.mappings where !(mapping.attributes + mapping.relationships).isEmpty {
            text += "\n\(mapping.name)\n"
            for property in mapping.attributes + mapping.relationships {
                text += "    \(property.name): \(Self.value(of: property))\n"
            }
        }
        return text
    }

    private static func value(of property: MappingModelFile.Property) -> String {
        property.expression.map { "\($0)" } ?? (property.isGenerated ? "as the old property" : "its default")
    }

    // MARK: JSON

    var line: JSONLine {
        var line = JSONLine()
        line.add("file", file.path)
        if let from { line.add("from", from) }
        if let to { line.add("to", to) }
        line.add("mappings", file.mappings.map(Self.line))
        return line
    }

    private static func line(of mapping: MappingModelFile.Mapping) -> JSONLine {
        var line = JSONLine()
        line.add("mapping", mapping.name)
        if let name = mapping.sourceEntityName { line.add("from", name) }
        if let name = mapping.destinationEntityName { line.add("to", name) }
        if let name = mapping.policyName { line.add("policy", name) }
        if let filter = mapping.filter { line.add("condition", "\(filter)") }
        line.add(
            "properties",
            (mapping.attributes + mapping.relationships).map { property in
                var line = JSONLine()
                line.add("property", property.name)
                line.add("value", value(of: property))
                return line
            })
        return line
    }
}
