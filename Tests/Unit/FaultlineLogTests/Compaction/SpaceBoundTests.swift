import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// The largest size of the segments while writers are faster than compaction: measured after every commit.
struct SpaceBoundTests {
    private static let objectCount = 3_000
    private static let batchCount = 60
    private static let rowByteCount = 400
    private static let segmentByteCount = 100_000

    /// Checkpoints, and with them compaction, become due only by `checkpointByteCount`.
    private func options(_ maintenance: Maintenance, checkpointByteCount: Int = 1 << 40) -> LogOptions {
        var options = Store.options
        options.segmentByteCount = Self.segmentByteCount
        options.checkpointByteCount = checkpointByteCount
        options.isCompressingBlobs = false
        options.preparedByteCount = 0
        options.maintenance = maintenance
        return options
    }

    /// Bytes of all segments beside the thread, which may remove files between two steps of the count.
    private func byteCount(_ store: Store) throws -> UInt64 {
        try [FileKind.hotSegment, .coldSegment, .blobSegment].flatMap { store.files($0) }.reduce(0) { sum, path in
            do throws(DiskError) {
                let file = try store.disk.open(path, for: .reading)
                defer { file.close() }
                return sum + (try file.byteCount())
            } catch {
                // It was removed in the meantime.
                guard error.code == .notFound else { throw error }
                return sum
            }
        }
    }

    private func insert(_ log: Log) throws {
        for first in stride(from: 0, to: Self.objectCount, by: Self.batchCount) {
            try log.insert(
                (first..<first + Self.batchCount).map { row($0, byteCount: Self.rowByteCount) }, in: plainTable)
        }
    }

    /// Updates as many objects as there are, in no order.
    private func update(_ log: Log, _ random: inout Seed, afterEach body: () throws -> Void) throws {
        for _ in stride(from: 0, to: Self.objectCount, by: Self.batchCount) {
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<Self.batchCount {
                    let place = random.below(Self.objectCount)
                    try transaction.put(
                        UInt64(place + 1), row(place, byteCount: Self.rowByteCount), in: plainTable)
                }
            }
            try body()
        }
    }

    /// Twice the live bytes, a segment being copied, and the transaction; an updated row has 8 bytes more, for its mask
    /// of changed slots.
    private func limit(live: UInt64) -> UInt64 {
        (live + UInt64(Self.objectCount * 8)) * 2
            + UInt64(Self.segmentByteCount + Self.batchCount * (Self.rowByteCount + 64))
    }

    /// Only waiting writers compact.
    @Test func `writers wait rather than let segments take more than twice the live bytes`() throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        try insert(log)
        #expect(log.figures.spaceWaitCount == 0)
        let live = try log.usage().liveByteCount
        var random = Seed(11)
        for _ in 0..<8 {
            try update(log, &random) {
                let taken = store.segmentByteCount
                #expect(taken <= limit(live: live))
            }
        }
        #expect(log.figures.spaceWaitCount > 8)
        #expect(try log.findings().isEmpty)
        for place in stride(from: 0, to: Self.objectCount, by: 97) {
            #expect(try log.snapshot().row(UInt64(place + 1), in: plainTable) == row(place, byteCount: 400))
        }
        try log.close()
    }

    /// Checkpoints of the thread are frequent enough, or too rare to suffice.
    @Test(arguments: [50_000, 3_000_000])
    func `so they do beside the maintenance thread`(checkpointByteCount: Int) throws {
        let store = Store()
        let log = try store.open(
            options(.thread, checkpointByteCount: checkpointByteCount), deriver: NoIndexes())
        try insert(log)
        let live = try log.usage().liveByteCount
        var random = Seed(12)
        for _ in 0..<8 {
            try update(log, &random) {
                // Files are counted one after the other, the least of three counts.
                let taken = try min(byteCount(store), byteCount(store), byteCount(store))
                // As `docs/Durability.md` says.
                #expect(taken <= limit(live: live) + 280_000)
            }
        }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `values out of their rows count as much`() throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        var random = Seed(13)
        var blobs: [RecordID] = []
        func value(_ number: Int) -> [UInt8] { row(number, byteCount: 5_000) }
        for number in 0..<300 {
            blobs.append(
                try log.write(author: nil) { transaction in
                    try value(number).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }.value)
        }
        let live = try log.usage().liveByteCount
        for number in 0..<2_000 {
            let place = random.below(blobs.count)
            blobs[place] = try log.write(author: nil) { transaction in
                try transaction.deleteBlob(blobs[place])
                return try value(number).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            }.value
            // Blobs and rows each have a segment that is copied to.
            #expect(store.segmentByteCount <= limit(live: live) + UInt64(Self.segmentByteCount))
        }
        #expect(log.figures.spaceWaitCount > 0)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// The segments that one transaction fills with values are sealed before it ends, or before it is abandoned.
    @Test(arguments: [false, true])
    func `values of a transaction that takes many segments are counted, all of them`(isGivenUp: Bool) throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        func write() throws -> [RecordID] {
            try log.write(author: nil) { transaction in
                let ids = try (0..<40).map { number in
                    try row(number, byteCount: 30_000).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }
                if isGivenUp { transaction.abandon() }
                return ids
            }.value
        }
        if isGivenUp {
            #expect(throws: LogError.self) { _ = try write() }
        } else {
            let ids = try write()
            _ = try log.write(author: nil) { transaction in for id in ids { try transaction.deleteBlob(id) } }
        }
        #expect(log.figures.spaceWaitCount == 0)
        try log.insert([row(1)], in: plainTable)
        #expect(log.figures.spaceWaitCount == 1)
        // Abandoned transactions are recognized only before a checkpoint.
        if isGivenUp { _ = try log.compact() }
        // The last one is still open.
        let left = store.segmentByteCount
        #expect(left <= UInt64(Self.segmentByteCount * 2), "\(left)")
        try log.close()
    }

    /// A transaction has made most of each segment dead, so the next one could wait until all were copied.
    @Test func `a writer does not wait for all that others have deleted`() throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        try insert(log)
        _ = try log.write(author: nil) { transaction in
            for id in 1...Self.objectCount where id % 10 < 8 { try transaction.delete(UInt64(id), in: plainTable) }
        }
        let taken = store.segmentByteCount
        var counts: [UInt64] = []
        for number in 0..<12 {
            try log.insert((0..<Self.batchCount).map { row($0, byteCount: Self.rowByteCount) }, in: plainTable)
            counts.append(store.segmentByteCount)
            if number == 0 { #expect(log.figures.spaceWaitCount == 1) }
        }
        // The first one copies a few segments, not all of them; in the end the size is within the limit.
        #expect(counts[0] < taken && counts[0] > taken / 2, "\(taken) \(counts)")
        let live = try log.usage().liveByteCount
        #expect(counts[11] <= limit(live: live), "\(taken) \(counts)")
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// No writer comes that would wait.
    @Test func `the maintenance thread compacts the bytes that the last transactions made dead`() throws {
        let store = Store()
        var options = options(.thread)
        options.patienceMilliseconds = 20
        let log = try store.open(options, deriver: NoIndexes())
        try insert(log)
        _ = try log.write(author: nil) { transaction in
            for id in 1...Self.objectCount where id % 16 != 0 { try transaction.delete(UInt64(id), in: plainTable) }
        }
        let live = UInt64(Self.objectCount / 16 * (Self.rowByteCount + 64))
        // Segments that hold deletes, and the open one.
        let most = live + UInt64(Self.segmentByteCount * 5)
        var rounds = 0
        while store.segmentByteCount > most, rounds < 3_000 {
            usleep(10_000)
            rounds += 1
        }
        #expect(store.segmentByteCount <= most)
        #expect(log.figures.spaceWaitCount == 0)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `segments that a snapshot reads come on top, and delay no writer`() throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        try insert(log)
        let live = try log.usage().liveByteCount
        let old = log.snapshot()
        var random = Seed(14)
        var most: UInt64 = 0
        for _ in 0..<6 {
            try update(log, &random) {
                let held = log.figures.space.heldByteCount
                most = max(most, held)
                let taken = store.segmentByteCount
                #expect(taken <= limit(live: live) + held)
            }
        }
        #expect(most >= live)
        #expect(try old.row(7, in: plainTable) == row(6, byteCount: 400))
        try log.close()
    }

    @Test func `no writer waits if nothing is dead, or if one transaction is larger than the store`() throws {
        let store = Store()
        let log = try store.open(options(.inline), deriver: NoIndexes())
        for _ in 0..<4 { try insert(log) }
        #expect(log.figures.spaceWaitCount == 0)
        _ = try log.write(author: nil) { transaction in
            for round in 0..<6 {
                for id in 1...4 * Self.objectCount {
                    try transaction.put(UInt64(id), row(round, byteCount: 400), in: plainTable)
                }
            }
        }
        // It waits once, and finds that all but the newest versions can be dropped.
        let live = try log.usage().liveByteCount
        try log.insert([row(1)], in: plainTable)
        #expect(log.figures.spaceWaitCount == 1)
        #expect(store.segmentByteCount <= live * 2)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// A damaged segment is kept as it is, so all later ones that begin inside a transaction stay too.
    @Test func `no writer waits for ever if compaction makes no progress`() throws {
        let store = Store()
        var log = try store.open(options(.manual), deriver: NoIndexes())
        try insert(log)
        var random = Seed(15)
        for _ in 0..<3 { try update(log, &random) {} }
        try log.close()
        for path in store.files(.hotSegment) { store.disk.flip(bit: 300 * 8, of: path) }
        log = try store.open(options(.inline), deriver: NoIndexes())
        for _ in 0..<30 {
            try log.insert((0..<Self.batchCount).map { row($0, byteCount: Self.rowByteCount) }, in: plainTable)
        }
        // One finds that waiting does not help; from then on one more segment may be written, which takes four
        // transactions.
        #expect(1...8 ~= log.figures.spaceWaitCount)
        #expect(!log.compactionDamage.isEmpty)
        try log.close()
    }

    @Test func `no writer waits for all dead bytes from before the opening`() throws {
        let store = Store()
        var log = try store.open(options(.manual), deriver: NoIndexes())
        try insert(log)
        let live = try log.usage().liveByteCount
        var random = Seed(16)
        for _ in 0..<4 { try update(log, &random) {} }
        try log.close()
        log = try store.open(options(.inline), deriver: NoIndexes())
        let before = store.segmentByteCount
        #expect(before > live * 4)
        try log.insert([row(1)], in: plainTable)
        #expect(log.figures.spaceWaitCount == 0)
        // The size never grows first: each waiting transaction frees more than it writes.
        for _ in 0..<4 {
            try update(log, &random) {
                let taken = store.segmentByteCount
                #expect(taken <= before + 2 * UInt64(Self.segmentByteCount))
            }
        }
        #expect(store.segmentByteCount <= limit(live: live))
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// Four writers and the maintenance thread share one lock, and the store is closed at the same time.
    @Test func `closing does not wait for writers that wait for space`() throws {
        let store = Store()
        let log = try store.open(options(.thread), deriver: NoIndexes())
        try insert(log)
        let threads = try (0..<4).map { number in
            try #require(
                SystemThread {
                    for round in 1...100_000 {
                        do {
                            _ = try log.write(author: nil) { transaction in
                                for step in 0..<20 {
                                    let place = (round * 7_919 + step * 31 + number) % Self.objectCount
                                    try transaction.put(
                                        UInt64(place + 1), row(place, byteCount: Self.rowByteCount), in: plainTable)
                                }
                            }
                        } catch {
                            precondition((error as? LogError)?.code == .closed, "\(error)")
                            return
                        }
                    }
                })
        }
        while log.figures.spaceWaitCount < 20 { usleep(1_000) }
        try log.close()
        for thread in threads { thread.join() }
        let again = try store.open(options(.manual), deriver: NoIndexes())
        #expect(again.openReport.wasClean)
        #expect(try again.findings().isEmpty)
        try again.close()
    }
}
