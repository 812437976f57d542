import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Synchronization
import Testing

/// Random workloads with compaction; states of the window are compared with those that were committed.
struct RetentionModelTests {
    private final class Time: Sendable {
        let nanoseconds = Guarded<Int64>(0)
    }

    /// A store with a window, its clock, and each state that it had.
    private final class Life {
        let store: Store
        let model: CompactionModel
        let seed: UInt64
        var options: LogOptions
        var log: Log
        var states: [UInt64: CompactionModel] = [:]
        /// The next identifier of a table in each of them.
        var nextIDs: [UInt64: RecordID] = [0: 1]
        /// The newest transaction at each time, ascending.
        var times: [(nanoseconds: Int64, sequence: UInt64)] = []
        private(set) var now: Int64 = 0
        private let clock: Time
        private var random: Seed

        init(seed: UInt64, window: RetentionWindow, on store: Store = Store()) throws {
            self.seed = seed
            self.store = store
            random = Seed(seed ^ 0x4E7)
            model = CompactionModel(seed: seed)
            options = Store.options
            options.segmentByteCount = random.pick([2_000, 8_000, 30_000])
            options.checkpointByteCount = random.pick([2_000, 10_000])
            options.maintenance = random.oneIn(2) ? .inline : .manual
            options.retention = window
            let clock = Time()
            self.clock = clock
            log = try Log.open(
                Store.path, on: store.disk, clock: Clock { clock.nanoseconds.withLock { $0 } }, options: options,
                deriver: WholeRowDeriver())
            states[0] = model.copy()
        }

        /// A life that goes on with the files that a crash left.
        init(after disk: SimulatedDisk, of life: Life) {
            (seed, model, options, log) = (life.seed, life.model, life.options, life.log)
            (states, nextIDs, times) = (life.states, life.nextIDs, life.times)
            (now, clock, random) = (life.now, life.clock, life.random)
            store = Store(disk)
        }

        func reopen() throws {
            log = try Log.open(
                Store.path, on: store.disk, clock: Clock { [clock] in clock.nanoseconds.withLock { $0 } },
                options: options,
                deriver: WholeRowDeriver())
        }

        func step() throws {
            wait(minutes: 1)
            let before = log.snapshot().sequence
            switch model.below(24) {
            case 0..<16: try model.commit(log, usesBlobs: seed % 3 != 0)
            case 16: try model.giveUp(log)
            case 17, 18: try log.checkpoint()
            case 19...21: _ = try log.compact()
            case 22:
                try log.close()
                try reopen()
            default:
                log.abandonForTests()
                try reopen()
            }
            note(since: before)
            times.append((now, log.snapshot().sequence))
        }

        /// Notes the states behind a transaction; compaction may end segments by transactions of its own.
        func note(since before: UInt64) {
            let copy = model.copy()
            let snapshot = log.snapshot()
            for sequence in before..<snapshot.sequence {
                states[sequence + 1] = copy
                nextIDs[sequence + 1] = snapshot.nextID(of: testTable)
            }
        }

        /// Lets time pass in which nothing is committed.
        func wait(minutes: Int64) {
            now += minutes
            clock.nanoseconds.withLock { $0 = now }
        }

        /// Reads a state, and compares it.
        ///
        /// - Returns: False if the store does not have it.
        func hasState(_ point: RestorePoint, _ sequence: UInt64) throws -> Bool {
            let past: PastState
            do { past = try PastState(of: Store.path, on: store.disk, at: point) } catch let error as BackupError {
                #expect(error.code == .notInLog)
                return false
            }
            #expect(past.last.transaction == sequence, "seed \(seed), \(point)")
            let read = try past.opened()
            let expected = try #require(states[sequence])
            #expect(try expected.difference(read.snapshot()) == nil, "seed \(seed), transaction \(sequence)")
            #expect(try read.findings().isEmpty, "seed \(seed), transaction \(sequence)")
            let next = try #require(nextIDs[sequence])
            // An abandoned transaction may have taken identifiers that no log has.
            #expect(read.snapshot().nextID(of: testTable) <= next, "seed \(seed), transaction \(sequence)")
            try read.close()
            return true
        }

        /// Bytes and names of the files that only past states need.
        var retained: [String: Int] {
            let folder = Store.path + "/" + FileName.retained + "/"
            return store.disk.fileSizes.filter {
                $0.key.hasPrefix(folder) && FileName.isOfStore(String($0.key.dropFirst(folder.count)))
            }
        }
    }

    @Test(arguments: 1...UInt64(TestSize.of(40, unoptimized: 8)))
    func `each state of an unlimited window is read`(seed: UInt64) throws {
        let life = try Life(seed: seed, window: RetentionWindow(nanoseconds: .max, byteCount: .max))
        for step in 0..<120 {
            try life.step()
            guard step % 6 == 0 else { continue }
            let sequence = UInt64(life.model.below(Int(life.log.snapshot().sequence) + 1))
            #expect(try life.hasState(.transaction(sequence), sequence), "seed \(seed), \(sequence)")
            let time = life.times[life.model.below(life.times.count)]
            #expect(try life.hasState(.time(nanoseconds: time.nanoseconds), time.sequence), "seed \(seed), \(time)")
        }
        for sequence in 0...life.log.snapshot().sequence {
            #expect(try life.hasState(.transaction(sequence), sequence), "seed \(seed), \(sequence)")
        }
        #expect(try life.log.findings().isEmpty)
        #expect(!life.retained.isEmpty, "seed \(seed)")
        try life.log.close()
    }

    @Test(arguments: 1...UInt64(TestSize.of(40, unoptimized: 8)))
    func `a window has the states of its time, and gives back the files of older ones`(seed: UInt64) throws {
        let duration = Int64(20 + seed)
        let life = try Life(seed: seed, window: RetentionWindow(nanoseconds: duration, byteCount: .max))
        for step in 0..<140 {
            try life.step()
            guard step % 5 == 0 else { continue }
            let begin = max(life.now - duration, life.times[0].nanoseconds)
            for time in [begin, life.now - Int64(life.model.below(Int(life.now - begin) + 1))] {
                let place = try #require(life.times.lastIndex { $0.nanoseconds <= time })
                let sequence = life.times[place].sequence
                #expect(try life.hasState(.time(nanoseconds: time), sequence), "seed \(seed), \(time) of \(life.now)")
                #expect(try life.hasState(.transaction(sequence), sequence), "seed \(seed), \(sequence)")
            }
            // An older one is right, or refused.
            let older = life.times[life.model.below(life.times.count)]
            _ = try life.hasState(.transaction(older.sequence), older.sequence)
        }
        try life.model.commit(life.log, usesBlobs: false)
        try life.log.checkpoint()
        life.wait(minutes: duration)
        try life.log.checkpoint()
        #expect(life.retained.isEmpty, "seed \(seed): \(life.retained)")
        try life.log.close()
    }

    @Test(arguments: 1...UInt64(TestSize.of(20, unoptimized: 5)))
    func `files of past states take no more bytes than the window allows`(seed: UInt64) throws {
        let life = try Life(seed: seed, window: RetentionWindow(nanoseconds: .max, byteCount: 300_000))
        var most = 0
        for step in 0..<140 {
            try life.step()
            let newest = life.log.snapshot().sequence
            if step % 10 == 0 { _ = try life.hasState(.transaction(newest / 2), newest / 2) }
            try life.log.checkpoint()
            let byteCount = life.retained.values.reduce(0, +)
            #expect(byteCount <= 300_000, "seed \(seed), step \(step)")
            most = max(most, byteCount)
        }
        #expect(most > 20_000, "seed \(seed): \(most)")
        try life.log.close()
    }

    /// A kill, and a power loss that leaves only the durable bytes, before each operation.
    @Test(arguments: 1...UInt64(TestSize.of(6, unoptimized: 2)))
    func `no state of the window is lost by a crash`(seed: UInt64) throws {
        let life = try Life(seed: seed, window: RetentionWindow(nanoseconds: .max, byteCount: .max))
        for _ in 0..<60 { try life.step() }
        let images = Guarded<[(disk: SimulatedDisk, durable: UInt64)]>([])
        let random = Guarded(Seed(seed))
        life.store.disk.onOperation = { [log = life.log] disk, _ in
            guard random.withLock({ $0.oneIn(4) }) else { return }
            let newest = log.snapshot().sequence
            images.withLock {
                $0.append((disk.afterProcessDeath(), newest))
                $0.append((disk.withOnlyWhatIsDurable(), newest))
            }
        }
        for _ in 0..<6 {
            let before = life.log.snapshot().sequence
            try life.model.commit(life.log, usesBlobs: true)
            _ = try life.log.compact()
            life.note(since: before)
        }
        life.store.disk.onOperation = nil
        let found = images.withLock { $0 }
        #expect(found.count > 40)
        for (place, image) in found.enumerated() where place % TestSize.of(1, unoptimized: 3) == 0 {
            let after = Life(after: image.disk, of: life)
            for _ in 0..<2 {
                try after.reopen()
                for _ in 0..<3 {
                    let sequence = UInt64(life.model.below(Int(image.durable) + 1))
                    #expect(try after.hasState(.transaction(sequence), sequence), "seed \(seed), image \(place)")
                }
                _ = try after.log.compact()
                after.log.abandonForTests()
            }
        }
        life.log.abandonForTests()
    }
}
