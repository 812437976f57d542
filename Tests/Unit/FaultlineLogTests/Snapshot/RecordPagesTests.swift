import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Synchronization
import Testing

/// Records that a hold reads from pages in memory are those that it reads from files.
struct RecordPagesTests {
    /// Reads one record as a context does: into memory that it owns, or, if that is too small, into a larger one.
    private static func row(_ id: RecordID, of hold: SnapshotHold, _ buffer: inout RecordBuffer) throws -> [UInt8]? {
        let location = try hold.location(of: id, in: plainTable)
        guard !location.isAbsent else { return nil }
        while true {
            switch try hold.read(id, in: plainTable, at: location, into: buffer.bytes) {
            case .record(let view, _): return Array(view.row)
            case .needsCapacity(let byteCount): buffer.grow(to: byteCount)
            }
        }
    }

    private static func reading<R>(_ log: Log, _ hold: SnapshotHold, _ body: () throws -> R) throws -> R {
        _ = try hold.begin()
        defer { hold.end() }
        hold.put(log.snapshot())
        return try body()
    }

    /// Rows of 200 bytes, which are not compressed.
    private func rows(_ count: Int) -> [[UInt8]] {
        var random = Seed(1)
        return (0..<count).map { FaultlineLogTests.row($0) + random.bytes(180) }
    }

    @Test func `records that are read again need no read of their file`() throws {
        let counting = CountingDisk(over: SimulatedDisk(directories: ["/d"]))
        let log = try Store().open(on: counting)
        let rows = rows(2_000)
        let ids = try log.insert(rows, in: plainTable)
        let hold = log.hold("test")
        defer { log.release(hold) }
        var random = Seed(7)
        var buffer = RecordBuffer()
        var readCounts: [Int] = []
        for _ in 0..<6 {
            let order = (0..<2_000).shuffled(using: &random)
            let counts = try Self.reading(log, hold) {
                try counting.counting {
                    for place in order {
                        let row = try Self.row(ids[place], of: hold, &buffer)
                        #expect(row == rows[place])
                    }
                }.counts
            }
            readCounts.append(counts.reads)
        }
        // 2,000 records of about 220 bytes.
        #if !FAULTLINE_TSAN
        #expect(readCounts[0] < 1_000)
        #expect(readCounts[5] == 0, "\(readCounts)")
        // Beside them 32 bytes for each of the slots.
        #expect((105...115).contains((log.budget.used(for: .records) - slotCount(of: log) * 32) / 4_096))
        #endif
    }

    /// Half of the budget, rounded down to a power of two.
    private func slotCount(of log: Log) -> Int {
        let most = log.budget.byteCount / 2 / 4_096
        return 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    @Test func `a record that was written onto a page in memory is read`() throws {
        let log = try Store().open()
        let ids = try log.insert(rows(40), in: plainTable)
        let hold = log.hold("test")
        defer { log.release(hold) }
        var buffer = RecordBuffer()
        for number in 0..<200 {
            try Self.reading(log, hold) {
                for id in ids.suffix(10) {
                    let row = try Self.row(id, of: hold, &buffer)
                    #expect(row != nil)
                }
            }
            let new = FaultlineLogTests.row(number, byteCount: 100)
            let id = try #require(try log.insert([new], in: plainTable).first)
            let row = try Self.reading(log, hold) { try Self.row(id, of: hold, &buffer) }
            #expect(row == new)
        }
    }

    /// Sizes of rows: they lie on one page, on two, and on more; rows of one byte value are compressed.
    @Test(arguments: Seed.list(12)) func `reads beside saves give the newest rows`(seed: Seed) throws {
        var random = seed
        var options = Store.options
        options.memoryBudget = [200_000, 1 << 20, 64 << 20][random.below(3)]
        options.segmentByteCount = 300_000
        let log = try Store().open(options)
        let hold = log.hold("test")
        defer { log.release(hold) }
        var buffer = RecordBuffer(byteCapacity: 64)
        var stored: [RecordID: [UInt8]] = [:]
        func newRow() -> [UInt8] {
            let byteCount = [12, 100, 200, 700, 3_000, 4_090, 9_000][random.below(7)]
            let number = random.below(1_000)
            return random.oneIn(3)
                ? FaultlineLogTests.row(number, byteCount: byteCount)
                : FaultlineLogTests.row(number) + random.bytes(byteCount)
        }
        for _ in 0..<60 {
            let new = (0..<random.below(12)).map { _ in newRow() }
            for (id, row) in zip(try log.insert(new, in: plainTable), new) { stored[id] = row }
            let ids = stored.keys.sorted()
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<random.below(6) where !ids.isEmpty {
                    let id = random.pick(ids)
                    guard stored[id] != nil else { continue }
                    if random.oneIn(4) {
                        try transaction.delete(id, in: plainTable)
                        stored[id] = nil
                    } else {
                        let row = newRow()
                        try transaction.put(id, row, in: plainTable)
                        stored[id] = row
                    }
                }
            }
            if random.oneIn(8) { try log.checkpoint() }
            if random.oneIn(8) { log.budget.limited(to: 100_000) {} }
            let few = (0..<random.below(30)).compactMap { _ in ids.randomElement(using: &random) }
            try Self.reading(log, hold) {
                for _ in 0..<4 {
                    for id in few {
                        let row = try Self.row(id, of: hold, &buffer)
                        #expect(row == stored[id], "\(seed.replayLine)")
                    }
                }
            }
        }
        #expect(try log.findings().isEmpty)
    }

    @Test func `a damaged record has the error of a single read, however often it is read`() throws {
        let disk = SimulatedDisk(directories: ["/d"])
        let store = Store(disk)
        let log = try store.open()
        let rows = rows(100)
        let ids = try log.insert(rows, in: plainTable)
        let location = try log.snapshot().location(of: ids[7], in: plainTable)
        #expect(disk.flip(bit: Int(location.byteOffset) * 8 + 400, of: try #require(store.files(.hotSegment).first)))
        let alone = #expect(throws: LogError.self) { try log.snapshot().row(ids[7], in: plainTable) }
        let hold = log.hold("test")
        defer { log.release(hold) }
        var buffer = RecordBuffer()
        try Self.reading(log, hold) {
            for _ in 0..<20 {
                for (id, row) in zip(ids, rows) where id != ids[7] {
                    let found = try Self.row(id, of: hold, &buffer)
                    #expect(found == row)
                }
                let error = #expect(throws: LogError.self) { try Self.row(ids[7], of: hold, &buffer) }
                #expect(error?.description == alone?.description)
            }
        }
    }

    @Test func `many threads read while pages come and go`() throws {
        var options = Store.options
        options.memoryBudget = 400_000
        let log = try Store().open(options)
        let rows = rows(4_000)
        let ids = try log.insert(rows, in: plainTable)
        let wrongCount = Guarded(0)
        let threads = TestThreads()
        for number in 0..<4 {
            threads.run {
                do {
                    let hold = log.hold("test")
                    defer { log.release(hold) }
                    var random = Seed(UInt64(number))
                    var buffer = RecordBuffer()
                    try Self.reading(log, hold) {
                        for round in 0..<30_000 {
                            let place = random.below(random.oneIn(4) ? 4_000 : 400)
                            let row = try Self.row(ids[place], of: hold, &buffer)
                            if row != rows[place] { wrongCount.withLock { $0 += 1 } }
                            if round % 500 == number { log.budget.limited(to: 100_000) {} }
                        }
                    }
                } catch {
                    wrongCount.withLock { $0 += 1 }
                }
            }
        }
        threads.join()
        #expect(wrongCount.withLock { $0 } == 0)
        #expect(log.budget.used(for: .records) <= options.memoryBudget / 2)
    }

    @Test func `pages are evicted when the budget asks, and counted until then`() throws {
        var options = Store.options
        options.memoryBudget = 1 << 20
        let log = try Store().open(options)
        let ids = try log.insert(rows(4_000), in: plainTable)
        let hold = log.hold("test")
        defer { log.release(hold) }
        var buffer = RecordBuffer()
        try Self.reading(log, hold) {
            for _ in 0..<5 { for id in ids { _ = try Self.row(id, of: hold, &buffer) } }
        }
        let used = log.budget.used(for: .records)
        #if !FAULTLINE_TSAN
        #expect(used > 200_000)
        #endif
        #expect(used <= (1 << 19) + slotCount(of: log) * 32)
        log.budget.limited(to: 1) {}
        #expect(log.budget.used(for: .records) <= slotCount(of: log) * 32)
        try Self.reading(log, hold) {
            for id in ids {
                let row = try Self.row(id, of: hold, &buffer)
                #expect(row != nil)
            }
        }
    }
}
