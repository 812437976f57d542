import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Events between the steps of a compaction: commits, checkpoints, failures.
struct InterruptedCompactionTests {
    private let store = Store()

    /// Opens the store from its segments alone.
    private func fromSegments(_ options: LogOptions, _ body: (Snapshot) throws -> Void) throws {
        var options = options
        options.ignoresDerivedFiles = true
        let log = try store.killed.open(options)
        try body(log.snapshot())
        log.abandonForTests()
    }

    /// The live records of the segment take two steps of eight frames.
    @Test func `a checkpoint amid a move drops no segment of which something is left`() throws {
        var options = Store.options
        options.segmentByteCount = 300_000
        options.checkpointByteCount = 300_000
        options.frameByteCount = 10_000
        let log = try store.open(options)
        try log.insert((1...9_000).map { row($0) }, in: plainTable)
        _ = try log.write(author: nil) { transaction in
            for id in 1...9_000 where id % 3 != 0 { try transaction.put(UInt64(id), row(id + 1), in: plainTable) }
        }
        try log.checkpoint()
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var seen: (firstEnd: Int, lastEnd: Int, killed: [Store]) = (0, 0, [])
        store.disk.onOperation = { disk, _ in
            guard let cold = disk.filePaths.first(where: { $0.contains("/c-") }) else { return }
            let end = disk.bytes(of: cold)?.count ?? 0
            // A further frame is written, but not durable yet. The last one follows the checkpoint.
            if seen.firstEnd > 0, end > max(seen.firstEnd, seen.lastEnd) {
                seen.lastEnd = end
                seen.killed = seen.killed.prefix(1) + [Store(disk.afterProcessDeath())]
            }
            // The first one is durable, but not published yet.
            guard end > 64, seen.firstEnd == 0 else { return }
            seen.firstEnd = end
            do {
                // Enough for a checkpoint to be due.
                try log.insert((1...340).map { row($0, byteCount: 900) }, in: TableID(rawValue: 18))
            } catch {
                Issue.record(error)
            }
        }
        #expect(try log.compact().segmentCount == 1)
        store.disk.onOperation = nil
        func expectAll(_ snapshot: Snapshot) throws {
            for id in 1...9_000 {
                #expect(try snapshot.row(UInt64(id), in: plainTable) == row(id % 3 == 0 ? id : id + 1))
            }
        }
        try expectAll(log.snapshot())
        log.abandonForTests()
        try fromSegments(options, expectAll)
        #expect(seen.killed.count == 2)
        for killed in seen.killed {
            let found = try killed.open(options)
            try expectAll(found.snapshot())
            found.abandonForTests()
        }
    }

    @Test func `a cold segment whose synchronization failed gets nothing more`() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...40 where number % 8 != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(100 + number, byteCount: 100)) }
        }
        try log.checkpoint()
        disk.arm(DiskFault { $0.site == "compaction.moved" })
        #expect(throws: LogError.self) { try log.compact() }
        #expect(disk.hitCount == 1 && log.failure == nil)
        let path = try #require(store.files(.coldSegment).first)
        let before = try store.disk.contents(path)
        // There is no commit in the meantime, so no checkpoint changes anything.
        #expect(try log.compact().segmentCount > 0)
        #expect(store.disk.bytes(of: path).map { $0 == before } ?? true)
        for number in 1...40 {
            let expected = number % 8 != 0 ? 100 + number : number
            #expect(try log.snapshot().row(UInt64(number)) == row(expected, byteCount: 100))
        }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// The cold segment has a version that was deleted before the first frame was written to it.
    @Test func `a delete that comes while a record is moved is kept as long as the copy`() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try store.open(options)
        func update(_ ids: [UInt64], _ version: Int) throws {
            for id in ids { _ = try log.write(author: nil) { try $0.put(id, row(version, byteCount: 100)) } }
        }
        let others = (1...20 as ClosedRange<UInt64>).filter { $0 % 5 != 0 }
        for number in 1...20 { try log.insert([row(number, byteCount: 100)]) }
        for version in 1...3 { try update(others, 100 * version) }
        try log.checkpoint()
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var hasActed = false
        store.disk.onOperation = { disk, _ in
            // The records to be moved are read, and their new segment is not listed yet.
            guard !hasActed, disk.filePaths.contains(where: { $0.contains("/c-") }) else { return }
            hasActed = true
            do { _ = try log.write(author: nil) { try $0.erase(5) } } catch { Issue.record(error) }
        }
        #expect(try log.compact().segmentCount > 0)
        store.disk.onOperation = nil
        let segments = store.files(.hotSegment)
        #expect(hasActed && segments.count == 1 && store.files(.coldSegment).count == 1)
        // The segment with the delete is dropped too.
        for version in 4...6 { try update(others, 100 * version) }
        try log.checkpoint()
        try log.compact()
        #expect(!store.files(.hotSegment).contains(segments[0]))
        #expect(try log.snapshot().row(5) == nil)
        log.abandonForTests()
        try fromSegments(options) { (snapshot) throws in
            #expect(try snapshot.row(5) == nil)
            #expect(snapshot.recordCount(of: testTable) == 19)
        }
    }
}
