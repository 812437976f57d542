/// An article of the guide is read in under ten minutes, and its title is followed by the use of it, in a paragraph.
struct ArticleRule: TidyRule {
    /// Ten minutes, at 200 words a minute.
    static let wordCountMax = 2_000
    /// Pages to look things up.
    static let references: Set = ["Errors.md", "Faultline.md"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.filter { file in
            file.path.hasPrefix(SnippetRule.articles) && file.path.hasSuffix(".md")
                && !Self.references.contains(file.parts.last.map(String.init) ?? "")
        }.flatMap { file in
            var violations: [Violation] = []
            let count = (file.text ?? "").split(whereSeparator: \.isWhitespace).count
            if count > Self.wordCountMax {
                let message = "has \(count) words, more than \(Self.wordCountMax); move tables to a contract in docs"
                violations.append(Violation(path: file.path, line: 1, message: message))
            }
            let first = file.lines.dropFirst().first { !$0.trimmed.isEmpty }?.first
            if first?.isLetter != true {
                let message = "has no sentence below its title; write the use of the article there"
                violations.append(Violation(path: file.path, line: 2, message: message))
            }
            return violations
        }
    }
}
