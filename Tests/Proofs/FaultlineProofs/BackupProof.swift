import FaultlineTestSupport
import Glibc
import KillSimulation

/// Backups of a store in which a process writes with eight threads, each restored and compared.
struct BackupProof {
    private let arguments: [String]
    private var roundCount = 100
    private var seed: UInt64 = 1
    private var isCanary = false

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        if ["--measure", "--once"].contains(arguments.first) { return }
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

    func run() throws -> Int32 {
        switch arguments.first {
        case "--measure": try BackupMeasurement(Array(arguments.dropFirst())).run()
        case "--once": try BackupMeasurement.backUpOnce(Array(arguments.dropFirst()))
        default: prove()
        }
    }

    private func prove() -> Int32 {
        var start = timespec()
        clock_gettime(CLOCK_MONOTONIC, &start)
        var run = BackupRun(seed: seed, roundCount: roundCount, isCanary: isCanary)
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
            "seed":\(seed),"seconds":\(end.tv_sec - start.tv_sec)}
            """)
        // Without saves beside the backups the proof shows nothing.
        let isReached =
            report.acknowledgedMeanwhile > UInt64(roundCount) && report.olderRestoreCount > 0
            && report.olderPastCount > 0
        guard !isCanary else { return report.violations.isEmpty ? 1 : 0 }
        return report.violations.isEmpty && isReached ? 0 : 1
    }
}
