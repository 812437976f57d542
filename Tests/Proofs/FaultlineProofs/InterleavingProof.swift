import FaultlineTestSupport
import InterleavingSimulation

/// All interleavings of two jobs in a store, for every pair of five.
struct InterleavingProof {
    /// The results of interleavings.
    struct Counts: TrialCounts {
        var interleavings = 0
        var violations = 0
        var waits = 0

        mutating func add(_ other: Counts) {
            interleavings += other.interleavings
            violations += other.violations
            waits += other.waits
        }
    }

    private enum Work {
        /// One of so many.
        case sweep(every: Int)
        case canary
        case replay(Int)
        case trials(Range<Int>, every: Int)
    }

    /// The number of interleavings of one process.
    private static let countOfProcess = 1_287
    /// The interval of interleavings that are tried with the rule broken.
    private static let canaryStride = 997

    private let work: Work

    init(_ arguments: [String]) throws {
        let numbers = arguments.compactMap { Int($0) }.filter { (0...InterleavingTrials.count).contains($0) }
        switch (arguments.first, arguments.count, numbers.count) {
        case (nil, 0, 0): work = .sweep(every: 1)
        case ("--every", 2, 1) where numbers[0] > 0: work = .sweep(every: numbers[0])
        case ("--canary", 1, 0): work = .canary
        case ("one", 2, 1) where numbers[0] < InterleavingTrials.count: work = .replay(numbers[0])
        case ("range", 4, 3) where numbers[0] > 0 && numbers[1] <= numbers[2]:
            work = .trials(numbers[1]..<numbers[2], every: numbers[0])
        default: throw WrongUsage(message: "interleavings are numbered from 0 to \(InterleavingTrials.count - 1)")
        }
    }

    func run() throws -> Int32 {
        switch work {
        case .sweep(let every): return try sweep(every)
        case .canary: return try breakARule()
        case .replay(let number):
            let trials = try InterleavingTrials()
            let violation = trials.outcome(of: number).violation
            print("\(number): \(trials.describe(number)): \(violation ?? "no violation")")
            return violation == nil ? 0 : 1
        case .trials(let range, let every):
            let trials = try InterleavingTrials()
            try TrialSweep<Counts>.runTrials(range) { number, counts in
                guard number.isMultiple(of: every) else { return }
                let outcome = trials.outcome(of: number)
                counts.interleavings += 1
                counts.waits += outcome.waitCount
                guard let violation = outcome.violation else { return }
                counts.violations += 1
                ProofShell.note("NUMBER=\(number): \(trials.describe(number)): \(violation)")
            }
            return 0
        }
    }

    private func sweep(_ every: Int) throws -> Int32 {
        let start = ContinuousClock.now
        let parts = stride(from: 0, to: InterleavingTrials.count, by: Self.countOfProcess).map {
            (
                command: ["interleavings", "range", "\(every)"],
                range: $0..<min($0 + Self.countOfProcess, InterleavingTrials.count)
            )
        }
        let (counts, crashed) = try TrialSweep<Counts>.run(parts) { _, number in "NUMBER=\(number)" }
        print(
            """
            {"interleavings":\(counts.interleavings),"pairs":\(InterleavedJob.pairs.count),\
            "violations":\(counts.violations + crashed),"crashed":\(crashed),"waits":\(counts.waits),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return counts.violations == 0 && crashed == 0 ? 0 : 1
    }

    /// Tries a sample with commits that are not durable: a power cut must show that for each pair that commits.
    private func breakARule() throws -> Int32 {
        let trials = try InterleavingTrials(leavesVolatile: true)
        var interleavings = 0
        var caught = 0
        for number in stride(from: 1, to: InterleavingTrials.count, by: Self.canaryStride) {
            interleavings += 1
            if let violation = trials.outcome(of: number).violation {
                caught += 1
                if caught == 1 { ProofShell.note("caught: \(trials.describe(number)): \(violation)") }
            }
        }
        print(
            "{\"interleavings\":\(interleavings),\"canaries\":1,\"caught\":\(min(caught, 1)),\"violations\":\(caught)}")
        return caught > 0 ? 0 : 1
    }
}
