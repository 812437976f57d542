import CrashSimulation
import FaultlineLog
import FaultlineTestSupport
import Glibc

/// One store after another, each killed again and again: starts the process, kills it, looks at what it left.
struct KillLane {
    /// Kills of one store.
    private static let roundCountMax = 40
    /// Milliseconds after which a process that does not open its store counts as hanging.
    private static let openingMillisecondsMax = 60_000

    private let directory: String
    private let canary: Bool
    private var random: Seed
    private(set) var report = KillReport()

    private var store: KillStore
    private var model: KillModel
    /// By writer, the newest transaction whose commit returned.
    private var acknowledged: [UInt64] = []
    /// By writer, the newest that may have been begun.
    private var begun: [UInt64] = []
    private var roundCount = 0

    /// - Parameters:
    ///   - directory: Where its stores are made.
    ///   - random: Decides everything but what the system decides: when exactly a kill arrives.
    ///   - canary: Whether transactions are acknowledged before anything of them is written.
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
        acknowledged = .init(repeating: 0, count: KillModel.writerCount)
        begun = acknowledged
        roundCount = 0
    }

    /// Kills the process once, and looks at what it left, now or after the next kill.
    ///
    /// - Throws: `CrashViolation`, and what keeps a process from being started.
    mutating func runRound() throws {
        roundCount += 1
        let isLast = roundCount == Self.roundCountMax
        try killOnce()
        do {
            switch random.below(4) {
            // The next process recovers, and may be killed while it does.
            case 0 where !isLast: break
            case 1 where !isLast: try check(.reading)
            default: try check(.writing)
            }
        } catch let error as LogError {
            throw CrashViolation("what a kill left is refused: \(error.code): \(error)")
        }
        if isLast {
            TemporaryDirectory.remove(store.path)
            makeStore()
        }
    }

    private mutating func killOnce() throws {
        var arguments = ["kill", "--live", store.path, "\(store.seed)", "\(random.next() >> 8)"]
        if canary { arguments.append("--canary") }
        for writer in 0..<KillModel.writerCount { begun[writer] += 1 }
        var process = try KillProcess(arguments)
        // Some while the store is being opened, the others at work.
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
            guard number > acknowledged[writer] else {
                report.lostCount += acknowledged[writer] - number + 1
                throw CrashViolation(
                    "writer \(writer) went on with transaction \(number), \(acknowledged[writer]) was there")
            }
            guard number <= begun[writer] else {
                throw CrashViolation("writer \(writer) had not begun transaction \(number)")
            }
            let changes = KillChange.all(seed: store.seed, writer: writer, number: number)
            guard KillChange.digest(changes) == digest else {
                throw CrashViolation("writer \(writer) wrote something else as transaction \(number)")
            }
            acknowledged[writer] = number
            begun[writer] = number + 1
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
                // Killed before there was one.
            }
            return
        }
        let log = try store.open(.writing)
        report.rescuedCount += log.openReport.rescuedTransactionCount
        report.tornManifestCount += log.openReport.removedFiles.count { $0.hasPrefix("m-") }
        guard log.openReport.quarantinedFiles.isEmpty, log.openReport.ignoredDerivedFiles.isEmpty else {
            throw CrashViolation("a kill left what is not understood: \(log.openReport)")
        }
        try compare(log)
        if random.oneIn(2) { try log.close() } else { log.abandonForTests() }
    }

    private mutating func compare(_ log: Log) throws {
        report.checkCount += 1
        if try log.usage().segments.contains(where: { $0.kind == .coldSegment }) { report.compactedCheckCount += 1 }
        let check = KillCheck(values: store.values, snapshot: log.snapshot())
        let numbers = try check.numbers()
        for (writer, number) in numbers.enumerated() {
            guard number >= acknowledged[writer] else {
                report.lostCount += acknowledged[writer] - number
                throw CrashViolation(
                    "of writer \(writer) \(acknowledged[writer]) transactions were acknowledged, \(number) are found")
            }
            guard number <= begun[writer] else {
                throw CrashViolation("of writer \(writer) transaction \(number) was never begun")
            }
            report.unacknowledgedFoundCount += number - acknowledged[writer]
            acknowledged[writer] = number
            begun[writer] = number
            model.advance(writer, to: number)
        }
        try check.run(model)
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first {
            throw CrashViolation("verification finds: \(first) (\(findings.count) in all)")
        }
    }
}
