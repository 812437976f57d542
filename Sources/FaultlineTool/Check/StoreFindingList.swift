import FaultlineCommands
import FaultlineRepair

/// Prints the findings of a check as they occur: all of them as JSON; for people the first of each kind, and the
/// remedy.
struct StoreFindingList {
    private static let shownCountMax = 20

    private let asJSON: Bool
    private var counts: [String: Int] = [:]
    private var remedies: [String] = []
    /// Findings so far.
    private(set) var count = 0

    init(asJSON: Bool) {
        self.asJSON = asJSON
    }

    /// Prints one.
    mutating func add(_ finding: StoreFinding) {
        count += 1
        if asJSON {
            Terminal.output.write(finding.json.line + "\n")
            return
        }
        if !remedies.contains(finding.remedy) { remedies.append(finding.remedy) }
        counts[finding.kind.rawValue, default: 0] += 1
        if counts[finding.kind.rawValue, default: 0] <= Self.shownCountMax { Terminal.output.write("\(finding)\n") }
    }

    /// Prints the number of findings not shown, and a remedy for all.
    func finish() {
        guard !asJSON else { return }
        for (kind, count) in counts.sorted(by: { $0.key < $1.key }) where count > Self.shownCountMax {
            Terminal.output.write(
                "\(kind): \(Quantity.count(count - Self.shownCountMax)) more; --json prints them all\n")
        }
        for remedy in remedies { Terminal.output.write("  -> \(remedy)\n") }
    }
}
