/// A list of known violations in `Tests/Ratchet`.
///
/// Each line has a size, a name, and why the violation stays: `8 Sources/A.swift f() # fields of a record`.
struct RatchetList: Sendable, Equatable {
    /// The comments at the top of the list.
    let header: [String]
    var entries: [String: Int]
    /// Why violations stay, by name.
    let reasons: [String: String]

    init(header: [String], entries: [String: Int], reasons: [String: String]) {
        self.header = header
        self.entries = entries
        self.reasons = reasons
    }

    /// Parses a list, in which lines that begin with `#` are comments.
    ///
    /// Returns `nil` if any other line is not an entry.
    init?(_ text: String) {
        var header: [String] = []
        var entries: [String: Int] = [:]
        var reasons: [String: String] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                header.append(String(line))
                continue
            }
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let size = Int(parts[0]) else { return nil }
            let words = parts[1].split(separator: " # ", maxSplits: 1).map { String($0) }
            guard entries.updateValue(size, forKey: words[0]) == nil else { return nil }
            if words.count == 2 { reasons[words[0]] = words[1] }
        }
        self.init(header: header, entries: entries, reasons: reasons)
    }

    var total: Int { entries.values.reduce(0, +) }

    /// The names of entries without a reason.
    var unexplained: [String] { entries.keys.filter { reasons[$0] == nil }.sorted() }

    /// The text of the list, sorted by name, so that changes of different entries merge.
    var text: String {
        let lines = entries.sorted { $0.key < $1.key }.map { name, size in
            "\(size) \(name)" + (reasons[name].map { " # \($0)" } ?? "")
        }
        return (header + lines).joined(separator: "\n") + "\n"
    }

    /// Returns the list with every entry lowered to the current size, and without those that keep the limit.
    ///
    /// No entry is raised.
    func lowered(to sizes: [String: Int], limit: Int) -> RatchetList {
        var lowered = self
        for (name, listed) in entries {
            let size = sizes[name] ?? 0
            lowered.entries[name] = size > limit ? min(size, listed) : nil
        }
        return lowered
    }
}
