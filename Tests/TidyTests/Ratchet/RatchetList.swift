/// One list of known offenders in `Tests/Ratchet`: a line each, its size first, then its name.
struct RatchetList: Sendable, Equatable {
    /// The remarks at the top of the list.
    let header: [String]
    var entries: [String: Int]

    init(header: [String], entries: [String: Int]) {
        self.header = header
        self.entries = entries
    }

    /// Reads a list; lines that begin with `#` are remarks.
    ///
    /// Returns nil where a line is neither a remark nor an entry.
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

    /// The list as its file holds it: sorted by name, so that edits of different offenders merge.
    var text: String {
        let lines = entries.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return (header + lines).joined(separator: "\n") + "\n"
    }

    /// The list with every entry lowered to today's size, and without those that offend no longer.
    ///
    /// Nothing is raised.
    func lowered(to sizes: [String: Int], limit: Int) -> RatchetList {
        var lowered = self
        for (name, listed) in entries {
            let size = sizes[name] ?? 0
            lowered.entries[name] = size > limit ? min(size, listed) : nil
        }
        return lowered
    }
}
