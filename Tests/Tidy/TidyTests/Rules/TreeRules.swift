/// A rule that a Markdown file has one title.
struct MarkdownTitleRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.compactMap { file -> Violation? in
            guard file.path.hasSuffix(".md"), file.text != nil else { return nil }
            var isInCode = false
            var titles: [Int] = []
            for (index, line) in file.lines.enumerated() {
                if line.trimmed.hasPrefix("```") { isInCode.toggle() }
                if !isInCode, line.hasPrefix("# ") { titles.append(index + 1) }
            }
            guard titles.count != 1 else { return nil }
            let message = titles.isEmpty ? "begin with a title: # …" : "one title a file; make this one a section: ## …"
            return Violation(path: file.path, line: titles.dropFirst().first ?? 1, message: message)
        }
    }
}

/// A rule against large files, except fixtures, because they make every clone slow.
struct FileSizeRule: TidyRule {
    static let byteCountMax = 64 << 10

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.compactMap { file in
            guard file.byteCount > Self.byteCountMax, file.parts.first != "Fixtures" else { return nil }
            let message = "has \(file.byteCount) bytes, more than \(Self.byteCountMax); split it, or make it a fixture"
            return Violation(path: file.path, line: 0, message: message)
        }
    }
}

/// A rule against paths that only exist on one machine.
struct MachinePathRule: TidyRule {
    static let folders: [StaticString] = ["work", "root", "home"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file in
            lineViolations(file, file.lines) { line in
                Self.machinePath(line).map { "\($0) is a folder of one machine; use a path relative to the repository" }
            }
        }
    }

    static func machinePath(_ line: Substring) -> String? {
        for folder in folders where line.holds(folder) {
            let path = "/" + folder.description
            var rest = line
            while let found = rest.firstRange(of: path) {
                let before = line[..<found.lowerBound].last
                let after = rest[found.upperBound...].first
                // As a part of a longer path, an address or a word, the match is something else.
                let isStart = before.map { !($0.isLetter || $0.isNumber || "_.~/-})*".contains($0)) } ?? true
                let isEnd = after.map { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") } ?? true
                if isStart, isEnd { return path }
                rest = rest[found.upperBound...]
            }
        }
        return nil
    }
}

/// A rule that `Fixtures/README.md` describes each fixture: its contents, its origin and the expected behavior.
struct FixtureListRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        let fixtures = Set(
            files.compactMap { file -> String? in
                file.parts.count > 2 && file.parts[0] == "Fixtures" ? file.parts[1...2].joined(separator: "/") : nil
            }
        )
        let readme = files.first { $0.path == "Fixtures/README.md" }?.text ?? ""
        return fixtures.sorted().compactMap { fixture in
            let name = fixture.split(separator: "/").last.map(String.init) ?? fixture
            guard !readme.contains("`\(name)`"), !readme.contains("`\(fixture)`") else { return nil }
            return Violation(
                path: "Fixtures/\(fixture)",
                line: 0,
                message:
                    "is not in Fixtures/README.md; describe there the contents of `\(name)` and the expected result of opening it"
            )
        }
    }
}
