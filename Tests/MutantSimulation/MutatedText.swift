/// A source file with all its mutants, each behind a switch that is read when the process starts.
package struct MutatedText {
    /// A change whose place in the file was not found.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// In a replacement: whether the process is that mutant.
    ///
    /// A change with this word takes the place of the lines as it stands; one without it becomes one of two branches.
    static let mark = "isMutant"

    private var lines: [String]
    /// What takes the place of a line, and what comes before it.
    private var changes: [Int: [String]] = [:]
    private var insertions: [Int: [String]] = [:]

    package init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The file.
    package var text: String {
        var result: [String] = []
        for (place, line) in lines.enumerated() {
            result += insertions[place] ?? []
            result += changes[place] ?? [line]
        }
        return result.joined(separator: "\n")
    }

    /// Puts a mutant in.
    ///
    /// - Parameters:
    ///   - mutant: One of this file.
    ///   - number: The number that the switch has for it.
    /// - Throws: `Fault` if its lines are not there exactly once, or another mutant changes one of them.
    package mutating func add(_ mutant: Mutant, number: Int) throws(Fault) {
        let expected = mutant.expected
        let places = lines.indices.filter { lines[$0...].starts(with: expected) }
        guard places.count == 1 else {
            throw Fault(
                description: "\(mutant.name): its lines are in \(mutant.file) \(places.count) times: mend the entry")
        }
        var place = places[0]
        var originals: [Int] = []
        var replacements: [String] = []
        for line in mutant.lines {
            switch line {
            case .context:
                try change(&originals, to: &replacements, before: place, mutant, number)
                place += 1
            case .original:
                originals.append(place)
                place += 1
            case .replacement(let text): replacements.append(text)
            }
        }
        try change(&originals, to: &replacements, before: place, mutant, number)
    }

    /// Changes a run of lines; where there are none, puts the replacement before `place`.
    private mutating func change(
        _ originals: inout [Int], to replacements: inout [String], before place: Int, _ mutant: Mutant, _ number: Int
    ) throws(Fault) {
        defer {
            originals.removeAll()
            replacements.removeAll()
        }
        let condition = "mutant == \(number)"
        guard let first = originals.first else {
            guard !replacements.isEmpty else { return }
            insertions[place, default: []] += ["if \(condition) {"] + replacements + ["}"]
            return
        }
        guard originals.allSatisfy({ changes[$0] == nil }) else {
            throw Fault(description: "\(mutant.name): another mutant changes the same lines")
        }
        for original in originals { changes[original] = [] }
        if replacements.contains(where: { $0.contains(Self.mark) }) {
            changes[first] = replacements.map { $0.replacing(Self.mark, with: "(\(condition))") }
        } else {
            changes[first] =
                ["if \(condition) {"] + replacements + ["} else {"] + originals.map { lines[$0] } + ["}"]
        }
    }
}
