/// Prose fits beside an editor: a line of Markdown has at most 100 characters, unless it is a row of a table.
struct MarkdownWidthRule: TidyRule {
    static let lengthMax = 100

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.filter { $0.path.hasSuffix(".md") }.flatMap { file in
            lineViolations(file, file.lines) { line in
                guard line.count > Self.lengthMax, !line.hasPrefix("|") else { return nil }
                return "has \(line.count) characters, more than \(Self.lengthMax); wrap the line"
            }
        }
    }
}

/// Links and paths in Markdown lead to files of the repository, and links with `#` to a heading there.
struct MarkdownReferenceRule: TidyRule {
    /// First folders of the paths that are looked up when prose names them as code.
    static let roots: Set<Substring> = ["Sources", "Tests", "Benchmarks", "Examples", "Fixtures", "docs", ".ci"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        let known = Set(files.flatMap { file in file.parts.indices.map { file.parts[...$0].joined(separator: "/") } })
        let documents = files.filter { $0.path.hasSuffix(".md") }
        let anchors = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, Self.anchors(of: $0)) })
        return documents.flatMap { file in
            lineViolations(file, file.prose) { line in
                for link in Self.links(in: line) {
                    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                    let target = parts[0].isEmpty ? file.path : Self.path(String(parts[0]), from: file)
                    guard known.contains(target) else { return "\(link) leads to no file; link to one that exists" }
                    if parts.count == 2, let known = anchors[target], !known.contains(String(parts[1])) {
                        return "\(link) leads to no heading of \(target); link to one that exists"
                    }
                }
                let missing = Self.paths(in: line).first { !known.contains($0) }
                return missing.map { "\($0) is no file or folder; name one that exists" }
            }
        }
    }

    /// The targets of the links of a line that lead to files.
    private static func links(in line: Substring) -> [Substring] {
        line.matches(of: #/\]\(([^)\s]+)\)/#).map(\.output.1).filter { !$0.contains(":") }
    }

    /// The paths that a line names as code.
    private static func paths(in line: Substring) -> [String] {
        line.matches(of: #/`([A-Za-z0-9_.+\/-]+)`/#).compactMap { match in
            let parts = match.output.1.split(separator: "/")
            guard match.output.1.contains("/"), let root = parts.first, roots.contains(root) else { return nil }
            return parts.joined(separator: "/")
        }
    }

    /// A relative path as one from the root of the repository.
    private static func path(_ link: String, from file: RepositoryFile) -> String {
        var parts = Array(file.parts.dropLast())
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The names by which links reach the headings of a document.
    private static func anchors(of file: RepositoryFile) -> Set<String> {
        Set(
            file.prose.filter { $0.hasPrefix("#") }.map { heading in
                let text = heading.drop { $0 == "#" }.trimmed.lowercased()
                return String(
                    text.compactMap { character -> Character? in
                        if character == " " { return "-" }
                        return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
                    })
            })
    }
}

/// The names that the tour of the source writes as code are declared there, so that a renaming reaches the tour.
struct ArchitectureNameRule: TidyRule {
    private static let document = "docs/Architecture.md"

    func violations(in files: [RepositoryFile]) -> [Violation] {
        guard let document = files.first(where: { $0.path == Self.document }) else { return [] }
        var declared: Set<String> = []
        for file in files where file.swift != nil && file.parts.count > 2 {
            // Targets and folders are named after their paths.
            declared.formUnion(file.parts.dropLast().map { String($0) })
            guard file.sourceTarget != nil else { continue }
            for line in file.swift?.code ?? [] { declared.formUnion(line.declaredNames) }
        }
        return lineViolations(document, document.prose) { line in
            let names = line.matches(of: #/`([A-Za-z.]+)`/#).flatMap { $0.output.1.split(separator: ".") }
            let missing = names.first { !declared.contains(String($0)) }
            return missing.map { "no source declares \($0); write the name that it has now" }
        }
    }
}

extension RepositoryFile {
    /// The lines of a Markdown file; those of code blocks are blank.
    fileprivate var prose: [Substring] {
        var isInCode = false
        return lines.map { line in
            let isFence = line.trimmed.hasPrefix("```")
            if isFence { isInCode.toggle() }
            return isFence || isInCode ? "" : line
        }
    }
}
