import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Tests the freed space, the kept records, and changes during a compaction.
struct CompactionTests {
    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        return options
    }

    /// A store with 40 objects, all but every `kept`-th of which were updated, so that the first segments are mostly
    /// dead.
    private func store(updatingAllBut kept: Int) throws -> (store: Store, log: Log, disk: FailingDisk) {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...40 where number % kept != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(100 + number, byteCount: 100)) }
        }
        for number in 1...10 { try log.insert([row(200 + number, byteCount: 900)], in: plainTable) }
        try log.checkpoint()
        return (store, log, disk)
    }

    private func expectAll(_ snapshot: Snapshot, keptEvery kept: Int) throws {
        for number in 1...40 {
            let expected = number % kept != 0 ? 100 + number : number
            #expect(try snapshot.row(UInt64(number)) == row(expected, byteCount: 100), "object \(number)")
        }
    }

    /// A table that many attempts of a migration have used is dropped once by each of them.
    @Test func `a rebuild passes over a table once for each cold segment that has drops of it`() throws {
        let store = Store()
        let log = try store.open(options)
        // Older segments stay, because they are of a kept state: so the drops are kept.
        try log.insert([row(800, byteCount: 100)], in: plainTable)
        try log.checkpoint()
        try log.keepState(for: .max)
        for number in 1...60 {
            try log.insert([row(number, byteCount: 100)], in: plainTable)
            _ = try log.write(author: nil) { try $0.dropTable(plainTable) }
        }
        for number in 1...30 { try log.insert([row(100 + number, byteCount: 100)], in: plainTable) }
        try log.checkpoint()
        try log.compact()
        let coldCount = store.files(.coldSegment).count
        log.abandonForTests()
        let rebuilt = try store.rebuilt(options)
        let passCount = rebuilt.openReport.droppedTablePassCount
        #expect(passCount > 0 && passCount <= coldCount, "\(passCount) passes, \(coldCount) cold segments")
        #expect(rebuilt.snapshot().recordCount(of: plainTable) == 30)
        #expect(try rebuilt.snapshot().row(1, in: plainTable) == row(101, byteCount: 100))
        #expect(try rebuilt.findings().isEmpty)
        rebuilt.abandonForTests()
    }

    @Test func `gives back what updates left, and says in IDENTITY that it did`() throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        let before = try log.usage()
        let identity = try #require(store.disk.bytes(of: Store.path + "/IDENTITY"))
        #expect(identity[64] == 0)
        let report = try log.compact()
        let after = try log.usage()
        #expect(report.segmentCount >= 2)
        #expect(report.movedByteCount > 0 && report.movedByteCount < 1_500)
        #expect(report.damage.isEmpty && report.heldByteCount == 0)
        #expect(after.liveByteCount == before.liveByteCount)
        let byteCount = after.segments.reduce(0) { $0 + $1.byteCount }
        #expect(byteCount <= after.liveByteCount * 3 / 2 && byteCount < before.byteCount - 5_000)
        #expect(store.files(.coldSegment).count == 1)
        #expect(store.disk.bytes(of: Store.path + "/IDENTITY")?[64] == 1 << 4)
        try expectAll(log.snapshot(), keptEvery: 8)
        #expect(try log.findings().isEmpty)
        // Nothing is left to do.
        #expect(try log.compact().segmentCount == 0)
        try log.close()
        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        try expectAll(again.snapshot(), keptEvery: 8)
        try again.close()
    }

    @Test func `keeps the file of a dropped segment for as long as a snapshot may read it`() throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        let count = store.files(.hotSegment).count
        var old: Snapshot? = log.snapshot()
        let report = try log.compact()
        #expect(report.segmentCount > 0 && report.heldByteCount == report.droppedByteCount)
        #expect(store.files(.hotSegment).count == count)
        if let old { try expectAll(old, keptEvery: 8) }
        old = nil
        #expect(try log.compact().heldByteCount == 0)
        #expect(store.files(.hotSegment).count == count - report.segmentCount)
        try log.close()
    }

    @Test(arguments: [false, true]) func `lets a commit win that changes just the record being moved`(
        isDelete: Bool
    ) throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var hasActed = false
        store.disk.onOperation = { disk, _ in
            // The copy is written, but not published yet.
            let isCopied = disk.filePaths.contains { $0.contains("/c-") && (disk.bytes(of: $0)?.count ?? 0) > 64 }
            guard isCopied, !hasActed else { return }
            hasActed = true
            do {
                _ = try log.write(author: nil) { transaction in
                    for id in stride(from: UInt64(8), through: 40, by: 8) {
                        if isDelete { try transaction.erase(id) } else { try transaction.put(id, row(500 + Int(id))) }
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        try log.compact()
        store.disk.onOperation = nil
        #expect(hasActed)
        func expect(_ snapshot: Snapshot) throws {
            for id in stride(from: UInt64(8), through: 40, by: 8) {
                #expect(try snapshot.row(id) == (isDelete ? nil : row(500 + Int(id))))
            }
        }
        try expect(log.snapshot())
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        for ignoresDerivedFiles in [false, true] {
            var options = options
            options.ignoresDerivedFiles = ignoresDerivedFiles
            let again = try store.killed.open(options)
            try expect(again.snapshot())
            again.abandonForTests()
        }
    }

    @Test func `a place that the disk cannot read in a segment that stays keeps no other one`() throws {
        let (store, log, disk) = try store(updatingAllBut: 8)
        // Rows of 900 bytes that were never updated.
        let hot = store.files(.hotSegment)
        let path = try #require(hot.dropLast().last)
        disk.arm(
            DiskFault(isSticky: true) { operation in
                operation.kind == .read && operation.path == path && operation.offset == 64
            })
        #expect(try log.compact().segmentCount >= 2)
        #expect(disk.hitCount > 0)
        disk.disarm()
        try expectAll(log.snapshot(), keptEvery: 8)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `keeps a segment with rot, reports where it is, and compacts the others`() throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        // Object 16 is still at its first location.
        let wanted = row(16, byteCount: 100)
        let path = try #require(store.files(.hotSegment).first { store.disk.bytes(of: $0)?.contains(wanted) == true })
        let place = try #require(store.disk.bytes(of: path)?.firstRange(of: wanted)?.lowerBound)
        store.disk.flip(bit: (place + 50) * 8, of: path)
        let report = try log.compact()
        #expect(report.segmentCount > 0)
        #expect(report.damage.map(\.path) == [path])
        #expect(report.damage.allSatisfy { Int($0.offset) <= place })
        #expect(store.files(.hotSegment).contains(path))
        let error = #expect(throws: LogError.self) { _ = try log.snapshot().row(16) }
        #expect(error?.code == .damaged)
        for number in [8, 24, 32, 40] { #expect(try log.snapshot().row(UInt64(number)) == row(number, byteCount: 100)) }
        // It is not tried again.
        #expect(try log.compact().damage.isEmpty)
        try log.close()
    }

    @Test func `damage that is met by chance is reported too, each place once, at most a hundred`() throws {
        var options = options
        options.segmentByteCount = 600
        options.isCompacting = false
        let store = Store()
        var log = try store.open(options)
        for number in 1...120 {
            try log.insert([row(number, byteCount: 100)])
            try log.insert([row(1_000 + number, byteCount: 600)], in: plainTable)
        }
        for number in 1...120 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(9, byteCount: 600), in: plainTable) }
        }
        #expect(log.compactionDamage.isEmpty)
        try log.close()
        for path in store.files(.hotSegment).prefix(110) { store.disk.flip(bit: 180 * 8, of: path) }
        options.isCompacting = true
        options.maintenance = .inline
        options.checkpointByteCount = 1
        log = try store.open(options)
        for _ in 0..<3 {
            try log.insert([row(700)])
            #expect(log.compactionDamage.count == 100)
        }
        #expect(Set(log.compactionDamage.map(\.path)).count == 100)
        #expect(try log.compact().damage.count > 100)
        #expect(log.compactionDamage.count == 100)
        try log.close()
    }

    @Test func `an unreadable placement is reported once, however often it is met`() throws {
        let store = Store()
        let log = try store.open(options)
        _ = try log.write(author: nil) { transaction in
            try [UInt8](repeating: 1, count: 9_000).withUnsafeBytes {
                try transaction.putBlob($0, owner: BlobOwner(table: plainTable, slot: 1, id: 1))
            }
        }
        let path = try #require(store.files(.hotSegment).first)
        store.disk.flip(bit: 150 * 8, of: path)
        for _ in 0..<3 {
            #expect(Set(try log.compact().damage.map(\.path)) == [path])
            // The record, and perhaps the frame that holds it.
            #expect(Set(log.compactionDamage.map(\.path)) == [path] && log.compactionDamage.count <= 2)
        }
        try log.close()
    }

    @Test func `a full disk stops compaction and nothing else`() throws {
        let (store, log, disk) = try store(updatingAllBut: 8)
        disk.arm(
            DiskFault(of: [.write], on: "/c-", ordinal: 1, errorNumber: ENOSPC, effect: .writesFirst(byteCount: 99)))
        let error = #expect(throws: LogError.self) { try log.compact() }
        #expect(error?.code == .fullDisk && log.failure == nil)
        disk.disarm()
        let failed = store.files(.coldSegment)
        try log.insert([row(900)])
        #expect(try log.compact().segmentCount > 0)
        // The file that failed gets no more bytes, and is dropped.
        #expect(failed.count == 1 && !store.files(.coldSegment).contains(failed[0]))
        try expectAll(log.snapshot(), keptEvery: 8)
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        let again = try store.killed.open(options)
        try expectAll(again.snapshot(), keptEvery: 8)
        again.abandonForTests()
    }

    @Test func `keeps a delete as long as a segment may hold an older version`() throws {
        let store = Store()
        let log = try store.open(options)
        // The first segment stays: nearly all of it is live.
        try log.insert((1...24).map { row($0, byteCount: 100) }, in: plainTable)
        try log.insert([row(60, byteCount: 900)])
        _ = try log.write(author: nil) { transaction in
            try transaction.delete(7, in: plainTable)
            try transaction.erase(1)
        }
        for number in 1...10 { try log.insert([row(100 + number, byteCount: 900)]) }
        for number in 1...10 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number + 1), row(300 + number, byteCount: 900)) }
        }
        try log.checkpoint()
        #expect(try log.compact().segmentCount > 0)
        #expect(store.files(.coldSegment).count == 1)
        log.abandonForTests()
        let again = try store.rebuilt(options)
        #expect(try again.snapshot().row(7, in: plainTable) == nil)
        #expect(again.snapshot().recordCount(of: plainTable) == 23)
        #expect(try again.snapshot().row(2) == row(301, byteCount: 900))
        again.abandonForTests()
    }

    @Test func `lets deletes go, though old objects live on`() throws {
        var options = options
        options.maintenance = .inline
        options.checkpointByteCount = 8_000
        let store = Store()
        let log = try store.open(options)
        let old = try log.insert((1...60).map { row($0, byteCount: 100) }, in: plainTable)
        var ids: [RecordID] = []
        for number in 0..<1_500 {
            ids += try log.insert([row(1_000 + number, byteCount: 40)])
            if ids.count > 5 {
                let id = ids.removeFirst()
                _ = try log.write(author: nil) { try $0.erase(id) }
            }
        }
        let usage = try log.usage()
        // 1,500 deletes of 40 bytes are 60,000; if they were kept for ever, segments would only grow.
        #expect(usage.segments.reduce(0) { $0 + $1.byteCount } < 40_000, "\(usage.segments)")
        for (number, id) in old.enumerated() {
            #expect(try log.snapshot().row(id, in: plainTable) == row(number + 1, byteCount: 100))
        }
        log.abandonForTests()
        let again = try store.rebuilt(options)
        #expect(again.snapshot().recordCount(of: testTable) == 5 && again.snapshot().recordCount(of: plainTable) == 60)
        again.abandonForTests()
    }

    @Test func `moves blobs unread, and drops the segments that they lay in`() throws {
        let store = Store()
        let log = try store.open(options)
        let owner = BlobOwner(table: plainTable, slot: 3, id: 9)
        var random = Seed(5)
        let blobs = (0..<12).map { [UInt8](repeating: UInt8($0), count: 70_000) + random.bytes(3_000) }
        let ids = try blobs.map { bytes in
            try log.write(author: nil) { transaction in
                try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            }.value
        }
        let old = log.snapshot()
        _ = try log.write(author: nil) { for id in ids where id % 4 != 0 { try $0.deleteBlob(id) } }
        try log.checkpoint()
        let count = store.files(.blobSegment).count
        let report = try log.compact()
        #expect(report.segmentCount >= 3 && report.heldByteCount > 0)
        for id in ids { #expect(try old.blob(id) == blobs[Int(id) - 1]) }
        for id in ids where id % 4 == 0 { #expect(try log.snapshot().blob(id) == blobs[Int(id) - 1]) }
        #expect(try log.findings().isEmpty)
        withExtendedLifetime(old) {}
        try log.close()
        let again = try store.open(options)
        #expect(store.files(.blobSegment).count < count)
        for id in ids where id % 4 == 0 { #expect(try again.snapshot().blob(id) == blobs[Int(id) - 1]) }
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func `a reader beside the writer goes on, and a new one finds the same`() throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        var reading = options
        reading.access = .reading
        let reader = try store.open(reading, on: FailingDisk(over: store.disk))
        #expect(try log.compact().segmentCount > 0)
        try expectAll(reader.snapshot(), keptEvery: 8)
        let other = try store.open(reading, on: FailingDisk(over: store.disk))
        try expectAll(other.snapshot(), keptEvery: 8)
        #expect(try other.findings().isEmpty)
        try reader.close()
        try other.close()
        try log.close()
    }

    @Test func `an unfinished copy makes a closed store unclean`() throws {
        let (store, log, _) = try store(updatingAllBut: 8)
        try log.compact()
        // The cold segment is open, and there are records to move to it.
        for number in 1...40 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(700 + number, byteCount: 100)) }
        }
        for number in 1...10 { try log.insert([row(300 + number, byteCount: 900)], in: plainTable) }
        for number in 1...40 where number % 8 != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(800 + number, byteCount: 100)) }
        }
        for number in 1...10 { try log.insert([row(400 + number, byteCount: 900)], in: plainTable) }
        try log.close()
        let cold = try #require(store.files(.coldSegment).last)
        let byteCount = try #require(store.disk.bytes(of: cold)?.count)

        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var killed: Store?
        store.disk.onOperation = { disk, _ in
            guard killed == nil, (disk.bytes(of: cold)?.count ?? 0) > byteCount else { return }
            killed = Store(disk.afterProcessDeath())
        }
        try again.compact()
        store.disk.onOperation = nil
        again.abandonForTests()

        let found = try #require(killed)
        let last = try found.open(options)
        #expect(!last.openReport.wasClean)
        // No offset of the file is written twice.
        let before = try #require(found.disk.bytes(of: cold))
        try last.compact()
        #expect(found.disk.bytes(of: cold).map { $0 == before } ?? true)
        #expect(try last.findings().isEmpty)
        for number in 1...40 {
            let expected = number % 8 == 0 ? 700 + number : 800 + number
            #expect(try last.snapshot().row(UInt64(number)) == row(expected, byteCount: 100))
        }
        try last.close()
    }
}
