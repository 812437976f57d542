/// A structure, class or actor with the number of its stored properties.
struct SwiftType: Equatable {
    let name: String
    let propertyCount: Int
}

extension SwiftType {
    private static let keywords: Set<String> = ["struct", "class", "actor"]

    /// The types of a text, each at its end.
    ///
    /// It matches braces instead of parsing. An extension stores no properties.
    static func all(in text: SwiftText) -> [SwiftType] {
        var types: [SwiftType] = []
        var open: [(name: String, depth: Int, count: Int)] = []
        var depth = 0
        for (number, line) in text.code.enumerated() {
            if let name = declared(line) {
                open.append((name, depth + 1, 0))
            } else if let last = open.indices.last, open[last].depth == depth,
                isStoredProperty(line, before: number + 1 < text.code.count ? text.code[number + 1] : "")
            {
                open[last].count += 1
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            while let last = open.last, depth < last.depth {
                open.removeLast()
                types.append(SwiftType(name: last.name, propertyCount: last.count))
            }
        }
        return types
    }

    /// The name of the type that a line declares, if its body begins there.
    private static func declared(_ line: String) -> String? {
        let words = line.words.map { String($0) }
        guard line.contains("{"), let place = words.firstIndex(where: keywords.contains), place + 1 < words.count,
            !words[..<place].contains(where: { $0 == "import" || DeclarationKeyword.all.contains($0) }),
            !DeclarationKeyword.all.contains(words[place + 1])
        else { return nil }
        return words[place + 1]
    }

    /// Whether a line declares a property without a block, with an initial value, or with observers.
    private static func isStoredProperty(_ line: String, before next: String) -> Bool {
        let words = line.words.map { String($0) }
        guard let place = words.firstIndex(where: { $0 == "let" || $0 == "var" }),
            !words[..<place].contains(where: { ["static", "class", "func", "case", "init", "get"].contains($0) })
        else { return false }
        guard let brace = line.firstIndex(of: "{") else { return true }
        if line[..<brace].contains("=") { return true }
        let body = line[line.index(after: brace)...].trimmed
        let first = body.isEmpty ? next.trimmed : body
        return first.hasPrefix("didSet") || first.hasPrefix("willSet")
    }
}
