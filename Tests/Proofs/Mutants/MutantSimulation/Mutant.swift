/// A deliberate error in the source code, from a list in `Tests/Proofs/Mutants`.
package struct Mutant: Sendable {
    /// The test or proof that must fail with the mutant.
    package enum Killer: Hashable, Sendable, CustomStringConvertible {
        /// Tests, by a filter for `swift test --filter`.
        case tests(String)
        /// A proof with some seeds.
        ///
        /// A proof with power cuts tries `imageCount` disks at each gap between two operations.
        case proof(Proof, seeds: ClosedRange<UInt64>, imageCount: Int)

        package var description: String {
            switch self {
            case .tests(let words): "tests \(words)"
            case .proof(let proof, let seeds, _): "\(proof.rawValue) \(seeds.lowerBound)-\(seeds.upperBound)"
            }
        }
    }

    /// The proofs that `MutantProof` can run.
    package enum Proof: String, Sendable {
        /// Power cuts in the engine.
        case crash
        /// Random operations on objects.
        case graph
        /// Contexts on threads.
        case serial
        /// Power cuts in migrations.
        ///
        /// The seed determines the kind of migration.
        case migrate
    }

    /// A line of the original file or of the replacement.
    enum Line: Equatable, Sendable {
        case context(String)
        case original(String)
        case replacement(String)
    }

    package let name: String
    /// The rule that the mutant violates.
    package let rule: String
    /// The path below `Sources`, whose first folder is the module.
    package let file: String
    package let killer: Killer
    /// Whether the mutant is one of the few that the gate tries.
    package let isChosen: Bool
    let lines: [Line]

    package var module: String { String(file.prefix { $0 != "/" }) }

    /// The lines that must be in the file exactly once.
    var expected: [String] {
        lines.compactMap { line in
            switch line {
            case .context(let text), .original(let text): text
            case .replacement: nil
            }
        }
    }
}
