import CrashSimulation
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Glibc

/// Kills processes one after the other.
///
/// It starts a process on a store, kills it and checks the store, and starts a new store after a number of kills.
struct KillLane {
    /// The number of kills of one store.
    private static let roundCountMax = 40
    /// The milliseconds after which a process that has not opened its store counts as hanging.
    private static let openingMillisecondsMax = 60_000

    private let directory: String
    private let canary: Bool
    private var random: Seed
    private(set) var report = KillReport()

    private var store: KillStore
    private var model: KillModel
    private var numbers = WriterNumbers()
    private var roundCount = 0

    /// - Parameters:
    ///   - directory: The directory for the stores.
    ///   - random: Decides everything but the exact times of the kills, which depend on the system.
    ///   - canary: Whether transactions are acknowledged before anything is written.
    init(in directory: String, _ random: Seed, canary: Bool) {
        self.directory = directory
        self.random = random
        self.canary = canary
        store = KillStore(path: directory + "/store-0", seed: 0)
        model = KillModel(seed: 0)
        makeStore()
    }

    private mutating func makeStore() {
        let seed = random.next() >> 8
        report.storeCount += 1
        store = KillStore(path: "\(directory)/store-\(report.storeCount)", seed: seed)
        model = KillModel(seed: seed)
        numbers = WriterNumbers()
        roundCount = 0
    }

    /// Kills the process once, and checks the store now or after a later kill.
    ///
    /// - Throws: `CrashViolation`, or the error that prevented a process from starting.
    mutating func runRound() throws {
        roundCount += 1
        let isLast = roundCount == Self.roundCountMax
        try killOnce()
        do {
            switch random.below(4) {
            // The next process recovers the store, and may be killed while doing so.
            case 0 where !isLast: break
            case 1 where !isLast: try check(.reading)
            default: try check(.writing)
            }
        } catch let error as LogError {
            throw CrashViolation("the store after a kill is refused: \(error.code): \(error)")
        }
        if isLast {
            TemporaryDirectory.remove(store.path)
            makeStore()
        }
    }

    private mutating func killOnce() throws {
        var arguments = ["kill", "--live", store.path, "\(store.seed)", "\(random.next() >> 8)"]
        if canary { arguments.append("--canary") }
        numbers.willStart()
        var process = try KillProcess(arguments)
        // Some kills come while the store is being opened, the others later.
        let isEarly = random.oneIn(4)
        let life = random.below(isEarly ? 14_000 : 30_000)
        var isOpen = false
        if !isEarly {
            let messages = try process.messages(waiting: Self.openingMillisecondsMax)
            try take(messages, &isOpen)
            if messages.isEmpty, !process.isAtEnd {
                process.kill()
                throw CrashViolation("opening takes longer than \(Self.openingMillisecondsMax) ms")
            }
        }
        usleep(UInt32(life))
        process.kill()
        while !process.isAtEnd { try take(process.messages(waiting: -1), &isOpen) }
        guard process.wasKilled() else { throw CrashViolation("the process ended by itself") }
        report.killCount += 1
        if !isOpen { report.killsInOpening += 1 }
    }

    private mutating func take(_ messages: [KillMessage], _ isOpen: inout Bool) throws {
        for message in messages {
            guard case .acknowledged(let writer, let number, let digest) = message else {
                isOpen = true
                continue
            }
            let known = numbers.acknowledged[writer]
            if number <= known { report.lostCount += known - number + 1 }
            try numbers.acknowledge(writer: writer, number, digest: digest, seed: store.seed)
            report.acknowledgedCount += 1
        }
    }

    private mutating func check(_ access: LogAccess) throws {
        if access == .reading {
            do {
                let log = try store.open(.reading)
                report.readOnlyCheckCount += 1
                try compare(log)
                try log.close()
            } catch let error as LogError where error.code == .notAStore {
                // The process was killed before the store was created.
            }
            return
        }
        let log = try store.open(.writing)
        report.rescuedCount += log.openReport.rescuedTransactionCount
        report.tornManifestCount += log.openReport.removedFiles.count { $0.hasPrefix("m-") }
        guard log.openReport.quarantinedFiles.isEmpty, log.openReport.ignoredDerivedFiles.isEmpty else {
            throw CrashViolation("the report after a kill is not understood: \(log.openReport)")
        }
        try compare(log)
        if random.oneIn(2) { try log.close() } else { log.abandonForTests() }
    }

    private mutating func compare(_ log: Log) throws {
        report.checkCount += 1
        if try log.usage().segments.contains(where: { $0.kind == .coldSegment }) { report.compactedCheckCount += 1 }
        let check = KillCheck(values: store.values, snapshot: log.snapshot())
        let found = try check.numbers()
        for (number, known) in zip(found, numbers.acknowledged) {
            if number < known {
                report.lostCount += known - number
            } else {
                report.unacknowledgedFoundCount += number - known
            }
        }
        try numbers.check(found, begun: numbers.begun)
        numbers.settle(found)
        for (writer, number) in found.enumerated() { model.advance(writer, to: number) }
        try check.run(model)
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first {
            throw CrashViolation("verification finds: \(first) (\(findings.count) in all)")
        }
    }
}
