import SourceSymbols
import Testing

extension Ratchet {
    static let all: [Ratchet] =
        [files, functions, folders, parameters, properties, persons, whatClauses]
        + (FileSymbols.canBeRead ? [circles] : [])

    static let files = Ratchet(name: "files", limit: 400, unit: "lines", remedy: "split the file by ideas") { files in
        sizes(files.filter { $0.swift != nil }.map { ($0.path, $0.lineCount) })
    }

    static let functions = Ratchet(
        name: "functions",
        limit: 60,
        unit: "lines",
        remedy: "split the function by steps"
    ) { files in
        sizes(files.flatMap { file in file.functions.map { ("\(file.path) \($0.name)", $0.lineCount) } })
    }

    static let folders = Ratchet(
        name: "folders",
        limit: 20,
        unit: "files",
        remedy: "give the parts folders of their own"
    ) { files in
        let folders = files.filter(\.isProse).map { $0.parts.dropLast().joined(separator: "/") }
        return Dictionary(folders.map { ($0, 1) }, uniquingKeysWith: +)
    }

    static let parameters = Ratchet(
        name: "parameters",
        limit: 7,
        unit: "parameters",
        remedy: "pass a value that owns them"
    ) { files in
        sizes(files.flatMap { file in file.functions.map { ("\(file.path) \($0.name)", $0.parameterCount) } })
    }

    static let properties = Ratchet(
        name: "properties",
        limit: 25,
        unit: "stored properties",
        remedy: "give the parts types of their own"
    ) { files in
        sizes(files.flatMap { file in file.types.map { ("\(file.path) \($0.name)", $0.propertyCount) } })
    }

    static let persons = Ratchet(
        name: "persons",
        limit: 0,
        unit: "pronouns that name no subject (Dialect.persons)",
        remedy: "name the reader, the process or the object"
    ) { files in
        sizes(files.filter(\.isProse).map { ($0.path, Dialect.persons(in: $0.text ?? "")) })
    }

    static let whatClauses = Ratchet(
        name: "what",
        limit: 0,
        unit: "clauses with \"what\" as a noun",
        remedy: "use the noun of the field"
    ) { files in
        sizes(files.filter(\.isProse).map { ($0.path, Dialect.whatClauses(in: $0.text ?? "")) })
    }

    static let circles = Ratchet(
        name: "circles",
        limit: 10,
        unit: "files in its largest circle",
        remedy:
            "let one of them name less of the others; FAULTLINE_CIRCLES=1 and the filter circlesArePrinted print them"
    ) { files in
        do {
            return try FileGraph.ofTargets(files).reduce(into: [:]) { sizes, graph in
                sizes["Sources/\(graph.target)"] = graph.graph.circles.first?.count ?? 0
            }
        } catch {
            Issue.record(error)
            return [:]
        }
    }

    /// Returns the sizes by name.
    ///
    /// Repeated names get a number.
    private static func sizes(_ pairs: [(String, Int)]) -> [String: Int] {
        var sizes: [String: Int] = [:]
        for (name, size) in pairs {
            var unique = name
            var number = 2
            while sizes[unique] != nil {
                unique = "\(name) #\(number)"
                number += 1
            }
            sizes[unique] = size
        }
        return sizes
    }
}

extension RepositoryFile {
    private static let proseRoots: Set<Substring> = ["Sources", "Tests", "Benchmarks", "Examples", "docs"]

    /// Whether the file is code or documentation.
    ///
    /// Fixtures and the lists of the ratchets are not.
    var isProse: Bool {
        guard let root = parts.first, Self.proseRoots.contains(root) else { return false }
        return text != nil && !path.hasPrefix("Tests/Ratchet/")
    }

    var lineCount: Int {
        guard let text else { return 0 }
        return text.utf8.count { $0 == UInt8(ascii: "\n") } + (text.hasSuffix("\n") || text.isEmpty ? 0 : 1)
    }
}
