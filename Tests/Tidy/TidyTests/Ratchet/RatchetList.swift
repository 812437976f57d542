/// A list of known violations in `Tests/Ratchet`.
///
/// Each line has a size and a name.
struct RatchetList: Sendable, Equatable {
    /// The comments at the top of the list.
    let header: [String]
    var entries: [String: Int]

    init(header: [String], entries: [String: Int]) {
        self.header = header
        self.entries = entries
    }

    /// Parses a list, in which lines that begin with `#` are comments.
    ///
    /// Returns `nil` if any other line is not an entry.
    init?(_ text: String) {
        var header: [String] = []
        var entries: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") {
                header.append(String(line))
                continue
            }
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let size = Int(parts[0]) else { return nil }
            guard entries.updateValue(size, forKey: String(parts[1])) == nil else { return nil }
        }
        self.init(header: header, entries: entries)
    }

    var total: Int { entries.values.reduce(0, +) }

    /// The text of the list, sorted by name, so that changes of different entries merge.
    var text: String {
        let lines = entries.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
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
