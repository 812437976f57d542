/// A rule that a target imports only the modules in its row of the layer table.
struct ImportRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard let target = file.sourceTarget, let swift = file.swift else { return [] }
            guard let row = LayerTable.row(of: target) else {
                let message = "the target \(target) has no row in Tests/Tidy/TidyTests/Rules/LayerTable.swift; add one"
                return [Violation(path: file.path, line: 0, message: message)]
            }
            return lineViolations(file, swift.code) { line in
                guard let module = Self.importedModule(line), !row.allows(module) else { return nil }
                let allowed = row.targets.union(row.others).sorted().joined(separator: ", ")
                return
                    "\(target) may not import \(module), only \(allowed.isEmpty ? "the standard modules" : allowed); "
                    + "move the code to the layer that may"
            }
        }
    }

    /// Returns the module that a line imports, ignoring attributes, access levels and declaration kinds.
    static func importedModule(_ line: String) -> String? {
        var words = line.split(whereSeparator: \.isWhitespace)[...]
        while let word = words.first, word.hasPrefix("@") || Self.accessLevels.contains(String(word)) {
            words.removeFirst()
        }
        guard words.popFirst() == "import" else { return nil }
        if let kind = words.first, Self.kinds.contains(String(kind)) { words.removeFirst() }
        return words.first?.split(separator: ".").first.map(String.init)
    }

    private static let accessLevels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
}

/// A rule against `@testable`, because `package` access is enough and tests also run in release builds.
struct TestableRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file in
            lineViolations(file, file.swift?.code ?? []) { line in
                line.holds("@testable") ? "no @testable; make the tested members package" : nil
            }
        }
    }
}

/// A rule against task-local closures: optimized code of Swift 6.3 crashes in their `withValue`.
struct TaskLocalRule: TidyRule {
    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file in
            lineViolations(file, file.swift?.code ?? []) { line in
                line.holds("@TaskLocal") && line.holds("->")
                    ? "no closure in a @TaskLocal property; wrap it in a struct, as Hook does" : nil
            }
        }
    }
}
