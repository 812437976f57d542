/// A rule that libraries handle errors without ending the process, and print nothing.
struct TrapRule: TidyRule {
    /// Targets whose purpose is to print.
    static let printing: Set<String> = ["FaultlineTool", "FaultlineCommands"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard let target = file.sourceTarget, target != "FaultlineTool" else { return [] }
            return lineViolations(file, file.swift?.code ?? []) { line in
                if line.holds("try!") { return "no try!; handle or throw the error" }
                if line.callsFree("fatalError") { return "no fatalError; throw a typed error, or state a precondition" }
                if !Self.printing.contains(target), line.callsFree("print") {
                    return "no print; report an event, or return the text"
                }
                return nil
            }
        }
    }
}

/// A rule that the thread sanitizer sees each lock: it does not see a `Mutex`, and reports races that are none.
struct SeenLockRule: TidyRule {
    /// The two types for it, code as users write it, and programs without the library.
    static let exempt = [
        "Sources/FaultlineDisk/EngineLock.swift", "Sources/FaultlineDisk/Guarded.swift",
        "Tests/Unit/FaultlineTestingTests/Guide/", "Tests/Unit/BenchmarkKitTests/",
        "Tests/Proofs/Mutants/FaultlineMutants/",
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard file.path.hasPrefix("Sources/") || file.path.hasPrefix("Tests/"),
                !Self.exempt.contains(where: { file.path.hasPrefix($0) })
            else { return [] }
            return lineViolations(file, file.swift?.code ?? []) { line in
                line.words.contains("Mutex") ? "no Mutex; use Guarded, which the thread sanitizer sees" : nil
            }
        }
    }
}

/// A rule that tests start threads of their own: a queue of Dispatch starts no further one while all of its threads run,
/// and a test that waits for a closure there may wait forever.
struct OwnThreadRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard file.path.hasPrefix("Tests/") else { return [] }
            return lineViolations(file, file.swift?.code ?? []) { line in
                line.contains("DispatchQueue.global().async") && !line.contains("asyncAfter")
                    ? "no closure on Dispatch's queues; use TestThreads" : nil
            }
        }
    }
}

/// A rule that open tasks are in the issues, not in the code.
struct ToDoRule: TidyRule {
    static let marks: Set<String> = ["TODO", "FIXME", "XXX", "HACK"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file in
            lineViolations(file, file.swift?.comments ?? []) { line in
                let mark = line.words.first { Self.marks.contains(String($0)) }
                return mark.map { "no \($0) in the code; do it, or file an issue" }
            }
        }
    }
}

/// A rule that a comment justifies every promise that the compiler cannot check.
struct SafeBecauseRule: TidyRule {
    static let promises: [StaticString] = [
        "@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast", "unsafeDowncast", "unowned(unsafe)",
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard let swift = file.swift else { return [] }
            return swift.code.indices.compactMap { index in
                guard let promise = Self.promises.first(where: { swift.code[index].holds($0) }) else { return nil }
                guard !Self.isExplained(index, swift) else { return nil }
                let message = "\(promise) needs a comment just above it, with a line that begins: Safe because"
                return Violation(path: file.path, line: index + 1, message: message)
            }
        }
    }

    /// Whether the comment above the line or its declaration justifies it.
    private static func isExplained(_ line: Int, _ swift: SwiftText) -> Bool {
        var above = line
        while above > 0 {
            above -= 1
            let comment = swift.comments[above].trimmed
            let code = swift.code[above].trimmed
            if code.isEmpty, !comment.isEmpty {
                let text = comment.drop { $0 == "/" || $0 == "*" || $0 == " " }
                if text.hasPrefix("Safe because") { return true }
            } else if !code.hasPrefix("@") {
                return false
            }
        }
        return false
    }
}

extension StringProtocol {
    /// The text without leading and trailing whitespace.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }

    /// The runs of ASCII letters, digits and underscores.
    var words: [SubSequence] {
        var words: [SubSequence] = []
        var start: Index?
        for place in utf8.indices {
            if Self.isWordByte(utf8[place]) {
                if start == nil { start = place }
            } else if let first = start {
                words.append(self[first..<place])
                start = nil
            }
        }
        if let first = start { words.append(self[first...]) }
        return words
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Whether the line calls a free function with this name.
    func callsFree(_ name: StaticString) -> Bool {
        guard holds(name) else { return false }
        let name = name.description
        var rest = String(self)[...]
        while let found = rest.firstRange(of: name) {
            let before = rest[..<found.lowerBound]
            let after = rest[found.upperBound...].drop(while: \.isWhitespace)
            let isWhole = before.last.map { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") } ?? true
            if isWhole, after.hasPrefix("("), before.words.last != "func" { return true }
            rest = rest[found.upperBound...]
        }
        return false
    }
}
