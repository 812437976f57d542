import Dispatch
import FaultlineTestSupport
import FaultlineDisk
import GraphSimulation
import Synchronization

/// Runs random operations on object graphs and compares them with plain values.
///
/// Every fifth workload uses contexts on threads.
struct GraphProof {
    private enum Task {
        case seeds(Range<UInt64>)
        case canaries
        /// Checks the file of a workload with threads.
        case check(String)
    }

    private struct Total {
        var operations = 0
        var refusals = 0
        /// The number of compared reads in workloads with threads.
        var threadedReads = 0
        /// The number of saves directly after one of another thread.
        var alternations = 0
        var violations: [UInt64: String] = [:]
        var kinds: Set<String> = []
    }

    /// The maximum number of violations to print.
    private static let toldCount = 3

    private let task: Task

    init(_ arguments: [String]) throws {
        if arguments == ["--canary"] {
            task = .canaries
            return
        }
        if arguments.count == 2, arguments[0] == "--check" {
            task = .check(arguments[1])
            return
        }
        guard arguments.count == 2, ["--seeds", "--seed"].contains(arguments[0]), let number = UInt64(arguments[1]),
            number > 0, number < 1 << 40
        else {
            throw WrongUsage(message: "graph needs --canary, --check FILE, or --seeds or --seed and a number above 0")
        }
        task = .seeds(arguments[0] == "--seed" ? number..<number + 1 : 1..<number + 1)
    }

    func run() -> Int32 {
        switch task {
        case .seeds(let seeds): live(seeds)
        case .canaries: catchCanaries()
        case .check(let path): check(path)
        }
    }

    private func live(_ seeds: Range<UInt64>) -> Int32 {
        let start = ContinuousClock.now
        let all = Guarded(Total())
        DispatchQueue.concurrentPerform(iterations: seeds.count) { place in
            let seed = seeds.lowerBound + UInt64(place)
            // A replay tells enough to see where the objects concerned come from.
            let traceCount = seeds.count == 1 ? 1_000 : 16
            if seed % 5 == 0 { Self.liveOnThreads(seed, all) } else { Self.live(seed, traceCount, all) }
        }
        let total = all.withLock { $0 }
        for (seed, violation) in total.violations.sorted(by: { $0.key < $1.key }).prefix(Self.toldCount) {
            ProofShell.note("make graph SEED=\(seed): \(violation)")
        }
        print(
            """
            {"operations":\(total.operations),"violations":\(total.violations.count),"lives":\(seeds.count),\
            "refused_saves":\(total.refusals),"threaded_reads":\(total.threadedReads),"alternations":\(total.alternations),"kinds":\(total.kinds.count),\
            "seconds":\((ContinuousClock.now - start).components.seconds)}
            """)
        return total.violations.isEmpty ? 0 : 1
    }

    private static func live(_ seed: UInt64, _ traceCount: Int, _ all: borrowing Guarded<Total>) {
        let outcome = GraphTrial(seed: seed, traceCount: traceCount).run()
        all.withLock { total in
            total.operations += outcome.operationCount
            total.refusals += outcome.refusalCount
            total.kinds.formUnion(outcome.kinds.keys)
            total.violations[seed] = outcome.violation
        }
    }

    private static func liveOnThreads(_ seed: UInt64, _ all: borrowing Guarded<Total>) {
        let result = SerialTrial(seed: seed).run()
        all.withLock { total in
            switch result {
            case .success(let outcome):
                total.operations += outcome.operationCount
                total.refusals += outcome.refusalCount
                total.threadedReads += outcome.readCount
                total.alternations += outcome.alternationCount
                total.kinds.formUnion(outcome.kinds)
            case .failure(let violation): total.violations[seed] = "\(violation)"
            }
        }
    }

    private func check(_ path: String) -> Int32 {
        do {
            let outcome = try SerialTrial.check(path)
            print("{\"operations\":\(outcome.operationCount),\"saves\":\(outcome.saveCount),\"violations\":0}")
            return 0
        } catch {
            ProofShell.note("\(path): \(error)")
            return 1
        }
    }

    /// Makes each deliberate error in turn.
    ///
    /// The trials must detect all of them.
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
        for canary in SerialCanary.allCases {
            guard let found = SerialTrial.catching(canary) else {
                ProofShell.note("\(canary), on threads: not caught")
                continue
            }
            caught += 1
            ProofShell.note("\(canary), on threads: caught by seed \(found.seed): \(found.violation)")
        }
        let count = GraphCanary.allCases.count + SerialCanary.allCases.count
        print("{\"canaries\":\(count),\"caught\":\(caught)}")
        return caught == count ? 0 : 1
    }
}
