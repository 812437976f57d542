/// One file of the repository, its path told from the root.
struct RepositoryFile: Sendable {
    let path: String
    let byteCount: Int
    /// The contents, or nil where they are not UTF-8.
    let text: String?
    /// The contents as Swift, comments and literals told apart; nil for other files.
    let swift: SwiftText?

    init(path: String, byteCount: Int, text: String?) {
        self.path = path
        self.byteCount = byteCount
        self.text = text
        swift = path.hasSuffix(".swift") ? text.map(SwiftText.init) : nil
    }

    /// A file with these contents, for trying a rule out.
    init(_ path: String, _ text: String) {
        self.init(path: path, byteCount: text.utf8.count, text: text)
    }

    var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

    /// The parts of the path between slashes.
    var parts: [Substring] { path.split(separator: "/") }

    /// The target that a file below `Sources` belongs to.
    var sourceTarget: String? { parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil }

    /// The lines of the contents, without line breaks; empty where they are not UTF-8.
    var lines: [Substring] { text?.split(separator: "\n", omittingEmptySubsequences: false) ?? [] }
}
