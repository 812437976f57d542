/// A limit that all new code keeps.
///
/// Older violations are in a list that may only shrink.
struct Ratchet: Sendable {
    /// The name of the list, without its extension.
    let name: String
    /// Sizes above this must be listed.
    let limit: Int
    /// The unit of the sizes, for messages.
    let unit: String
    /// The remedy for a new violation.
    let remedy: String
    /// Measures the sizes.
    ///
    /// Each name begins with the path of a file or folder.
    let measure: @Sendable ([RepositoryFile]) -> [String: Int]

    var listPath: String { "Tests/Ratchet/\(name).txt" }

    /// Compares the files with their list, and finds new violations, larger ones, and entries that are too high.
    func violations(in files: [RepositoryFile]) -> [Violation] {
        guard let text = files.first(where: { $0.path == listPath })?.text, let list = RatchetList(text) else {
            return [Violation(path: listPath, line: 0, message: "is missing, or a line is not: size, space, name")]
        }
        let sizes = measure(files).filter { $0.value > limit }
        let offenders = sizes.compactMap { name, size in offence(name, size, listed: list.entries[name]) }
        let stale = list.entries.keys.filter { sizes[$0] == nil }.map {
            Violation(
                path: $0,
                line: 0,
                message: "keeps the limit of \(limit) \(unit) now: delete its line in \(listPath) (make ratchet)"
            )
        }
        return (offenders + stale).sorted { $0.path < $1.path }
    }

    private func offence(_ name: String, _ size: Int, listed: Int?) -> Violation? {
        guard let listed else {
            return Violation(path: name, line: 0, message: "\(size) \(unit), more than \(limit); \(remedy)")
        }
        if size > listed {
            let message = "\(size) \(unit), and \(listPath) allows \(listed); \(remedy)"
            return Violation(path: name, line: 0, message: message)
        }
        guard size < listed else { return nil }
        let message = "shrank from \(listed) to \(size) \(unit): write `\(size) \(name)` in \(listPath) (make ratchet)"
        return Violation(path: name, line: 0, message: message)
    }

    /// Compares the total of the list with earlier ones.
    ///
    /// Entries may be renamed, as when a file moves, but the total may not grow.
    func violations(total: Int, earlier: [(commit: String, total: Int)]) -> [Violation] {
        guard let least = earlier.min(by: { $0.total < $1.total }), total > least.total else { return [] }
        let message =
            "the sum of its sizes was \(least.total) at \(least.commit) and is \(total) now; a list only shrinks"
        return [Violation(path: listPath, line: 0, message: message)]
    }
}
