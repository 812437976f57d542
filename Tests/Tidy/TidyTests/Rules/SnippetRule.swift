/// Swift code in the guide and in README is compiled and run: each block is a region of a file of the guide's tests, and
/// each region is shown by a block.
///
/// A region lies between the comments `snippet` and `end`, and may contain others. In a block, `import` lines may stand
/// before it. A manifest is no part of a program: `.ci/getting-started` builds with it.
struct SnippetRule: TidyRule {
    static let sources = "Tests/Unit/FaultlineTestingTests/Guide/"
    /// The regions that need the trait `Service`.
    static let serviceSources = "Tests/Unit/FaultlineServiceTests/Guide/"
    static let articles = "Sources/Faultline/Faultline.docc/"

    func violations(in files: [RepositoryFile]) -> [Violation] {
        let regions = files.filter { file in
            file.path.hasPrefix(Self.sources) || file.path.hasPrefix(Self.serviceSources)
        }.flatMap(Self.regions)
        let texts = Set(regions.map(\.text))
        var shown: Set<String> = []
        var violations: [Violation] = []
        for file in files where file.path.hasPrefix(Self.articles) || file.path == "README.md" {
            for block in Self.blocks(of: file) {
                shown.insert(block.text)
                guard !texts.contains(block.text) else { continue }
                let message = "is no region of a file in \(Self.sources); write the same code there, so that it is run"
                violations.append(Violation(path: file.path, line: block.line, message: message))
            }
        }
        return violations
            + regions.filter { !shown.contains($0.text) }.map {
                Violation(path: $0.path, line: $0.line, message: "is shown by no article; write the same code there")
            }
    }

    private struct Region {
        let path: String
        let line: Int
        let text: String
    }

    /// The regions of a source file.
    private static func regions(of file: RepositoryFile) -> [Region] {
        var open: [(line: Int, lines: [Substring])] = []
        var regions: [Region] = []
        for (index, line) in file.lines.enumerated() {
            switch line.trimmed {
            case "// snippet": open.append((index + 1, []))
            case "// end":
                guard let last = open.popLast() else { continue }
                regions.append(Region(path: file.path, line: last.line, text: text(of: last.lines)))
            default: for place in open.indices { open[place].lines.append(line) }
            }
        }
        return regions
    }

    /// The blocks of Swift code in an article, without manifests and leading imports.
    private static func blocks(of file: RepositoryFile) -> [Region] {
        var begin: Int?
        var block: [Substring] = []
        var blocks: [Region] = []
        for (index, line) in file.lines.enumerated() {
            if begin == nil, line == "```swift" {
                begin = index + 1
                block = []
            } else if let first = begin, line == "```" {
                begin = nil
                guard block.first?.hasPrefix("// swift-tools-version") != true else { continue }
                let code = block.drop { $0.hasPrefix("import ") || $0.isEmpty }
                blocks.append(Region(path: file.path, line: first, text: text(of: Array(code))))
            } else {
                block.append(line)
            }
        }
        return blocks
    }

    /// Lines without their common indentation, and without empty lines at both ends.
    private static func text(of lines: [Substring]) -> String {
        let depth = lines.filter { !$0.trimmed.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        var lines = lines.map { $0.dropFirst(depth) }[...]
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}
