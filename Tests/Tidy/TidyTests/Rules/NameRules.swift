/// A rule that declared names use one word for each concept.
struct GlossaryRule: TidyRule {
    /// The words to avoid, and the words to use instead.
    static let synonyms: [(words: [String], instead: String)] = [
        (["log", "file"], "segment"),
        (["wal"], "log"),
        (["attachment"], "blob"),
        (["external", "value"], "blob"),
        (["superblock"], "manifest"),
        (["timestamp"], "sequence number, or wall time"),
        (["vacuum"], "compaction"),
        (["gc"], "compaction"),
        (["garbage"], "dead"),
        (["proxy"], "fault"),
        (["placeholder"], "fault"),
        (["changeset"], "change set"),
        (["lsn"], "sequence number"),
    ]

    /// Names that are given by the API of SwiftData, with the folders that may use them.
    static let published = [(folder: "Sources/FaultlineObjects/History/", name: "timestamp")]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard file.sourceTarget != nil else { return [] }
            let published = Self.published.filter { file.path.hasPrefix($0.folder) }.map(\.name)
            return lineViolations(file, file.swift?.code ?? []) { line in
                for name in line.declaredNames where !published.contains(name) {
                    // Also matches plurals.
                    let words = name.camelWords.map { $0.hasSuffix("s") ? String($0.dropLast()) : $0 }
                    for synonym in Self.synonyms where words.contains(synonym.words) {
                        return "\(name): the word for \(synonym.words.joined(separator: " ")) is \(synonym.instead)"
                    }
                }
                return nil
            }
        }
    }
}

/// A rule that type names are specific, and differ from the name of the module.
struct TypeNameRule: TidyRule {
    static let empty: Set<String> = ["helper", "util", "utils", "utility", "manager", "impl", "info", "base", "common"]
    /// Names that are given by Core Data or by the command line of the tool.
    static let given: Set<String> = [
        "MigrationManager", "UndoManager", "NSMigrationManager", "NSStagedMigrationManager", "InfoCommand",
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.flatMap { file -> [Violation] in
            guard file.parts.count > 1, ["Sources", "Tests", "Benchmarks", "Examples"].contains(file.parts[0]) else {
                return []
            }
            return lineViolations(file, file.swift?.code ?? []) { line in
                guard let name = line.declaredType, !Self.given.contains(name) else { return nil }
                if name == "Faultline" { return "a type named Faultline hides the module; name it for its purpose" }
                let word = name.camelWords.first(where: Self.empty.contains)
                return word.map { "\(name): \($0) says nothing; name the type for the one thing it does" }
            }
        }
    }
}

/// A rule that a source file is named after a declaration in it, so that the names of the files serve as an index.
struct FileNameRule: TidyRule {
    /// Files without a type of the same name: re-exports, the macros of a target, nested types and small groups of
    /// functions.
    ///
    /// No exceptions may be added.
    static let exceptions: Set<String> = [
        "Exports", "Macros", "AttributeOption", "SchemaVersion", "SchemaMatching", "Entity", "AnnotationMacros",
        "SyntaxQueries", "Identifiers", "RawFields", "RowTestSource",
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        files.compactMap { file -> Violation? in
            if file.path.contains(" ") {
                return Violation(path: file.path, line: 0, message: "no spaces in the names of files")
            }
            guard let target = file.sourceTarget, let swift = file.swift, file.name != "main.swift" else { return nil }
            let name = file.name.dropLast(".swift".count)
            let main = String(name.prefix { $0 != "+" })
            let isDeclared = swift.code.contains { line in
                line.declaredType == main || line.declaredNames.contains(main)
            }
            guard !isDeclared, !Self.exceptions.contains(main), main != target else { return nil }
            let message = "declares nothing named \(main); name the file after its main type"
            return Violation(path: file.path, line: 0, message: message)
        }
    }
}

/// The keywords before the name of a declaration.
enum DeclarationKeyword {
    static let types: Set<String> = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "extension", "macro",
    ]
    static let all: Set<String> = [
        "let", "var", "func", "case", "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype",
        "macro",
    ]
}

extension StringProtocol {
    /// The names after `let`, `var`, `func`, `case` and the keywords that declare types.
    var declaredNames: [String] {
        let words = words.map { String($0) }
        return words.indices.dropLast().compactMap { index in
            DeclarationKeyword.all.contains(words[index]) ? words[index + 1] : nil
        }
    }

    /// The type that the line declares or extends.
    var declaredType: String? {
        let words = words.map { String($0) }
        guard let place = words.firstIndex(where: DeclarationKeyword.types.contains), place + 1 < words.count else {
            return nil
        }
        // `class` is also a modifier of functions and properties.
        return DeclarationKeyword.all.contains(words[place + 1]) ? nil : words[place + 1]
    }

    /// The words of a camel-case name in lower case.
    ///
    /// For example, `CRC32CTable` gives `crc32c` and `table`.
    var camelWords: [String] {
        var words: [String] = []
        let signs = Array(self)
        for (index, sign) in signs.enumerated() {
            let isStart =
                sign.isUppercase
                && (index == 0 || !signs[index - 1].isUppercase && !signs[index - 1].isNumber
                    || index + 1 < signs.count && signs[index + 1].isLowercase)
            if sign == "_" || isStart || words.isEmpty { words.append("") }
            if sign != "_", let last = words.indices.last { words[last] += sign.lowercased() }
        }
        return words.filter { !$0.isEmpty }
    }
}
