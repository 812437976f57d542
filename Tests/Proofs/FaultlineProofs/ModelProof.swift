import FaultlineDisk
import FaultlineTestSupport
import Foundation
import ModelSimulation

/// Random operations on a store under twelve configurations, against a model.
struct ModelProof {
    /// The results of workloads.
    struct Counts: TrialCounts {
        var operations = 0
        var violations = 0
        /// Workloads with a violation: their seeds, and the violation, as it may not recur in another run.
        var violated: [UInt64: String] = [:]
        var kinds: Set<ModelKind> = []
        var sites: Set<String> = []

        mutating func add(_ other: Counts) {
            operations += other.operations
            violations += other.violations
            violated.merge(other.violated) { text, _ in text }
            kinds.formUnion(other.kinds)
            sites.formUnion(other.sites)
        }
    }

    private enum Work {
        case sweep(seeds: Range<UInt64>)
        case canaries
        case replay(seed: UInt64, kept: [Int]?)
        case trials(Range<Int>)
    }

    /// The number of workloads of one process.
    private static let livesOfProcess = 24
    /// The number of workloads from which on every kind of operation must have had an effect.
    private static let livesOfAllKinds = 50
    /// The number of workloads that are minimized and printed.
    private static let toldCount = 3

    private let work: Work

    init(_ arguments: [String]) throws {
        switch (arguments.first, arguments.count) {
        case ("--canary", 1): work = .canaries
        case ("--seeds", 2): work = .sweep(seeds: 1..<1 + (try Self.number(arguments[1])))
        case ("--seed", 2): work = .replay(seed: try Self.number(arguments[1]), kept: nil)
        case ("--seed", 4) where arguments[2] == "--keep":
            let kept = try arguments[3].split(separator: ",").map { Int(try Self.number(String($0))) }
            work = .replay(seed: try Self.number(arguments[1]), kept: kept)
        case ("lives", 3):
            let (first, end) = (Int(try Self.number(arguments[1])), Int(try Self.number(arguments[2])))
            guard first <= end else { throw WrongUsage(message: "a range of lives does not end before it begins") }
            work = .trials(first..<end)
        default: throw WrongUsage(message: "model takes no such arguments")
        }
    }

    private static func number(_ text: String) throws -> UInt64 {
        guard let number = UInt64(text), number < 1 << 40 else { throw WrongUsage(message: "\(text) is no number") }
        return number
    }

    func run() throws -> Int32 {
        switch work {
        case .sweep(let seeds): return try sweep(seeds)
        case .canaries: return catchCanaries()
        case .replay(let seed, let kept): return try replay(seed, kept)
        case .trials(let range):
            try TrialSweep<Counts>.runTrials(range) { number, counts in
                let outcome = ModelTrial(seed: UInt64(number)).run()
                counts.operations += outcome.operationCount
                counts.kinds.formUnion(outcome.kinds)
                counts.sites.formUnion(outcome.sites.map(\.rawValue))
                if let violation = outcome.violation {
                    counts.violations += 1
                    counts.violated[UInt64(number)] = violation
                }
            }
            return 0
        }
    }

    private func sweep(_ seeds: Range<UInt64>) throws -> Int32 {
        let start = ContinuousClock.now
        let parts = stride(from: Int(seeds.lowerBound), to: Int(seeds.upperBound), by: Self.livesOfProcess).map {
            (command: ["model", "lives"], range: $0..<min($0 + Self.livesOfProcess, Int(seeds.upperBound)))
        }
        let (counts, crashed) = try TrialSweep<Counts>.run(parts) { _, number in "SEED=\(number)" }
        // In separate processes, as replaying a workload may trap.
        for (seed, violation) in counts.violated.sorted(by: { $0.key < $1.key }).prefix(Self.toldCount) {
            ProofShell.note("SEED=\(seed): \(violation)\n  lived again:")
            _ = try ProofProcess(["model", "--seed", "\(seed)"])
        }
        let missing = ModelKind.allCases.filter { !counts.kinds.contains($0) }
        let isMissed = seeds.count >= Self.livesOfAllKinds && !missing.isEmpty
        if isMissed { ProofShell.note("found nothing to do: \(missing)") }
        print(
            """
            {"operations":\(counts.operations),"kinds":\(counts.kinds.count),\
            "configurations":\(ModelConfiguration.all.count),"violations":\(counts.violations + crashed),\
            "crashed":\(crashed),"seeds":\(seeds.count),"sites":\(counts.sites.count),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return counts.violations == 0 && crashed == 0 && !isMissed ? 0 : 1
    }

    /// Replays one workload; minimizes and prints one with a violation.
    private func replay(_ seed: UInt64, _ kept: [Int]?) throws -> Int32 {
        let trial = ModelTrial(seed: seed, keeping: kept)
        let outcome = trial.run()
        guard let violation = outcome.violation else {
            print("SEED=\(seed): \(outcome.operationCount) operations, no violation")
            return 0
        }
        ProofShell.note("SEED=\(seed): \(violation)")
        if kept == nil { tell(trial.shrunk(after: outcome)) }
        return 1
    }

    private func tell(_ shrunk: ModelTrial.Shrunk) {
        ProofShell.note("  again: make model SEED=\(shrunk.seed) KEEP=\(shrunk.keptList)")
        ProofShell.note("  \(shrunk.kept.count) operations: \(shrunk.operationList.joined(separator: ", "))")
        ProofShell.note("  \(shrunk.violation)")
    }

    /// Breaks one rule after another; each must be detected, and minimized.
    private func catchCanaries() -> Int32 {
        var caught = 0
        var longest = 0
        for canary in ModelCanary.allCases {
            guard let shrunk = ModelTrial.catching(canary) else {
                ProofShell.note("\(canary): not caught")
                continue
            }
            caught += 1
            longest = max(longest, shrunk.kept.count)
            ProofShell.note("\(canary): caught by seed \(shrunk.seed)")
            tell(shrunk)
        }
        print(
            """
            {"canaries":\(ModelCanary.allCases.count),"caught":\(caught),"longest":\(longest)}
            """)
        return caught == ModelCanary.allCases.count ? 0 : 1
    }
}
