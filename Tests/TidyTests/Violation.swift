/// A place where a house rule is broken, and how to mend it.
struct Violation: Sendable, Equatable, CustomStringConvertible {
    let path: String
    /// Counted from 1; 0 where the whole file is meant.
    let line: Int
    /// What is wrong, and what to do.
    let message: String

    var description: String { line > 0 ? "\(path):\(line): \(message)" : "\(path): \(message)" }
}

/// A house rule: looks at the whole repository and names every place that breaks it.
protocol TidyRule: Sendable {
    func violations(in files: [RepositoryFile]) -> [Violation]
}

extension TidyRule {
    /// The lines that this rule objects to in one file, for trying it out.
    func lines(_ path: String, _ text: String) -> [Int] {
        violations(in: [RepositoryFile(path, text)]).map(\.line)
    }

    /// A violation for each line of `lines` that `message` has something to say about.
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
