import CrashSimulation
import FaultlineBackup
import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Synchronization

/// Makes backups of a store in which a process writes with all its threads; restores each and compares it.
///
/// A restored store must have each transaction that was acknowledged before its backup was begun, none that was begun
/// after its end, and exactly the objects, blobs and index entries of its transactions.
package struct BackupRun {
    private let roundCount: Int
    private let isCanary: Bool
    private let directory: TemporaryDirectory
    private let store: KillStore
    private let trial: RestoreTrial
    private var random: Seed
    private var numbers = WriterNumbers()
    /// The newest restored state.
    private var model: KillModel
    private var report = BackupRunReport()

    /// - Parameters:
    ///   - seed: Decides the contents of the store, and approximately when kills come.
    ///   - roundCount: The number of backups.
    ///   - isCanary: Whether transactions are acknowledged before anything is written, which must be detected.
    package init(seed: UInt64, roundCount: Int, isCanary: Bool) {
        self.roundCount = roundCount
        self.isCanary = isCanary
        random = Seed(seed)
        directory = TemporaryDirectory(in: "/tmp")
        store = KillStore(path: directory.path + "/store", seed: random.next() >> 8)
        trial = RestoreTrial(backups: directory.path + "/backups", path: directory.path + "/restored", store: store)
        model = KillModel(seed: store.seed)
    }

    /// Runs all rounds, or up to the first violation.
    package mutating func run() -> BackupRunReport {
        do {
            while report.backupCount < roundCount { try runProcess() }
        } catch {
            report.violations.append("backup \(report.backupCount + 1): \(error)")
        }
        return report
    }

    /// Starts the writing process, makes some backups beside it, and kills it.
    private mutating func runProcess() throws {
        numbers.willStart()
        var arguments = ["kill", "--live", store.path, "\(store.seed)", "\(random.next() >> 8)"]
        if isCanary { arguments.append("--canary") }
        var process = try KillProcess(arguments)
        do {
            var isOpen = false
            while !isOpen {
                guard !process.isAtEnd else { throw CrashViolation("the process ended by itself") }
                isOpen = try take(process.messages(waiting: 1_000))
            }
            for _ in 0..<min(1 + random.below(12), roundCount - report.backupCount) { try runRound(&process) }
        } catch {
            process.kill()
            _ = process.wasKilled()
            throw error
        }
        process.kill()
        while !process.isAtEnd { _ = try take(process.messages(waiting: -1)) }
        guard process.wasKilled() else { throw CrashViolation("the process ended by itself") }
        report.killCount += 1
    }

    private mutating func runRound(_ process: inout KillProcess) throws {
        let trial = trial
        // Time for more transactions than those of a backup.
        usleep(UInt32(random.below(20_000)))
        _ = try take(process.messages(waiting: 0))
        let before = numbers
        let backup = try backUp(&process)
        report.backupCount += 1
        report.copiedByteCount += backup.copiedByteCount
        report.acknowledgedMeanwhile += zip(numbers.acknowledged, before.acknowledged).reduce(0) { $0 + $1.0 - $1.1 }
        let found = try trial.restore(.backup(backup.backup.number)) { found in
            try before.check(found, begun: numbers.begun)
            for (writer, number) in found.enumerated() { model.advance(writer, to: number) }
            return model
        }
        report.restoreCount += 1
        _ = try take(process.messages(waiting: 0))
        try restoreOlder(upTo: backup.backup, found)
        _ = try take(process.messages(waiting: 0))
        try readPast(&process)
        _ = try take(process.messages(waiting: 0))
    }

    /// Makes a backup on a thread of its own, and reads the process's messages meanwhile: it stops where none does.
    private mutating func backUp(_ process: inout KillProcess) throws -> BackupReport {
        let result = Guarded<Result<BackupReport, any Error>?>(nil)
        var options = BackupOptions()
        options.isIncremental = true
        options.keeps = 4
        let (path, target) = (store.path, trial.backups)
        let thread = SystemThread { [options] in
            let made = Result {
                try BackupWriter(of: path, on: PosixDisk(), clock: .system, options: options).write(to: target)
            }
            result.withLock { $0 = made }
        }
        guard let thread else { throw CrashViolation("the system starts no thread") }
        defer { thread.join() }
        while true {
            let made = result.withLock { $0 }
            // The messages that were sent before its end are read after it.
            _ = try take(process.messages(waiting: made == nil ? 5 : 0))
            if let made { return try made.get() }
        }
    }

    /// Restores a transaction between the oldest and the newest one of the backups, as its number says.
    private mutating func restoreOlder(upTo newest: Backup, _ found: [UInt64]) throws {
        let all = try Restorer(from: trial.backups, on: PosixDisk(), clock: .system).backups()
        guard let oldest = all.first?.first.transaction, oldest <= newest.last.transaction else { return }
        let transaction = oldest + UInt64(random.below(Int(newest.last.transaction - oldest) + 1))
        let isInBackups = all.contains { $0.first.transaction <= transaction && transaction <= $0.last.transaction }
        let seed = store.seed
        do {
            let older = try trial.restore(.transaction(transaction)) { found in
                var model = KillModel(seed: seed)
                for (writer, number) in found.enumerated() { model.advance(writer, to: number) }
                return model
            }
            guard zip(older, found).allSatisfy({ $0 <= $1 }) else {
                throw CrashViolation("transaction \(transaction) has more than the newest state")
            }
            report.olderRestoreCount += 1
        } catch let error as BackupError {
            guard error.code == .notInBackups, !isInBackups else { throw error }
            report.missingCount += 1
        }
    }

    /// Reads the newest state of the store beside the process, and one before the newest while the process stands still.
    private mutating func readPast(_ process: inout KillProcess) throws {
        let seed = store.seed
        func model(_ found: [UInt64]) -> KillModel {
            var model = KillModel(seed: seed)
            for (writer, number) in found.enumerated() { model.advance(writer, to: number) }
            return model
        }
        let before = numbers
        let newest = try trial.readPast(.newest, model).numbers
        _ = try take(process.messages(waiting: 0))
        try before.check(newest, begun: numbers.begun)
        report.pastCount += 1
        let trial = trial
        let older = try process.stopped { () throws -> [UInt64]? in
            let newest = try trial.readPast(.newest, model)
            guard newest.last > 1 else { return nil }
            do {
                let older = try trial.readPast(.transaction(newest.last - 1), model).numbers
                guard zip(older, newest.numbers).allSatisfy({ $0 <= $1 }) else {
                    throw CrashViolation("transaction \(newest.last - 1) has more than the newest state")
                }
                return older
            } catch let error as BackupError {
                // The newest transaction is that of the newest checkpoint.
                guard error.code == .notInLog else { throw error }
                return nil
            }
        }
        if older != nil { report.olderPastCount += 1 }
    }

    /// Takes messages of the process.
    ///
    /// - Returns: Whether it has opened the store, of what these messages say.
    private mutating func take(_ messages: [KillMessage]) throws -> Bool {
        var isOpen = false
        for message in messages {
            switch message {
            case .opened: isOpen = true
            case .acknowledged(let writer, let number, let digest):
                try numbers.acknowledge(writer: writer, number, digest: digest, seed: store.seed)
            }
        }
        return isOpen
    }
}
