/// A file of the repository, with its path relative to the root.
struct RepositoryFile: Sendable {
    let path: String
    let byteCount: Int
    /// The contents, or `nil` if they are not UTF-8.
    let text: String?
    /// The contents with code and comments separated, or `nil` for a file that is not Swift.
    let swift: SwiftText?
    /// The functions of a Swift file, in order.
    ///
    /// Nested functions have their own entries.
    let functions: [SwiftFunction]
    /// The types of a Swift file, each at its end.
    let types: [SwiftType]

    init(path: String, byteCount: Int, text: String?) {
        self.path = path
        self.byteCount = byteCount
        self.text = text
        swift = path.hasSuffix(".swift") ? text.map(SwiftText.init) : nil
        functions = swift.map(SwiftFunction.all) ?? []
        types = swift.map(SwiftType.all) ?? []
    }

    /// Creates a file with the given contents, for testing a rule.
    init(_ path: String, _ text: String) {
        self.init(path: path, byteCount: text.utf8.count, text: text)
    }

    var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

    /// The components of the path.
    var parts: [Substring] { path.split(separator: "/") }

    /// The target of a file below `Sources`, or the example of a file below its `Sources`.
    var sourceTarget: String? {
        if parts.count > 2, parts[0] == "Sources" { return String(parts[1]) }
        return parts.count > 3 && parts[0] == "Examples" && parts[2] == "Sources" ? String(parts[1]) : nil
    }

    /// The lines of the contents, without line breaks.
    ///
    /// They are empty if the contents are not UTF-8.
    var lines: [Substring] { text?.split(separator: "\n", omittingEmptySubsequences: false) ?? [] }
}
