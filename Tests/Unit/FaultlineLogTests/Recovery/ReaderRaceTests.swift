import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Readers of another process that open while a writer commits, makes checkpoints, compacts, closes and opens again:
/// between any two of their calls they see one whole state.
struct ReaderRaceTests {
    /// A writer that acts between a reader's calls, and keeps each state that it made.
    // Safe because everything runs on one thread.
    private final class Writer: @unchecked Sendable {
        let store = Store()
        let options: LogOptions
        private(set) var states: [UInt64: CompactionModel] = [:]
        private let model: CompactionModel
        private var log: Log?
        private var random: Seed
        /// The writer acts before one of this many calls of the reader; 0 for none.
        var actsOneIn = 0
        private var isActing = false

        init(seed: UInt64) throws {
            var random = Seed(seed ^ 0x4EAD)
            var options = Store.options
            options.segmentByteCount = random.pick([1_500, 6_000])
            options.checkpointByteCount = 4_000
            options.manifestByteCount = 2_000
            options.manifestGrowth = 1
            self.options = options
            self.random = random
            model = CompactionModel(seed: seed)
            log = try store.open(options)
            note()
            for _ in 0..<60 { try act() }
        }

        private func note() {
            if let log { states[log.snapshot().sequence] = model.copy() }
        }

        /// One operation of the writer.
        func act() throws {
            guard let log else {
                log = try store.open(options)
                return
            }
            switch random.below(20) {
            case 0..<12: try model.commit(log, usesBlobs: true)
            case 12, 13: try model.giveUp(log)
            case 14, 15: try log.checkpoint()
            case 16, 17: try log.compact()
            case 18:
                for _ in 0..<6 {
                    try model.commit(log, usesBlobs: true)
                    note()
                }
                try log.compact()
            default:
                try log.close()
                self.log = nil
            }
            note()
        }

        /// The disk for a reader of another process.
        func disk() -> FailingDisk {
            let disk = FailingDisk(over: store.disk)
            disk.arm(
                DiskFault { [self] _ in
                    guard actsOneIn > 0, !isActing, random.oneIn(actsOneIn) else { return false }
                    isActing = true
                    defer { isActing = false }
                    do { for _ in 0..<(1 + random.below(4)) { try act() } } catch { Issue.record(error) }
                    return false
                })
            return disk
        }

        func end() throws { try log?.close() }
    }

    @Test(arguments: 1...UInt64(TestSize.of(16, unoptimized: 6)))
    func `see one whole state beside a writer`(seed: UInt64) throws {
        let writer = try Writer(seed: seed)
        for round in 0..<8 {
            var options = writer.options
            options.access = .reading
            options.ignoresDerivedFiles = round % 4 == 3
            writer.actsOneIn = [20, 60, 150][round % 3]
            let reader = try writer.store.open(options, on: writer.disk())
            // It keeps its files open: files that the writer drops stay readable.
            for _ in 0..<10 { try writer.act() }
            let expected = try #require(writer.states[reader.snapshot().sequence])
            #expect(try expected.difference(reader.snapshot()) == nil, "seed \(seed), round \(round)")
            writer.actsOneIn = 0
            #expect(try reader.findings().isEmpty, "seed \(seed), round \(round)")
            try reader.close()
        }
        try writer.end()
    }
}
