import CrashSimulation
import Glibc

/// The crash proof over some seeds, for `make mutants`: the only executable of the package that mutants are built in.
///
/// What is not durable shows soonest on the disk that has nothing else: with one image a gap that alone is tried. Ends
/// with 1 at the first violation.
@main
struct MutantProof {
    static func main() {
        let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == 3, numbers[0] <= numbers[1], numbers[2] > 0, numbers[2] < 1_000 else { exit(2) }
        var plan = CrashPlan()
        plan.imageCountMax = Int(numbers[2])
        plan.combinationCountMax = Int(numbers[2])
        let report = runCrash(seeds: numbers[0]..<numbers[1] + 1, plan: plan)
        print(report)
        report.violations.forEach { print($0) }
        exit(report.violations.isEmpty ? 0 : 1)
    }
}
