import Dispatch
import FaultlineTestSupport
import GraphSimulation
import Synchronization

/// Random operations on object graphs, against plain values.
struct GraphProof {
    private struct Total {
        var operations = 0
        var refusals = 0
        var violations: [UInt64: String] = [:]
        var kinds: Set<String> = []
    }

    /// Lives that are told.
    private static let toldCount = 3

    private let seeds: Range<UInt64>
    private let isOfCanaries: Bool

    init(_ arguments: [String]) throws {
        if arguments == ["--canary"] {
            (seeds, isOfCanaries) = (0..<0, true)
            return
        }
        guard arguments.count == 2, ["--seeds", "--seed"].contains(arguments[0]), let number = UInt64(arguments[1]),
            number > 0, number < 1 << 40
        else { throw WrongUsage(message: "graph needs --canary, or --seeds or --seed and a number above 0") }
        seeds = arguments[0] == "--seed" ? number..<number + 1 : 1..<number + 1
        isOfCanaries = false
    }

    func run() -> Int32 {
        if isOfCanaries { return catchCanaries() }
        let start = ContinuousClock.now
        let all = Mutex(Total())
        DispatchQueue.concurrentPerform(iterations: seeds.count) { place in
            let seed = seeds.lowerBound + UInt64(place)
            let outcome = GraphTrial(seed: seed).run()
            all.withLock { total in
                total.operations += outcome.operationCount
                total.refusals += outcome.refusalCount
                total.kinds.formUnion(outcome.kinds.keys)
                total.violations[seed] = outcome.violation
            }
        }
        let total = all.withLock { $0 }
        for (seed, violation) in total.violations.sorted(by: { $0.key < $1.key }).prefix(Self.toldCount) {
            ProofShell.note("make graph SEED=\(seed): \(violation)")
        }
        print(
            """
            {"operations":\(total.operations),"violations":\(total.violations.count),"lives":\(seeds.count),\
            "refused_saves":\(total.refusals),"kinds":\(total.kinds.count),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return total.violations.isEmpty ? 0 : 1
    }

    /// Breaks each rule in turn; each must be caught.
    private func catchCanaries() -> Int32 {
        var caught = 0
        for canary in GraphCanary.allCases {
            guard let found = GraphTrial.catching(canary) else {
                ProofShell.note("\(canary): not caught")
                continue
            }
            caught += 1
            ProofShell.note("\(canary): caught by seed \(found.seed): \(found.violation)")
        }
        print("{\"canaries\":\(GraphCanary.allCases.count),\"caught\":\(caught)}")
        return caught == GraphCanary.allCases.count ? 0 : 1
    }
}
