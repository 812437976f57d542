/// The catalogue has an entry for each code of each public error, and no other: its meaning, the data that is safe, and
/// the next step.
///
/// Errors are found by their declarations in the targets of the products. One with an `enum Code` has a section of its
/// name; one without has a row in the section "Errors without a code".
struct ErrorCatalogueRule: TidyRule {
    static let article = "Sources/Faultline/Faultline.docc/Errors.md"
    static let sectionWithoutCodes = "Errors without a code"
    /// A line that begins so tells for a whole section which data is safe.
    static let safety = "Not lost:"

    private static let targets = ErrorDocumentationRule.targets.union(["FaultlineCommands"])
    private static let columns = ["means", "do"]

    /// Sections of types whose codes are declared in another way, with their files and the first words of the
    /// declarations.
    private static let special: [Section] = [
        Section(
            heading: "SwiftDataError", path: "Sources/FaultlineObjects/Model/SwiftDataError.swift",
            declaration: "public static let "),
        Section(
            heading: "ValidationFinding", path: "Sources/FaultlineObjects/Model/ValidationFinding.swift",
            declaration: "case "),
    ]

    /// A section that the article must have, and the place of its codes.
    private struct Section {
        let heading: String
        let path: String
        let declaration: String
    }

    /// A section that the article has.
    private struct Entry {
        var hasSafety = false
        var header: [String] = []
        var rows: [(name: String, line: Int, cells: [String])] = []
    }

    func violations(in files: [RepositoryFile]) -> [Violation] {
        guard let article = files.first(where: { $0.path == Self.article }) else { return [] }
        let entries = Self.entries(of: article)
        let errors = files.flatMap(Self.errors)
        let sections = Self.special + errors.filter(\.hasCodes).map(\.section)
        var violations = sections.flatMap { section -> [Violation] in
            guard let file = files.first(where: { $0.path == section.path }) else {
                return [
                    Violation(path: section.path, line: 0, message: "is not there; name the file of \(section.heading)")
                ]
            }
            let entry = entries[section.heading] ?? Entry()
            return Self.compare(Self.codes(file, section.declaration), entry, section.heading)
                + Self.gaps(entry, section.heading)
        }
        let names = Set(errors.filter { !$0.hasCodes }.map(\.section.heading))
        violations += Self.compare(names, entries[Self.sectionWithoutCodes] ?? Entry(), Self.sectionWithoutCodes)
        let known = Set(sections.map(\.heading)).union([Self.sectionWithoutCodes])
        violations += entries.keys.filter { !known.contains($0) }.sorted().map {
            Self.violation("has a table for \($0), which no source declares; remove it")
        }
        return violations
    }

    // MARK: The article

    private static func entries(of article: RepositoryFile) -> [String: Entry] {
        var heading = ""
        var entries: [String: Entry] = [:]
        for (index, line) in article.lines.enumerated() {
            if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
            if line.hasPrefix(safety) { entries[heading, default: Entry()].hasSafety = true }
            guard line.hasPrefix("|"), line.hasSuffix("|") else { continue }
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { String($0.trimmed) }
            if let row = cells[0].wholeMatch(of: #/`([A-Za-z]+)`/#) {
                entries[heading, default: Entry()].rows.append((String(row.1), index + 1, cells))
            } else if !cells[0].hasPrefix("---") {
                entries[heading, default: Entry()].header = cells
            }
        }
        return entries.filter { !$0.value.rows.isEmpty }
    }

    private static func compare(_ codes: Set<String>, _ entry: Entry, _ heading: String) -> [Violation] {
        let shown = Set(entry.rows.map(\.name))
        return codes.symmetricDifference(shown).sorted().map { code in
            codes.contains(code)
                ? violation("has no row for \(heading).\(code); describe it")
                : violation("has a row for \(heading).\(code); no source declares it: remove the row")
        }
    }

    /// The columns and cells that a section lacks.
    private static func gaps(_ entry: Entry, _ heading: String) -> [Violation] {
        guard !entry.rows.isEmpty else { return [] }
        var violations = columns.filter { !entry.header.contains($0) }.map {
            violation("has no column \"\($0)\" for \(heading); add it")
        }
        if !entry.hasSafety, !entry.header.contains("not lost") {
            violations.append(
                violation(
                    "does not say which data is safe with \(heading); add a column \"not lost\" or a line \"\(safety)\""
                ))
        }
        for row in entry.rows where row.cells.count != entry.header.count || row.cells.contains("") {
            violations.append(
                violation("has an empty or missing cell for \(heading).\(row.name); fill it in", line: row.line))
        }
        return violations
    }

    private static func violation(_ message: String, line: Int = 0) -> Violation {
        Violation(path: article, line: line, message: message)
    }

    // MARK: The sources

    /// The public errors that a file declares.
    private static func errors(_ file: RepositoryFile) -> [(section: Section, hasCodes: Bool)] {
        guard let code = file.swift?.code, let target = file.sourceTarget, targets.contains(target) else { return [] }
        let hasCodes = code.contains { $0.trimmed.hasPrefix("public enum Code") }
        return code.compactMap { line in
            guard
                let type = line.firstMatch(
                    of: #/^public (?:indirect )?(?:final )?(?:struct|enum|class) ([A-Za-z]+):(.*)/#),
                String(type.2).words.contains("Error"), !special.contains(where: { $0.heading == type.1 })
            else { return nil }
            return (Section(heading: String(type.1), path: file.path, declaration: "case "), hasCodes)
        }
    }

    /// The codes that a file declares: each a word after `declaration`, or a word and a value.
    private static func codes(_ file: RepositoryFile, _ declaration: String) -> Set<String> {
        Set(
            (file.swift?.code ?? []).flatMap { line -> [String] in
                guard line.trimmed.hasPrefix(declaration) else { return [] }
                let names = line.trimmed.dropFirst(declaration.count).split(separator: ",").map(\.trimmed)
                return names.compactMap { text in
                    let name = text.prefix { $0.isLetter }
                    let end = text.dropFirst(name.count)
                    return !name.isEmpty && (end.isEmpty || end.hasPrefix(" = ")) ? String(name) : nil
                }
            })
    }
}
