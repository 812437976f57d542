import CrashSimulation
import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Restores states of a killed process's store from its backups, and compares them.
struct RestoreTrial {
    let backups: String
    /// The directory of the restored store.
    let path: String
    /// The store that the backups are of.
    let store: KillStore

    /// Restores a state, opens and verifies it, compares it with a model, and removes it.
    ///
    /// - Parameters:
    ///   - point: The state.
    ///   - model: The model of the state that has these transactions of each writer.
    /// - Returns: The number of transactions of each writer.
    /// - Throws: `CrashViolation` for the first difference, or an error of the restore or of the log.
    func restore(_ point: RestorePoint, _ model: ([UInt64]) throws -> KillModel) throws -> [UInt64] {
        _ = try Restorer(from: backups, on: PosixDisk(), clock: .system).restore(to: path, at: point)
        defer { TemporaryDirectory.remove(path) }
        return try compare(KillStore(path: path, seed: store.seed).open(.writing), model)
    }

    /// Reads a state of the store itself, in which the process writes, verifies it, and compares it with a model.
    ///
    /// - Parameters:
    ///   - point: The state.
    ///   - model: The model of the state that has these transactions of each writer.
    /// - Returns: The number of transactions of each writer, and the last transaction.
    /// - Throws: `CrashViolation` for the first difference, or an error of the reading.
    func readPast(
        _ point: RestorePoint, _ model: ([UInt64]) throws -> KillModel
    ) throws -> (numbers: [UInt64], last: UInt64) {
        let past = try PastState(of: store.path, on: PosixDisk(), at: point)
        return (
            try compare(store.open(.reading, in: past.directory, on: past.disk), model), past.last.transaction
        )
    }

    private func compare(_ log: Log, _ model: ([UInt64]) throws -> KillModel) throws -> [UInt64] {
        guard log.openReport.quarantinedFiles.isEmpty else {
            throw CrashViolation("the report of a restored store is not understood: \(log.openReport)")
        }
        let check = KillCheck(values: store.values, snapshot: log.snapshot())
        let found = try check.numbers()
        try check.run(model(found))
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first {
            throw CrashViolation("verification finds: \(first) (\(findings.count) in all)")
        }
        try log.close()
        return found
    }
}
