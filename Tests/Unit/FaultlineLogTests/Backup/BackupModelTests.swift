import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Random workloads with backups in between; each transaction is restored and compared with a model.
struct BackupModelTests {
    private static func options(_ seed: UInt64) -> LogOptions {
        var random = Seed(seed ^ 0xBA)
        var options = Store.options
        options.segmentByteCount = random.pick([2_000, 8_000, 30_000])
        options.frameByteCount = random.pick([600, 100_000])
        options.checkpointByteCount = random.pick([4_000, 20_000])
        options.maintenance = random.oneIn(3) ? .inline : .manual
        return options
    }

    @Test(arguments: 1...UInt64(TestSize.of(24, unoptimized: 4)))
    func `each transaction of the backups is restored as it was`(seed: UInt64) throws {
        let options = Self.options(seed)
        // Every second store is never compacted: all of its states are in its log.
        let compacts = seed % 2 == 0
        let model = CompactionModel(seed: seed)
        var store = Store()
        var log = try store.open(options)
        var states: [UInt64: CompactionModel] = [0: model.copy()]
        for _ in 0..<120 {
            switch model.below(20) {
            case 0..<13: try model.commit(log, usesBlobs: seed % 3 != 0)
            case 13: try model.giveUp(log)
            case 14: try log.checkpoint()
            case 15, 16: if compacts { _ = try log.compact() }
            case 17: try store.backup()
            default:
                if model.below(2) == 0 {
                    try log.close()
                } else {
                    log.abandonForTests()
                    store = store.killed
                }
                log = try store.open(options)
            }
            states[log.snapshot().sequence] = model.copy()
        }
        try store.backup()
        let newest = log.snapshot().sequence
        log.abandonForTests()

        let backups = try Restorer(from: Store.backups, on: store.disk, clock: Clock { 5 }).backups()
        #expect(backups.map(\.number) == Array(1...backups.count) && backups.last?.last.transaction == newest)
        if !compacts { #expect(backups.allSatisfy { $0.first.transaction == 0 }, "seed \(seed): \(backups)") }
        var restored = 0
        for sequence in 0...newest {
            let code = backupCode {
                try store.restore(.transaction(sequence), options: options) { log, report in
                    let expected = try #require(states[sequence])
                    #expect(log.snapshot().sequence == sequence && report.last.transaction == sequence)
                    #expect(try expected.difference(log.snapshot()) == nil, "seed \(seed), transaction \(sequence)")
                    if sequence % 7 == seed % 7 { try Self.goOn(log, expected, seed: seed) }
                    restored += 1
                }
            }
            let isInBackup = backups.contains { $0.first.transaction <= sequence && sequence <= $0.last.transaction }
            #expect(code == nil || code == .notInBackups && !isInBackup, "seed \(seed), transaction \(sequence)")
        }
        #expect(compacts ? restored > backups.count : restored == Int(newest) + 1, "seed \(seed): \(restored)")
        for backup in backups {
            try store.restore(.backup(backup.number), options: options) { log, _ in
                let expected = try #require(states[backup.last.transaction])
                #expect(try expected.difference(log.snapshot()) == nil, "seed \(seed), backup \(backup.number)")
            }
        }
    }

    /// A restored store is written, verified and compacted as any other.
    private static func goOn(_ log: Log, _ expected: CompactionModel, seed: UInt64) throws {
        #expect(try log.findings().isEmpty, "seed \(seed)")
        let model = expected.copy()
        for _ in 0..<4 { try model.commit(log, usesBlobs: true) }
        try log.checkpoint()
        _ = try log.compact()
        for _ in 0..<4 { try model.commit(log, usesBlobs: true) }
        #expect(try model.difference(log.snapshot()) == nil && log.findings().isEmpty, "seed \(seed)")
    }
}
