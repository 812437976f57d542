/// The article on errors has a row for each code of each public error, and no other.
struct ErrorCatalogueRule: TidyRule {
    static let article = "Sources/Faultline/Faultline.docc/Errors.md"

    /// The sections of the article, with the file and the first words of the declarations of their codes.
    static let sections: [(heading: String, path: String, declaration: String)] = [
        ("StorageError", "Sources/FaultlineObjects/Model/StorageError.swift", "case "),
        ("SwiftDataError", "Sources/FaultlineObjects/Model/SwiftDataError.swift", "public static let "),
        ("ValidationFinding", "Sources/FaultlineObjects/Model/ValidationFinding.swift", "case "),
        ("MigrationError", "Sources/FaultlineMigration/MigrationError.swift", "case "),
        ("RollbackError", "Sources/FaultlineMigration/Rollback/RollbackError.swift", "case "),
        ("SchemaError", "Sources/FaultlineModel/Schema/SchemaError.swift", "case "),
        ("StoreServiceError", "Sources/FaultlineService/StoreServiceError.swift", "case "),
        ("SchemaLockError", "Sources/FaultlineModel/Lock/SchemaLockError.swift", "case "),
    ]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        guard let article = files.first(where: { $0.path == Self.article }) else { return [] }
        var heading = ""
        var rows: [String: Set<String>] = [:]
        for line in article.lines {
            if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
            if let row = line.firstMatch(of: #/^\| `([A-Za-z]+)` \|/#) {
                rows[heading, default: []].insert(String(row.1))
            }
        }
        return Self.sections.flatMap { section -> [Violation] in
            guard let file = files.first(where: { $0.path == section.path }) else {
                return [
                    Violation(path: section.path, line: 0, message: "is not there; name the file of \(section.heading)")
                ]
            }
            let codes = Self.codes(file, section.declaration)
            let shown = rows[section.heading] ?? []
            return codes.symmetricDifference(shown).sorted().map { code in
                let fault = codes.contains(code) ? "has no row for" : "has a row for"
                return Violation(
                    path: article.path, line: 0, message: "\(fault) \(section.heading).\(code); \(remedy(codes, code))")
            }
        }
    }

    private func remedy(_ codes: Set<String>, _ code: String) -> String {
        codes.contains(code) ? "describe it" : "no source declares it: remove the row"
    }

    /// The codes that a file declares: lines of one word after `declaration`, or of one and a value.
    private static func codes(_ file: RepositoryFile, _ declaration: String) -> Set<String> {
        Set(
            (file.swift?.code ?? []).compactMap { line in
                guard line.trimmed.hasPrefix(declaration) else { return nil }
                let rest = line.trimmed.dropFirst(declaration.count)
                let name = rest.prefix { $0.isLetter }
                let end = rest.dropFirst(name.count)
                guard !name.isEmpty, end.isEmpty || end.hasPrefix(" = ") else { return nil }
                return String(name)
            })
    }
}
