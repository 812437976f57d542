import FaultlineTestSupport
import Glibc
import KillSimulation

/// Backups of a store in which a process writes with eight threads, each restored and compared.
struct BackupProof {
    private let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    func run() throws -> Int32 {
        switch arguments.first {
        case "--measure": try BackupMeasurement(Array(arguments.dropFirst())).run()
        case "--once": try BackupMeasurement.backUpOnce(Array(arguments.dropFirst()))
        default: prove(try RoundArguments(arguments, roundCount: 100))
        }
    }

    private func prove(_ rounds: RoundArguments) -> Int32 {
        var start = timespec()
        clock_gettime(CLOCK_MONOTONIC, &start)
        var run = BackupRun(seed: rounds.seed, roundCount: rounds.roundCount, isCanary: rounds.isCanary)
        let report = run.run()
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        report.violations.forEach(ProofShell.note)
        print(
            """
            {"backups":\(report.backupCount),"violations":\(report.violations.count),\
            "restores":\(report.restoreCount),"older_restores":\(report.olderRestoreCount),\
            "not_in_backups":\(report.missingCount),"past":\(report.pastCount),\
            "older_past":\(report.olderPastCount),"kills":\(report.killCount),\
            "acknowledged_meanwhile":\(report.acknowledgedMeanwhile),"copied_bytes":\(report.copiedByteCount),\
            "seed":\(rounds.seed),"seconds":\(end.tv_sec - start.tv_sec)}
            """)
        // Without saves beside the backups the proof shows nothing.
        let isReached =
            report.acknowledgedMeanwhile > UInt64(rounds.roundCount) && report.olderRestoreCount > 0
            && report.olderPastCount > 0
        guard !rounds.isCanary else { return report.violations.isEmpty ? 1 : 0 }
        return report.violations.isEmpty && isReached ? 0 : 1
    }
}
