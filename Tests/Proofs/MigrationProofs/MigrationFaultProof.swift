import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import MigrationSimulation
import Synchronization

/// Lets every disk call in migrations fail in every way, for every kind of stage.
struct MigrationFaultProof {
    private let seeds: Range<UInt64>
    /// One in this many calls fails.
    private let stride: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 2 || arguments.count == 4 && arguments[2] == "--every",
            ["--seeds", "--seed"].contains(arguments[0]), let number = UInt64(arguments[1]), number > 0,
            number < 1 << 40, let stride = arguments.count == 2 ? 1 : Int(arguments[3]), stride > 0
        else { throw WrongUsage(message: "faults needs --seeds or --seed, and a number above 0; and may have --every") }
        self.stride = stride
        seeds = arguments[0] == "--seed" ? number..<number + 1 : 1..<number + 1
    }

    func run() -> Int32 {
        let trials = seeds.flatMap { seed in
            MigrationLife.allCases.filter { !$0.isPreview && !$0.isRollback }.flatMap { life in
                MigrationFault.allCases.map { (seed, life, $0) }
            }
        }
        let all = Guarded(MigrationFaultReport())
        DispatchQueue.concurrentPerform(iterations: trials.count) { place in
            let (seed, life, fault) = trials[place]
            let report = runMigrationFaults(life, fault, seeds: seed..<seed + 1, stride: stride)
            all.withLock { $0.add(report) }
            report.violations.prefix(1).forEach(ProofShell.note)
        }
        let report = all.withLock { $0 }
        print(
            """
            {"migration_faults":\(report.injected),"refused":\(report.refused),"went_through":\(report.completed),\
            "violations":\(report.violations.count),"seeds":\(seeds.count)}
            """)
        return report.violations.isEmpty ? 0 : 1
    }
}
