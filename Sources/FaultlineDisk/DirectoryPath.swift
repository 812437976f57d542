/// Paths of directories as callers give them: with or without a slash at the end.
package enum DirectoryPath {
    /// The path without slashes at its end; `/` stays.
    package static func trimmed(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// The directory that holds a path.
    package static func parent(of path: String) -> String {
        let trimmed = trimmed(path)
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}
