import Dispatch
import FaultlineDisk
import FaultlineTestSupport
import MigrationSimulation
import Synchronization

/// Cuts the power between any two disk operations of migrations.
///
/// The seeds cycle through the kinds of stages.
struct MigrationCrashProof {
    /// Besides one disk for each gap, one in this many disks with known contents is migrated to the end.
    private static let stride = 256

    private let seeds: Range<UInt64>
    /// The number of states after which no other seed is started.
    private let stateCount: Int
    /// The number of disks for each gap.
    private let imageCount: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 2 || arguments.count == 4 && arguments[2] == "--images",
            ["--seeds", "--seed", "--states"].contains(arguments[0]),
            let number = UInt64(arguments[1]), number > 0, number < 1 << 40,
            let imageCount = arguments.count == 2 ? 64 : Int(arguments[3]), imageCount > 0, imageCount < 1_000
        else {
            throw WrongUsage(
                message: "crash needs --states, --seeds or --seed, and a number above 0, perhaps --images COUNT")
        }
        self.imageCount = imageCount
        seeds =
            switch arguments[0] {
            case "--seed": number..<number + 1
            case "--seeds": 1..<number + 1
            default: 1..<1 << 40
            }
        stateCount = arguments[0] == "--states" ? Int(number) : .max
    }

    private struct Course {
        var next: UInt64
        var report = MigrationCrashReport()
        var seedCount = 0
    }

    func run() -> Int32 {
        let course = Guarded(Course(next: seeds.lowerBound))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            while let seed = course.withLock({ next(&$0) }) {
                let life = MigrationLife.allCases[Int(seed % UInt64(MigrationLife.allCases.count))]
                let report = runMigrationCrash(
                    life, seeds: seed..<seed + 1, imagesPerGap: imageCount, carryingOnEvery: Self.stride)
                course.withLock {
                    $0.report.add(report)
                    $0.seedCount += 1
                }
            }
        }
        let (report, seedCount) = course.withLock { ($0.report, $0.seedCount) }
        report.violations.prefix(3).forEach(ProofShell.note)
        print(
            """
            {"migration_states":\(report.states),"carried_on":\(report.carriedOn),"violations":\(report.violations.count),"seeds":\(seedCount)}
            """)
        return report.violations.isEmpty ? 0 : 1
    }

    private func next(_ course: inout Course) -> UInt64? {
        guard course.next < seeds.upperBound, course.report.states < stateCount else { return nil }
        defer { course.next += 1 }
        return course.next
    }
}
