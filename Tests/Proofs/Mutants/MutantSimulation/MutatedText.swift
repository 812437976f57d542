/// A source file with all its mutants, each behind a switch that is read when the process starts.
package struct MutatedText {
    /// An error for a change whose lines were not found.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// A word in a replacement that stands for the condition that the mutant is active.
    ///
    /// A replacement with this word replaces the lines directly. One without it becomes a branch of an `if` statement
    /// with the original lines in the other branch.
    static let mark = "isMutant"

    private var lines: [String]
    /// The replacements of lines, and the insertions before lines.
    private var changes: [Int: [String]] = [:]
    private var insertions: [Int: [String]] = [:]

    package init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The text with all mutants.
    package var text: String {
        var result: [String] = []
        for (place, line) in lines.enumerated() {
            result += insertions[place] ?? []
            result += changes[place] ?? [line]
        }
        return result.joined(separator: "\n")
    }

    /// Adds a mutant.
    ///
    /// - Parameters:
    ///   - mutant: A mutant of this file.
    ///   - number: The number that activates it.
    /// - Throws: `Fault` if its lines are not in the file exactly once, or if another mutant changes one of them.
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

    /// Replaces the original lines.
    ///
    /// If there are none, the replacement is inserted before `place`.
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
        let isBranch = !replacements.contains { $0.contains(Self.mark) }
        if isBranch, !isWhole(originals, before: place) {
            throw Fault(
                description: "\(mutant.name): its lines are no whole statements, or end with a declaration: "
                    + "write \(Self.mark) into the replacement")
        }
        for original in originals { changes[original] = [] }
        if !isBranch {
            changes[first] = replacements.map { $0.replacing(Self.mark, with: "(\(condition))") }
        } else {
            changes[first] =
                ["if \(condition) {"] + replacements + ["} else {"] + originals.map { lines[$0] } + ["}"]
        }
    }
    /// Whether lines can be a branch of their own: whole statements, of which the last declares no name for the rest.
    private func isWhole(_ originals: [Int], before place: Int) -> Bool {
        let texts = originals.map { lines[$0].drop { $0 == " " } }
        let next = place < lines.count ? lines[place].drop { $0 == " " } : ""
        let goesOn = ["&& ", "|| ", "?? ", "? ", ": ", "+ ", "- ", "."].contains { next.hasPrefix($0) }
        let declares = ["let ", "var "].contains { texts.last?.hasPrefix($0) == true }
        return !goesOn && !declares
    }
}
