import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Synchronization
import Testing

/// Random workloads; states of the past are read beside the writer, from its log and from backups.
struct PastStateTests {
    /// The states that were read, and are compared again at the end.
    private struct Held {
        let log: Log
        let expected: CompactionModel
    }

    @Test(arguments: 1...UInt64(TestSize.of(24, unoptimized: 8)))
    func `each state that the log has is read beside the writer`(seed: UInt64) throws {
        var random = Seed(seed ^ 0x9A57)
        var options = Store.options
        options.segmentByteCount = random.pick([2_000, 8_000, 30_000])
        options.checkpointByteCount = random.pick([4_000, 20_000])
        // Every second store is never compacted: all of its states are in its log.
        let compacts = seed % 2 == 0
        options.maintenance = compacts && random.oneIn(2) ? .inline : .manual
        let model = CompactionModel(seed: seed)
        let store = Store()
        let now = Guarded<Int64>(1)
        let log = try Log.open(
            Store.path, on: store.disk, clock: Clock { now.withLock { $0 } }, options: options,
            deriver: WholeRowDeriver())
        var states: [UInt64: CompactionModel] = [0: model.copy()]
        var times: [Int64: UInt64] = [:]
        var held: [Held] = []
        var reached = 0
        for step in 0..<100 {
            now.withLock { $0 = Int64(step) * 10 }
            switch model.below(20) {
            case 0..<15: try model.commit(log, usesBlobs: seed % 3 != 0)
            case 15: try model.giveUp(log)
            case 16: try log.checkpoint()
            case 17, 18: if compacts { _ = try log.compact() }
            default: try store.backup()
            }
            let newest = log.snapshot().sequence
            states[newest] = model.copy()
            times[Int64(step) * 10] = newest
            guard step % 5 == 0 else { continue }
            var sequence = UInt64(random.below(Int(newest) + 1))
            var point = RestorePoint.transaction(sequence)
            if random.oneIn(2) {
                let time = Int64(random.below(step + 1)) * 10
                sequence = try #require(times[time])
                point = .time(nanoseconds: time + 5)
            }
            do {
                let past = try PastState(of: Store.path, on: store.disk, at: point)
                #expect(past.last.transaction == sequence)
                held.append(Held(log: try past.opened(), expected: try #require(states[sequence])))
                reached += 1
            } catch let error as BackupError {
                #expect(error.code == .notInLog && compacts, "seed \(seed), transaction \(sequence): \(error)")
            }
        }
        #expect(reached > 0 && (compacts || reached == 20), "seed \(seed): \(reached)")
        // Their files may have been removed meanwhile.
        for held in held {
            #expect(try held.expected.difference(held.log.snapshot()) == nil, "seed \(seed)")
            #expect(try held.log.findings().isEmpty, "seed \(seed)")
            try held.log.close()
        }
        try store.backup()
        try Self.checkBackups(store, states, seed: seed)
        try log.close()
    }

    private static func checkBackups(
        _ store: Store, _ states: [UInt64: CompactionModel], seed: UInt64
    ) throws {
        let backups = try Restorer(from: Store.backups, on: store.disk, clock: Clock { 5 }).backups()
        let newest = try #require(backups.last?.last.transaction)
        for sequence in stride(from: seed % 5, through: newest, by: 5) {
            let isInBackup = backups.contains { $0.first.transaction <= sequence && sequence <= $0.last.transaction }
            do {
                let past = try PastState(inBackups: Store.backups, on: store.disk, at: .transaction(sequence))
                let log = try past.opened()
                #expect(try #require(states[sequence]).difference(log.snapshot()) == nil, "seed \(seed), \(sequence)")
                try log.close()
            } catch let error as BackupError {
                #expect(error.code == .notInBackups && !isInBackup, "seed \(seed), \(sequence): \(error)")
            }
        }
    }

    @Test func `a date before a segment that was wholly dead is refused`() throws {
        let store = Store()
        let now = Guarded<Int64>(1)
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try Log.open(
            Store.path, on: store.disk, clock: Clock { now.withLock { $0 } }, options: options,
            deriver: WholeRowDeriver())
        let table = TableID(rawValue: 16)
        let kept = try log.write(author: nil) { transaction in
            let first = try transaction.allocateIDs(20, in: table)
            for id in first..<first + 20 { try transaction.put(id, [UInt8](repeating: 1, count: 170), in: table) }
            return first
        }.value
        // Each row is dead at the end but for the last one.
        for step in 1...200 {
            now.withLock { $0 = Int64(step) * 10 }
            _ = try log.write(author: nil) { transaction in
                try transaction.put(kept, [UInt8](repeating: UInt8(step), count: 170), in: table)
            }
        }
        try log.checkpoint()
        _ = try log.compact()
        try log.checkpoint()
        for step in [5, 40, 100] {
            let code = backupCode {
                _ = try PastState(of: Store.path, on: store.disk, at: .time(nanoseconds: Int64(step) * 10 + 5))
            }
            #expect(code == .notInLog, "step \(step)")
        }
        try log.close()
    }

    @Test func `a rotten end of the log is no older state`() throws {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 1 << 20
        let log = try store.open(options)
        let model = CompactionModel(seed: 9)
        for _ in 0..<30 { try model.commit(log, usesBlobs: true) }
        log.abandonForTests()
        let names = try store.disk.names(in: Store.path).filter { FileName.parse($0)?.kind == .hotSegment }
        let path = Store.path + "/" + (try #require(names.last))
        let length = try store.disk.byteCount(of: path)
        let file = try store.disk.open(path, for: .updating)
        // In the middle of the frames, behind which others say that it was synchronized.
        var byte: [UInt8] = [0]
        try byte.withUnsafeMutableBytes { _ = try file.read(into: $0, at: length / 2) }
        try [byte[0] ^ 0x40].withUnsafeBytes { try file.write($0, at: length / 2) }
        file.close()
        for point in [RestorePoint.newest, .time(nanoseconds: .max)] {
            let error = #expect(throws: LogError.self) { try PastState(of: Store.path, on: store.disk, at: point) }
            #expect(error?.code == .damaged)
        }
    }

    @Test func `files that are not used any more are closed`() throws {
        let store = Store()
        let log = try store.open()
        try CompactionModel(seed: 1).commit(log, usesBlobs: true)
        let past = try PastState(of: Store.path, on: store.disk, at: .newest)
        let read = try past.opened()
        past.release()
        #expect(read.snapshot().sequence == 1)
        try read.close()
        #expect(throws: LogError.self) { try past.opened() }
        try log.close()
    }

    @Test func `a transaction that is not there yet is refused`() throws {
        let store = Store()
        let log = try store.open()
        try CompactionModel(seed: 1).commit(log, usesBlobs: false)
        let next = log.snapshot().sequence + 1
        let code = backupCode { _ = try PastState(of: Store.path, on: store.disk, at: .transaction(next)) }
        #expect(code == .notInLog)
        #expect(backupCode { _ = try PastState(of: "/d/none", on: store.disk, at: .newest) } == .notFound)
        #expect(backupCode { _ = try PastState(of: Store.path, on: store.disk, at: .backup(1)) } == .notFound)
        try log.close()
    }

    @Test func `the state of a time has the transactions up to it`() throws {
        let store = Store()
        let time = Guarded<Int64>(10)
        let clock = Clock { time.withLock { $0 } }
        let log = try Log.open(
            Store.path, on: store.disk, clock: clock, options: Store.options, deriver: WholeRowDeriver())
        let model = CompactionModel(seed: 3)
        var states: [Int64: (UInt64, CompactionModel)] = [:]
        for now in stride(from: Int64(10), through: 50, by: 10) {
            time.withLock { $0 = now }
            try model.commit(log, usesBlobs: true)
            states[now] = (log.snapshot().sequence, model.copy())
        }
        for now in stride(from: Int64(10), through: 50, by: 10) {
            let expected = try #require(states[now])
            let past = try PastState(of: Store.path, on: store.disk, at: .time(nanoseconds: now + 4))
            #expect(past.last.transaction == expected.0)
            let read = try past.opened()
            #expect(try expected.1.difference(read.snapshot()) == nil)
            try read.close()
        }
        #expect(try PastState(of: Store.path, on: store.disk, at: .time(nanoseconds: 3)).last.transaction == 0)
        try log.close()
    }

    @Test func `nothing can be written to the past`() throws {
        let store = Store()
        let log = try store.open()
        try CompactionModel(seed: 1).commit(log, usesBlobs: true)
        let past = try PastState(of: Store.path, on: store.disk, at: .newest)
        let names = try past.disk.names(in: past.directory)
        let segment = try #require(names.first { $0.hasPrefix("h-") || $0.hasPrefix("s-") } ?? names.first)
        #expect(throws: DiskError.self) { try past.disk.open(past.directory + "/" + segment, for: .updating) }
        #expect(throws: DiskError.self) { try past.disk.remove(past.directory + "/" + segment) }
        try log.close()
    }
}
