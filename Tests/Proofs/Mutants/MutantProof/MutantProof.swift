import CrashSimulation
import Glibc
import GraphSimulation
import MigrationSimulation

/// Runs one of the proofs with some seeds, for `make mutants`, and exits with 1 at the first violation.
///
/// With one image for each gap, a proof only tries the disk that has lost everything that is not durable, because it
/// shows missing synchronizations soonest.
@main
struct MutantProof {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().compactMap { UInt64($0) }
        guard let name = arguments.first, numbers.count == 3, numbers[0] <= numbers[1], numbers[1] < 1 << 40,
            numbers[2] > 0, numbers[2] < 1_000
        else { exit(2) }
        for seed in numbers[0]...numbers[1] {
            guard let violation = violation(name, seed, imageCount: Int(numbers[2])) else { continue }
            print("\(name) \(seed): \(violation)")
            exit(1)
        }
    }

    private static func violation(_ name: String, _ seed: UInt64, imageCount: Int) -> String? {
        switch name {
        case "crash":
            var plan = CrashPlan()
            plan.imageCountMax = imageCount
            plan.combinationCountMax = imageCount
            return runCrash(seeds: seed..<seed + 1, plan: plan).violations.first.map { "\($0)" }
        case "graph": return GraphTrial(seed: seed).run().violation
        case "serial":
            if case .failure(let violation) = SerialTrial(seed: seed).run() { return "\(violation)" }
            return nil
        case "migrate":
            let life = MigrationLife.allCases[Int(seed % UInt64(MigrationLife.allCases.count))]
            return runMigrationCrash(life, seeds: seed..<seed + 1, imagesPerGap: imageCount, carryingOnEvery: 256)
                .violations.first
        default: exit(2)
        }
    }
}
