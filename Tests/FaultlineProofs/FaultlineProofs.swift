import CrashSimulation
import FaultlineDisk
import Glibc
import MigrationSimulation

/// Runs proofs that are too long for the test suite, or whose figures are asked for: one JSON line each.
@main
struct FaultlineProofs {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.first == "crash" else {
            fail("usage: FaultlineProofs crash --seeds COUNT | --seed ONE [--canary]", status: 2)
        }
        arguments.removeFirst()
        var seeds: Range<UInt64> = 1..<101
        var isCanary = false
        while let word = arguments.first {
            arguments.removeFirst()
            switch word {
            case "--canary":
                isCanary = true
            case "--seeds", "--seed":
                guard let text = arguments.first, let number = UInt64(text), number > 0, number < 1 << 40 else {
                    fail("\(word) needs a number above 0", status: 2)
                }
                arguments.removeFirst()
                seeds = word == "--seed" ? number..<number + 1 : 1..<number + 1
            default:
                fail("unknown argument \(word)", status: 2)
            }
        }
        exit(isCanary ? runCanaries(seeds) : runCrashes(seeds))
    }

    /// Power cuts between any two operations of the disk: in commits, checkpoints, recovery, and, for every 50th seed,
    /// in a migration.
    private static func runCrashes(_ seeds: Range<UInt64>) -> Int32 {
        let report = runCrash(seeds: seeds)
        var migrations = MigrationCrashReport()
        for seed in seeds where seed % 50 == 0 || seeds.count == 1 {
            let more = runMigrationCrash(seeds: seed..<seed + 1)
            migrations.states += more.states
            migrations.violations += more.violations
        }
        let violations = report.violations + migrations.violations
        for violation in violations.prefix(3) { note(violation) }
        print(
            """
            {"crash_states":\(report.stateCount + migrations.states),"recoveries":\(report.nestedStateCount),\
            "violations":\(violations.count),"seeds":\(report.seedCount),"gaps":\(report.gapCount),\
            "migration_states":\(migrations.states)}
            """)
        return violations.isEmpty ? 0 : 1
    }

    /// The same with each place that synchronizes left out in turn: every one must be missed.
    private static func runCanaries(_ seeds: Range<UInt64>) -> Int32 {
        let sites = runCrash(seeds: 1..<4).sites.keys.map(\.rawValue).filter { $0 != SyncSite.unnamed.rawValue }
            .sorted()
        var caught = 0
        var states = 0
        var recoveries = 0
        var violations = 0
        // A place may be used by few seeds only: go on until its absence shows, within reason.
        let limit = max(seeds.upperBound, 60)
        for site in sites {
            var isCaught = false
            for seed in seeds.lowerBound..<limit where !isCaught {
                let report = runCrash(seeds: seed..<seed + 1, leavingOut: SyncSite(rawValue: site))
                states += report.stateCount
                recoveries += report.nestedStateCount
                violations += report.violations.count
                isCaught = !report.violations.isEmpty
            }
            if isCaught { caught += 1 } else { note("left out and not missed: \(site)") }
        }
        print(
            """
            {"crash_states":\(states),"recoveries":\(recoveries),"violations":\(violations),"canaries":\(sites.count),\
            "caught":\(caught)}
            """)
        return caught == sites.count ? 0 : 1
    }

    private static func note(_ text: String) {
        let line = text + "\n"
        _ = write(2, line, line.utf8.count)
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        note("FaultlineProofs: \(message)")
        exit(status)
    }
}
