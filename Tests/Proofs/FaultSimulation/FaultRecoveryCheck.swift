import CrashSimulation
import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// Opens a store after a fault, with a working disk, and checks the promises.
struct FaultRecoveryCheck {
    let storePath: String
    let options: LogOptions
    let promises: FaultPromises
    let isRotten: Bool
    /// The demands on states of the past; nil for none.
    let past: Past?

    /// States of the past that are read: each is the right one, or refused, if that is allowed.
    struct Past {
        var random: Seed
        /// Whether none may be refused.
        let isRequired: Bool
    }

    /// The first violation; nil if there is none.
    func objection(on disk: Disk, afterPowerLoss: Bool) -> String? {
        do {
            return try difference(on: disk, afterPowerLoss)
        } catch {
            return "after the fault is gone: \(error)"
        }
    }

    private func difference(on disk: Disk, _ afterPowerLoss: Bool) throws -> String? {
        let log = try Log.open(storePath, on: disk, clock: Clock { 4_000 }, options: options, deriver: CrashDeriver())
        defer { log.abandonForTests() }
        let sequence = log.snapshot().sequence
        if let objection = promises.objection(to: sequence, afterPowerLoss: afterPowerLoss) { return objection }
        var state = promises.state(at: sequence)
        if let difference = try CrashCheck.difference(log.snapshot(), state) { return difference }
        if !isRotten, let name = log.openReport.ignoredDerivedFiles.first { return "\(name) had to be made again" }
        if let finding = try finding(log) { return finding }
        if let error = log.pastFailure { return "the window is not taken up again: \(error)" }
        if let difference = try pastDifference(on: disk, through: sequence) { return difference }
        _ = try log.write(author: nil) { transaction in
            let table = TableID(rawValue: 17)
            let id = try transaction.allocateIDs(1, in: table)
            try state.put(id, [1, 2, 3, 4, 5, 6, 7, 8], in: table, &transaction)
        }
        if let difference = try CrashCheck.difference(log.snapshot(), state) { return "after a commit: \(difference)" }
        try log.close()
        return nil
    }

    private func pastDifference(on disk: Disk, through sequence: UInt64) throws -> String? {
        guard var past else { return nil }
        for chosen in [UInt64(past.random.below(Int(sequence) + 1)), sequence] {
            do {
                if let difference = try CrashCheck.difference(
                    ofPast: chosen, storePath, on: disk, options, promises.state(at: chosen))
                {
                    return "the state of transaction \(chosen): \(difference)"
                }
            } catch let error as BackupError where error.code == .notInLog && !past.isRequired {
                continue
            } catch {
                return "the state of transaction \(chosen): \(error)"
            }
        }
        return nil
    }

    private func finding(_ log: Log) throws -> String? {
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        return findings.first.map { "verification finds: \($0)" }
    }
}
