import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Dead bytes are counted at once, and the count outlives the process.
struct DeadBytesTests {
    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 6_000
        options.frameByteCount = 800
        return options
    }

    /// Checks that live, dead and deleted bytes make up each segment, without its header.
    private func expectCount(_ log: Log, deletes: UInt64, _ when: String) throws {
        let segments = try log.usage().segments.filter { $0.kind == .hotSegment }
        var rest: UInt64 = 0
        for segment in segments {
            #expect(segment.liveByteCount + segment.deadByteCount + 64 <= segment.byteCount, "\(when): \(segment)")
            rest += segment.byteCount - 64 - segment.liveByteCount - segment.deadByteCount
        }
        #expect(rest == deletes, "\(when): \(segments)")
    }

    @Test func `counts updates, deletes, headers and abandoned writes, across openings`() throws {
        var store = Store()
        var log = try store.open(options)
        var random = Seed(3)
        var live: Set<RecordID> = []
        var deletes: UInt64 = 0
        for step in 0..<300 {
            if random.oneIn(10) {
                let error = #expect(throws: LogError.self) {
                    _ = try log.write(author: nil) { transaction in
                        for number in 0..<12 { _ = try transaction.insert(row(number, byteCount: 200), in: plainTable) }
                        transaction.abandon()
                    }
                }
                #expect(error?.code == .abandoned)
            } else if random.oneIn(3), let id = live.min() {
                _ = try log.write(author: nil) { try $0.delete(id, in: plainTable) }
                live.remove(id)
                deletes += 40
            } else if random.oneIn(2), let id = live.max() {
                _ = try log.write(author: nil) { transaction in
                    for number in 0..<3 { try transaction.put(id, row(number + step), in: plainTable) }
                }
            } else {
                live.formUnion(try log.insert([row(step, byteCount: 20 + random.below(300))], in: plainTable))
            }
            if step % 60 == 59 {
                try log.checkpoint()
                try expectCount(log, deletes: deletes, "step \(step)")
            }
            if step == 130 {
                try log.close()
                log = try store.open(options)
                try expectCount(log, deletes: deletes, "after closing")
            }
        }
        // Frames abandoned before the last checkpoint stay counted; those after it are in no replayed log.
        try log.checkpoint()
        log.abandonForTests()
        store = store.killed
        log = try store.open(options)
        try expectCount(log, deletes: deletes, "after a kill")
        try log.close()
    }

    /// The live records of the segment take two steps of eight frames; the second step fails.
    @Test func `counts moved records as dead in their former segment`() throws {
        var options = options
        options.segmentByteCount = 20_000
        options.frameByteCount = 400
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        for number in 1...120 { try log.insert([row(number, byteCount: 200)], in: plainTable) }
        for number in 1...120 where number % 3 != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(number, byteCount: 200), in: plainTable) }
        }
        try log.checkpoint()
        let segments = store.files(.hotSegment)
        disk.arm(DiskFault(ordinal: 1) { $0.site == "compaction.moved" })
        #expect(throws: LogError.self) { try log.compact() }
        #expect(disk.hitCount == 1 && store.files(.hotSegment).starts(with: segments))
        let usage = try log.usage().segments
        #expect(try #require(usage.first { $0.kind == .coldSegment }).liveByteCount > 2_000)
        try expectCount(log, deletes: 0, "after a step")
        try log.close()
    }

    @Test func `counts the blob that a placement gave up`() throws {
        let store = Store()
        let log = try store.open(options)
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        let id = try log.write(author: nil) { transaction in
            try [UInt8](repeating: 1, count: 5_000).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
        let live = try log.usage().segments.filter { $0.kind == .blobSegment }.reduce(0) { $0 + $1.liveByteCount }
        _ = try log.write(author: nil) { try $0.deleteBlob(id) }
        let dead = try log.usage().segments.filter { $0.kind == .blobSegment }.reduce(0) { $0 + $1.deadByteCount }
        #expect(live > 0 && dead == live)
        log.abandonForTests()
        // Replay counts it again.
        let again = try store.killed.open(options)
        let found = try again.usage().segments.filter { $0.kind == .blobSegment }.reduce(0) { $0 + $1.deadByteCount }
        #expect(found == live)
        try again.close()
    }

    @Test func `the bytes of an abandoned transaction make a checkpoint due`() throws {
        var options = options
        options.maintenance = .inline
        options.checkpointByteCount = 8_000
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(1)], in: plainTable)
        #expect(store.files(.tableCheckpoint).isEmpty)
        #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                for number in 0..<60 { _ = try transaction.insert(row(number, byteCount: 200), in: plainTable) }
                transaction.abandon()
            }
        }
        #expect(store.files(.tableCheckpoint).count == 1)
        try log.close()
    }

    /// No compaction runs before the store is closed, or the process is killed.
    @Test(arguments: [false, true]) func `what died with its table stays counted`(isKilled: Bool) throws {
        let store = Store()
        let log = try store.open(options)
        for number in 0..<40 { try log.insert([row(number, byteCount: 500)], in: plainTable) }
        try log.insert([row(1)])
        _ = try log.write(author: nil) { try $0.dropTable(plainTable) }
        try log.checkpoint()
        let dead = try log.usage().segments.filter(\.isSealed).reduce(0) { $0 + $1.deadByteCount }
        #expect(dead > 18_000)
        if isKilled { log.abandonForTests() } else { try log.close() }
        let again = try (isKilled ? store.killed : store).open(options)
        let found = try again.usage().segments.filter(\.isSealed).reduce(0) { $0 + $1.deadByteCount }
        #expect(found >= dead)
        try again.close()
    }
}
