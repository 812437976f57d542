import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Glibc
import Testing

/// Small segments, which openings behind torn tails and uploads leave, are merged.
struct SmallSegmentTests {
    private static func options(_ maintenance: Maintenance) -> LogOptions {
        var options = Store.options
        options.segmentByteCount = 100_000
        options.checkpointByteCount = 20_000
        options.maintenance = maintenance
        options.isCompressingBlobs = false
        return options
    }

    private static func live(_ log: Log, _ number: Int) throws {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 900)
        _ = try log.write(author: nil) { transaction in
            _ = try transaction.insert(row(number))
            _ = try bytes.withUnsafeBytes {
                try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
            }
        }
        log.abandonForTests()
    }

    /// A store whose log was torn after each commit.
    private static func torn(_ count: Int) throws -> Store {
        var store = Store()
        for number in 0..<count {
            try live(try store.open(options(.manual)), number)
            try store.tear()
            store = store.killed
        }
        return store
    }

    private static func segmentCount(_ store: Store) -> Int {
        store.files(.hotSegment).count + store.files(.coldSegment).count
    }

    private static func expectFew(_ store: Store, _ log: Log, blobSegmentCount: Int) throws {
        let segments = try log.usage().segments.map { "\($0.kind) \($0.number): \($0.byteCount), \($0.liveByteCount)" }
        #expect(segmentCount(store) <= 4, "\(segments)")
        #expect(store.files(.blobSegment).count <= blobSegmentCount, "\(segments)")
    }

    private static func check(_ store: Store, _ log: Log, count: Int) throws {
        #expect(log.snapshot().recordCount(of: testTable) == count)
        for number in 0..<count {
            #expect(try log.snapshot().row(UInt64(number + 1)) == row(number))
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 900)
            #expect(try log.snapshot().blob(UInt64(number + 1)) == bytes)
        }
        #expect(try log.findings().isEmpty)
        let rebuilt = try store.rebuilt()
        #expect(rebuilt.snapshot().recordCount(of: testTable) == count)
        #expect(try rebuilt.findings().isEmpty)
    }

    @Test func `many small segments are merged after a checkpoint`() throws {
        let store = try Self.torn(30)
        #expect(Self.segmentCount(store) >= 30 && store.files(.blobSegment).count >= 30)
        let log = try store.open(Self.options(.inline))
        var number = 30
        while Self.segmentCount(store) > 16 || store.files(.blobSegment).count > 16 {
            guard number < 400 else { break }
            _ = try log.write(author: nil) { _ = try $0.insert(row(number, byteCount: 1_000), in: plainTable) }
            number += 1
        }
        // One checkpoint was due.
        #expect(number < 90)
        // A merge copies a full segment at most.
        try Self.expectFew(store, log, blobSegmentCount: 13)
        try Self.check(store, log, count: 30)
        try log.close()
    }

    /// Merging does not wait for commits, whose bytes else decide how much is copied.
    @Test func `the maintenance thread merges them after an opening`() throws {
        let store = try Self.torn(30)
        try store.open(Self.options(.manual)).close()
        let log = try store.open(Self.options(.thread))
        for _ in 0..<1_000 where Self.segmentCount(store) > 3 || store.files(.blobSegment).count > 13 {
            usleep(10_000)
        }
        try Self.expectFew(store, log, blobSegmentCount: 13)
        try Self.check(store, log, count: 30)
        try log.close()
    }

    @Test func `a few small segments stay, but for a request`() throws {
        let store = try Self.torn(8)
        let log = try store.open(Self.options(.inline))
        for number in 0..<40 {
            _ = try log.write(author: nil) { _ = try $0.insert(row(number, byteCount: 1_000), in: plainTable) }
        }
        #expect(Self.segmentCount(store) >= 8)
        try log.compact()
        try Self.expectFew(store, log, blobSegmentCount: 2)
        let report = try log.compact()
        #expect(report.movedByteCount == 0 && report.segmentCount == 0)
        try Self.check(store, log, count: 8)
        try log.close()
    }

    /// A segment that begins inside a transaction stays as long as the one before, which is full.
    @Test func `the small end of a large transaction stays with its beginning`() throws {
        var options = Self.options(.manual)
        options.frameByteCount = 4_000
        options.checkpointByteCount = 100_000
        var store = Store()
        var count = 0
        for _ in 0..<16 {
            let log = try store.open(options)
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<300 {
                    _ = try transaction.insert(row(count, byteCount: 300))
                    count += 1
                }
            }
            log.abandonForTests()
            try store.tear()
            store = store.killed
        }
        options.maintenance = .inline
        let log = try store.open(options)
        _ = try log.write(author: nil) { _ = try $0.insert(row(0), in: plainTable) }
        try log.compact()
        for number in 0..<count {
            #expect(try log.snapshot().row(UInt64(number + 1)) == row(number, byteCount: 300))
        }
        #expect(try log.findings().isEmpty)
        try log.close()
        #expect(try store.rebuilt().snapshot().recordCount(of: testTable) == count)
    }

    /// Half of the kills tear the log.
    @Test func `two thousand kills leave few more files than ten`() throws {
        var store = Store()
        var least = 0
        let count = TestSize.of(2_000, unoptimized: 300)
        for number in 0..<count {
            let log = try store.open(Self.options(.inline))
            try Self.live(log, number)
            if number % 2 == 0 { try store.tear() }
            store = store.killed
            if number == 9 { least = store.disk.filePaths.count }
            if number % 50 == 49 { #expect(store.disk.filePaths.count <= least + 40, "after \(number)") }
        }
        let log = try store.open(Self.options(.inline))
        try Self.check(store, log, count: count)
        try log.close()
    }
}
