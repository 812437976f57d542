import FaultlineTestSupport
import Glibc
import KillSimulation

/// A process that writes with eight threads, killed again and again; or, with `--live`, that process.
struct KillProof {
    private let arguments: [String]
    private var roundCount = 500
    private var seed: UInt64 = 1
    private var isCanary = false

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        if arguments.first == "--live" { return }
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--canary": isCanary = true
            case "--rounds", "--seed":
                guard let text = rest.popFirst(), let number = UInt64(text), number > 0, number < 1 << 32 else {
                    throw WrongUsage(message: "\(word) needs a number above 0")
                }
                if word == "--seed" { seed = number } else { roundCount = Int(number) }
            default: throw WrongUsage(message: "unknown argument \(word)")
            }
        }
    }

    func run() throws -> Int32 { arguments.first == "--live" ? try live() : kill() }

    private func kill() -> Int32 {
        var start = timespec()
        clock_gettime(CLOCK_MONOTONIC, &start)
        let report = KillRun(seed: seed, roundCount: roundCount, canary: isCanary).run()
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        report.violations.forEach(ProofShell.note)
        print(
            """
            {"kills":\(report.killCount),"lost":\(report.lostCount),"violations":\(report.violations.count),\
            "acknowledged":\(report.acknowledgedCount),"unacknowledged_found":\(report.unacknowledgedFoundCount),\
            "in_opening":\(report.killsInOpening),"rescued":\(report.rescuedCount),"checks":\(report.checkCount),\
            "read_only_checks":\(report.readOnlyCheckCount),"compacted_checks":\(report.compactedCheckCount),\
            "torn_manifests":\(report.tornManifestCount),"stores":\(report.storeCount),"seed":\(seed),\
            "seconds":\(end.tv_sec - start.tv_sec)}
            """)
        // A broken rule must be detected.
        return report.violations.isEmpty != isCanary ? 0 : 1
    }

    private func live() throws -> Int32 {
        guard arguments.count == 4 || (arguments.count == 5 && arguments[4] == "--canary"),
            let storeSeed = UInt64(arguments[2]), let seed = UInt64(arguments[3])
        else { throw WrongUsage(message: "kill --live is for the process that is killed") }
        let life = KillLife(path: arguments[1], storeSeed: storeSeed, seed: seed, canary: arguments.count == 5)
        ProofShell.note("kill: \(life.run())")
        return 3
    }
}
