/// A violation of a style rule, with its remedy.
struct Violation: Sendable, Equatable, CustomStringConvertible {
    let path: String
    /// The line number from 1, or 0 for the whole file.
    let line: Int
    /// A description of the violation and the remedy.
    let message: String

    var description: String { line > 0 ? "\(path):\(line): \(message)" : "\(path): \(message)" }
}

/// A style rule that finds all violations in the repository.
protocol TidyRule: Sendable {
    func violations(in files: [RepositoryFile]) -> [Violation]
}

extension TidyRule {
    /// Returns the line numbers of the violations in one file, for testing the rule.
    func lines(_ path: String, _ text: String) -> [Int] {
        violations(in: [RepositoryFile(path, text)]).map(\.line)
    }

    /// Returns a violation for each of `lines` for which `message` returns a text.
    func lineViolations<Line: StringProtocol>(
        _ file: RepositoryFile,
        _ lines: [Line],
        _ message: (Line) -> String?
    ) -> [Violation] {
        lines.enumerated().compactMap { index, line in
            message(line).map { Violation(path: file.path, line: index + 1, message: $0) }
        }
    }
}
