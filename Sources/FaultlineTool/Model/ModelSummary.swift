import FaultlineCommands
import FaultlineCoreData
import FaultlineModel

/// What `faultline model` prints.
struct ModelSummary {
    /// A finding, and the version that has it.
    typealias Finding = (version: String, finding: ModelFinding)

    let path: String
    let package: ModelPackage
    let steps: [ModelStep]
    /// The files that were written, and the findings of their version.
    var written: WrittenClasses?
    /// The mapping model that was asked for.
    var mapping: MappingSummary?

    /// All findings, those of the written classes for their version, and those of the mapping model.
    var findings: [Finding] {
        package.packageFindings.map { ("", $0) }
            + package.versions.flatMap { version in
                let all = written.flatMap { $0.version == version.name ? $0.findings : nil } ?? version.findings
                return all.map { (version.name, $0) }
            } + (mapping?.findings ?? []).map { (mapping?.name ?? "", $0) }
    }

    // MARK: Text

    func text(isStyled: Bool) -> String {
        var table = Table([
            ("version", .left), ("", .left), ("entities", .right), ("attributes", .right), ("relationships", .right),
            ("fingerprint", .left),
        ])
        for (index, version) in package.versions.enumerated() {
            let counts = Self.counts(of: version)
            table.add([
                version.name, index == package.currentIndex ? "current" : "", "\(counts.entities)",
                "\(counts.attributes)", "\(counts.relationships)", "\(version.schema.fingerprint)",
            ])
        }
        var text = table.text(isStyled: isStyled)
        for step in steps { text += "\n" + step.text }
        if let mapping { text += "\n" + mapping.text(isStyled: isStyled) }
        if let written { text += "\nwritten to \(written.folder): \(written.files.joined(separator: ", "))\n" }
        return text + findingText
    }

    private var findingText: String { Self.text(of: findings) }

    /// The findings, a line each.
    static func text(of findings: [Finding]) -> String {
        guard !findings.isEmpty else { return "" }
        // The same finding in several versions is one line.
        var versions: [String: [String]] = [:]
        var order: [String] = []
        for (version, finding) in findings {
            let line = "\(finding.place.isEmpty ? "" : "\(finding.place): ")\(finding.name): \(finding.reason)"
            if versions[line] == nil { order.append(line) }
            versions[line, default: []].append(version)
        }
        let lines = order.map { line in
            let names = (versions[line] ?? []).filter { !$0.isEmpty }.joined(separator: ", ")
            return "    \(line)\(names.isEmpty ? "" : " [\(names)]")\n"
        }
        return "\nnot carried over:\n" + lines.joined()
    }

    private static func counts(of version: ModelVersion) -> (entities: Int, attributes: Int, relationships: Int) {
        let entities = version.schema.entities
        return (
            entities.count, entities.map(\.attributes.count).reduce(0, +),
            entities.map(\.relationships.count).reduce(0, +)
        )
    }

    // MARK: JSON

    var line: JSONLine {
        var line = JSONLine()
        line.add("model", path)
        line.add("current", package.current.name)
        line.add(
            "versions",
            package.versions.map { version in
                let counts = Self.counts(of: version)
                var line = JSONLine()
                line.add("version", version.name)
                line.add("entities", counts.entities)
                line.add("attributes", counts.attributes)
                line.add("relationships", counts.relationships)
                line.add("fingerprint", "\(version.schema.fingerprint)")
                return line
            })
        line.add("steps", steps.map(\.line))
        if let mapping { line.add("mapping", mapping.line) }
        if let written {
            line.add("folder", written.folder)
            line.add("files", written.files)
        }
        line.add("findings", findings.map { Self.line(of: $0) })
        return line
    }

    static func line(of finding: Finding) -> JSONLine {
        var line = JSONLine()
        if !finding.version.isEmpty { line.add("version", finding.version) }
        line.add("kind", finding.finding.kind.rawValue)
        line.add("place", finding.finding.place)
        line.add("name", finding.finding.name)
        if let number = finding.finding.line { line.add("line", number) }
        line.add("reason", finding.finding.reason)
        return line
    }
}
