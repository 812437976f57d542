/// A public function or initializer that throws says which errors: `- Throws:` in its documentation.
///
/// Those of `Codable` throw the errors of their coders.
struct ErrorDocumentationRule: TidyRule {
    static let targets: Set<String> = [
        "Faultline", "FaultlineBackup", "FaultlineCoreData", "FaultlineImport", "FaultlineMigration", "FaultlineModel",
        "FaultlineObjects", "FaultlineService", "FaultlineTesting", "FaultlineText",
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.filter { $0.sourceTarget.map(Self.targets.contains) == true }.flatMap { file -> [Violation] in
            let code = file.swift?.code ?? []
            return code.indices.compactMap { index in
                guard Self.begins(code[index]), Self.throwsErrors(code[index...]) else { return nil }
                guard !Self.documentation(above: index, in: file.lines).contains("Throws") else { return nil }
                return Violation(path: file.path, line: index + 1, message: "throws; add `- Throws:` with its errors")
            }
        }
    }

    /// Whether a public function or initializer begins in a line.
    private static func begins(_ line: String) -> Bool {
        guard let name = line.words.firstIndex(where: { $0 == "func" || $0 == "init" }) else { return false }
        let isPublic = line.words[..<name].contains { $0 == "public" || $0 == "open" }
        return isPublic && !line.contains("init(from ") && !line.contains("encode(to ")
    }

    /// Whether a declaration has `throws` outside of all parentheses, before its body.
    private static func throwsErrors(_ lines: ArraySlice<String>) -> Bool {
        var depth = 0
        var outside = ""
        for line in lines.prefix(16) {
            for character in line {
                switch character {
                case "(": depth += 1
                case ")": depth -= 1
                case "{" where depth == 0: return outside.words.contains("throws")
                default: if depth == 0 { outside.append(character) }
                }
            }
            outside.append(" ")
        }
        return false
    }

    /// The documentation above a line, and above the attributes before it.
    private static func documentation(above index: Int, in lines: [Substring]) -> String {
        let above = lines[..<index].reversed().drop { $0.trimmed.hasPrefix("@") }
        return above.prefix { $0.trimmed.hasPrefix("///") }.joined(separator: "\n")
    }
}
