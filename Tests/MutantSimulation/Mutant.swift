/// One rule of the engine that is broken on purpose: `Tests/Mutants`.
package struct Mutant: Sendable {
    /// What must fail when the rule is broken.
    package enum Killer: Hashable, Sendable {
        /// Tests by the words that name them, as `swift test --filter` takes them.
        case tests(String)
        /// The crash proof over some seeds, with so many disks at each gap between two operations.
        case crash(seeds: ClosedRange<UInt64>, imageCount: Int)
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
    /// Below `Sources/FaultlineLog`.
    package let file: String
    package let killer: Killer
    /// Whether it is one of the few that the gate tries.
    package let isChosen: Bool
    let lines: [Line]

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
