import SourceSymbols

/// The files of a module, and for each the files whose declarations it names.
///
/// A file names another one by a type that is declared there, or by a member of an extension there. A name counts only
/// if one file of the module declares it. A member does not count either if the file that uses it has a private one, or
/// a lower module or the standard library has one, of the same name: a name alone does not tell which is meant.
struct FileGraph: Sendable {
    let paths: [String]
    /// For each file the files that it names, each with the names.
    private(set) var edges: [[Int: Set<String>]]

    /// - Parameters:
    ///   - files: The files of the module.
    ///   - lower: The files of the modules that it imports.
    init(_ files: [(path: String, symbols: FileSymbols)], lower: [FileSymbols]) {
        paths = files.map(\.path)
        edges = files.map { _ in [:] }
        let types = Self.owners(files.map(\.symbols.types))
        let members = Self.owners(files.map { $0.symbols.extensionMembers.union($0.symbols.typeMembers) })
        let known = lower.reduce(into: StandardNames.members) {
            $0.formUnion($1.extensionMembers)
            $0.formUnion($1.typeMembers)
        }
        for (place, file) in files.enumerated() {
            let symbols = file.symbols
            let names = symbols.names.subtracting(symbols.bound)
            for name in names { join(place, types[name], name) }
            let used = symbols.memberNames.union(names.subtracting(symbols.typeMembers))
            for name in used.subtracting(symbols.privateMembers) where !known.contains(name) {
                guard let owner = members[name], files[owner].symbols.extensionMembers.contains(name) else { continue }
                join(place, owner, name)
            }
        }
    }

    /// The graphs of all targets in `Sources`, from the lowest layer up.
    static func ofTargets(_ files: [RepositoryFile]) throws -> [(target: String, graph: FileGraph)] {
        let sources = files.filter { $0.parts.first == "Sources" && $0.swift != nil }
        let symbols = try FileSymbols.read(sources.map { $0.text ?? "" })
        let targets = Dictionary(grouping: zip(sources, symbols).map { ($0, $1) }) { $0.0.sourceTarget ?? "" }
        return LayerTable.rows.map { row in
            let lower = row.targets.sorted().flatMap { targets[$0] ?? [] }.map(\.1)
            return (row.target, FileGraph((targets[row.target] ?? []).map { ($0.0.path, $0.1) }, lower: lower))
        }
    }

    /// For each name that one file declares, the file.
    private static func owners(_ declared: [Set<String>]) -> [String: Int] {
        var owners: [String: Int] = [:]
        var repeated: Set<String> = []
        for (place, names) in declared.enumerated() {
            for name in names where owners.updateValue(place, forKey: name) != nil { repeated.insert(name) }
        }
        return owners.filter { !repeated.contains($0.key) }
    }

    private mutating func join(_ place: Int, _ owner: Int?, _ name: String) {
        guard let owner, owner != place else { return }
        edges[place][owner, default: []].insert(name)
    }

    /// The circles, the largest first: in each, every file leads to every other one.
    ///
    /// R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1(2), 1972, pp. 146–160.
    /// The recursion is replaced by a stack.
    var circles: [[Int]] {
        var search = CircleSearch(edges.map { $0.keys.sorted() })
        return search.run().sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
    }

    /// A circle as text: each file with the files of the circle that it names, and the names.
    func description(of circle: [Int]) -> String {
        circle.map { file in
            let targets = edges[file].filter { circle.contains($0.key) }.sorted { $0.key < $1.key }
            let lines = targets.map { "    \(paths[$0.key]): \($0.value.sorted().joined(separator: " "))" }
            return ([paths[file]] + lines).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

/// Tarjan's search for strongly connected components with more than one member.
private struct CircleSearch {
    let targets: [[Int]]
    private var indices: [Int?]
    private var lowLinks: [Int]
    private var isOnStack: [Bool]
    private var stack: [Int] = []
    private var count = 0
    private var circles: [[Int]] = []

    init(_ targets: [[Int]]) {
        self.targets = targets
        indices = targets.map { _ in nil }
        lowLinks = targets.map { _ in 0 }
        isOnStack = targets.map { _ in false }
    }

    mutating func run() -> [[Int]] {
        for root in targets.indices where indices[root] == nil { visit(root) }
        return circles
    }

    private mutating func visit(_ root: Int) {
        var path: [(file: Int, next: Int)] = [(root, 0)]
        begin(root)
        while let (file, next) = path.last {
            guard next < targets[file].count else {
                path.removeLast()
                if let before = path.last?.file { lowLinks[before] = min(lowLinks[before], lowLinks[file]) }
                if lowLinks[file] == indices[file] { close(file) }
                continue
            }
            path[path.count - 1].next += 1
            let target = targets[file][next]
            if let index = indices[target] {
                if isOnStack[target] { lowLinks[file] = min(lowLinks[file], index) }
            } else {
                begin(target)
                path.append((target, 0))
            }
        }
    }

    private mutating func begin(_ file: Int) {
        indices[file] = count
        lowLinks[file] = count
        count += 1
        stack.append(file)
        isOnStack[file] = true
    }

    /// Takes a circle off the stack.
    private mutating func close(_ file: Int) {
        var circle: [Int] = []
        repeat {
            let last = stack.removeLast()
            isOnStack[last] = false
            circle.append(last)
        } while circle.last != file
        if circle.count > 1 { circles.append(circle.sorted()) }
    }
}
