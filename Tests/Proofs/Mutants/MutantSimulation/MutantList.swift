/// Parses the files of mutants in `Tests/Proofs/Mutants`.
///
/// An entry is a paragraph: `mutant NAME`, then `rule`, `file`, `killer tests WORDS` or `killer PROOF SEEDS` with a
/// proof of `MutantProof`, optionally `chosen`, and a change like in a unified diff, each line with a leading space,
/// minus or plus. Lines that begin with `#` are comments.
///
/// `SEEDS` is a number or a range like `2-5`. A proof with power cuts tries the harshest disk at each gap, or more
/// disks with a suffix like `images 6`. `MutatedText` describes how the change is applied.
package enum MutantList {
    /// An error for an invalid entry.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Throws: `Fault` for the first invalid entry.
    package static func parse(_ text: String) throws(Fault) -> [Mutant] {
        var mutants: [Mutant] = []
        var paragraph: [Substring] = []
        for line in (text + "\n\n").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("#") { continue }
            if !line.isEmpty {
                paragraph.append(line)
            } else if !paragraph.isEmpty {
                mutants.append(try entry(paragraph))
                paragraph.removeAll()
            }
        }
        return mutants
    }

    private static func entry(_ paragraph: [Substring]) throws(Fault) -> Mutant {
        var fields: [Substring: String] = [:]
        var lines: [Mutant.Line] = []
        for line in paragraph {
            let rest = String(line.dropFirst())
            switch line.first {
            case " ": lines.append(.context(rest))
            case "-": lines.append(.original(rest))
            case "+": lines.append(.replacement(rest))
            default:
                let key = line.prefix { $0 != " " }
                guard fields.updateValue(String(line.dropFirst(key.count).drop { $0 == " " }), forKey: key) == nil
                else {
                    throw Fault(description: "\(paragraph[0]): says \(key) twice")
                }
            }
        }
        guard let name = fields["mutant"], let rule = fields["rule"], let file = fields["file"],
            let killer = fields["killer"].flatMap(killer), fields.count == (fields["chosen"] == nil ? 4 : 5)
        else { throw Fault(description: "\(paragraph[0]): needs mutant, rule, file, killer, and perhaps chosen") }
        let mutant = Mutant(
            name: name, rule: rule, file: file, killer: killer, isChosen: fields["chosen"] != nil, lines: lines)
        guard !mutant.expected.isEmpty, !lines.allSatisfy(\.isContext)
        else { throw Fault(description: "\(name): changes nothing") }
        return mutant
    }

    private static func killer(_ text: String) -> Mutant.Killer? {
        if text.hasPrefix("tests ") { return .tests(String(text.dropFirst(6))) }
        let words = text.split(separator: " ")
        guard words.count >= 2, let proof = Mutant.Proof(rawValue: String(words[0])) else { return nil }
        let bounds = words[1].split(separator: "-").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, bounds.count <= 2, first > 0, first <= last,
            words.count == 2 || words.count == 4 && words[2] == "images",
            let imageCount = words.count == 2 ? 1 : Int(words[3]), imageCount > 0
        else { return nil }
        return .proof(proof, seeds: first...last, imageCount: imageCount)
    }
}

extension Mutant.Line {
    fileprivate var isContext: Bool {
        if case .context = self { true } else { false }
    }
}
