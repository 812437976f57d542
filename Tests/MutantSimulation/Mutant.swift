/// One rule that is broken on purpose: `Tests/Mutants`.
package struct Mutant: Sendable {
    /// What must fail when the rule is broken.
    package enum Killer: Hashable, Sendable, CustomStringConvertible {
        /// Tests by the words that name them, as `swift test --filter` takes them.
        case tests(String)
        /// A proof over some seeds; those that cut the power try so many disks at each gap between two operations.
        case proof(Proof, seeds: ClosedRange<UInt64>, imageCount: Int)

        package var description: String {
            switch self {
            case .tests(let words): "tests \(words)"
            case .proof(let proof, let seeds, _): "\(proof.rawValue) \(seeds.lowerBound)-\(seeds.upperBound)"
            }
        }
    }

    /// The proofs that `MutantProof` runs.
    package enum Proof: String, Sendable {
        /// Power cuts in the engine.
        case crash
        /// Random operations on objects.
        case graph
        /// Contexts on threads.
        case serial
        /// Power cuts in migrations; the seed says of which kind.
        case migrate
    }

    /// A line of the file, or of what takes its place.
    enum Line: Equatable, Sendable {
        case context(String)
        case original(String)
        case replacement(String)
    }

    package let name: String
    /// The rule.
    package let rule: String
    /// Below `Sources`; the first folder is the module.
    package let file: String
    package let killer: Killer
    /// Whether it is one of the few that the gate tries.
    package let isChosen: Bool
    let lines: [Line]

    package var module: String { String(file.prefix { $0 != "/" }) }

    /// The lines that the file must have exactly once.
    var expected: [String] {
        lines.compactMap { line in
            switch line {
            case .context(let text), .original(let text): text
            case .replacement: nil
            }
        }
    }
}
