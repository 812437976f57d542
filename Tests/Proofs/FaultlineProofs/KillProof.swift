import FaultlineTestSupport
import Glibc
import KillSimulation

/// A process that writes with eight threads, killed again and again; or, with `--live`, that process.
struct KillProof {
    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws -> Int32 {
        arguments.first == "--live" ? try live() : kill(try RoundArguments(arguments, roundCount: 500))
    }

    private func kill(_ rounds: RoundArguments) -> Int32 {
        var start = timespec()
        clock_gettime(CLOCK_MONOTONIC, &start)
        let report = KillRun(seed: rounds.seed, roundCount: rounds.roundCount, canary: rounds.isCanary).run()
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        report.violations.forEach(ProofShell.note)
        print(
            """
            {"kills":\(report.killCount),"lost":\(report.lostCount),"violations":\(report.violations.count),\
            "acknowledged":\(report.acknowledgedCount),"unacknowledged_found":\(report.unacknowledgedFoundCount),\
            "in_opening":\(report.killsInOpening),"rescued":\(report.rescuedCount),"checks":\(report.checkCount),\
            "read_only_checks":\(report.readOnlyCheckCount),"compacted_checks":\(report.compactedCheckCount),\
            "torn_manifests":\(report.tornManifestCount),"stores":\(report.storeCount),"seed":\(rounds.seed),\
            "seconds":\(end.tv_sec - start.tv_sec)}
            """)
        // A broken rule must be detected.
        return report.violations.isEmpty != rounds.isCanary ? 0 : 1
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
