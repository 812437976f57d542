import Dispatch
import FaultlineTestSupport
import MigrationSimulation
import Synchronization

/// Power cuts between any two operations of the disk in migrations; the seeds take the kinds of stages in turn.
struct MigrationCrashProof {
    private let seeds: Range<UInt64>

    init(_ arguments: [String]) throws {
        guard arguments.count == 2, ["--seeds", "--seed"].contains(arguments[0]), let number = UInt64(arguments[1]),
            number > 0, number < 1 << 40
        else { throw WrongUsage(message: "crash needs --seeds or --seed, and a number above 0") }
        seeds = arguments[0] == "--seed" ? number..<number + 1 : 1..<number + 1
    }

    func run() -> Int32 {
        let all = Mutex(MigrationCrashReport())
        DispatchQueue.concurrentPerform(iterations: seeds.count) { place in
            let seed = seeds.lowerBound + UInt64(place)
            let life = MigrationLife.allCases[Int(seed % UInt64(MigrationLife.allCases.count))]
            let report = runMigrationCrash(life, seeds: seed..<seed + 1)
            all.withLock { $0.add(report) }
        }
        let report = all.withLock { $0 }
        report.violations.prefix(3).forEach(ProofShell.note)
        print(
            """
            {"migration_states":\(report.states),"violations":\(report.violations.count),"seeds":\(seeds.count)}
            """)
        return report.violations.isEmpty ? 0 : 1
    }
}
