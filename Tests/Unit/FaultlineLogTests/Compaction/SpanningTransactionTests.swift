import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Transactions in two segments, one of which compaction takes.
struct SpanningTransactionTests {
    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 2_000
        options.frameByteCount = 400
        return options
    }

    private let store = Store()

    /// Updates objects with other records in between, so that the earlier segments are sealed, and only the old
    /// versions in them are dead.
    private func update(_ updated: ClosedRange<Int>, _ log: Log) throws {
        for _ in 0..<6 { try log.insert([row(500, byteCount: 900)], in: TableID(rawValue: 18)) }
        for id in updated {
            _ = try log.write(author: nil) { try $0.put(UInt64(id), row(100 + id, byteCount: 100), in: plainTable) }
        }
        for _ in 0..<6 { try log.insert([row(500, byteCount: 900)], in: TableID(rawValue: 18)) }
        try log.checkpoint()
    }

    /// Checks that the store is the same with its derived files and from its segments alone.
    private func expectAll(_ count: Int, updated: ClosedRange<Int>) throws {
        for ignoresDerivedFiles in [false, true] {
            var options = options
            options.ignoresDerivedFiles = ignoresDerivedFiles
            let log = try store.killed.open(options)
            for id in 1...count {
                let expected = updated.contains(id) ? 100 + id : id
                #expect(
                    try log.snapshot().row(UInt64(id), in: plainTable) == row(expected, byteCount: 100), "object \(id)")
            }
            log.abandonForTests()
        }
    }

    /// Checks how many objects a table has that is read from the segments alone.
    private func expectRebuilt(
        _ count: UInt64, in table: TableID, then check: (Snapshot) throws -> Void = { _ in }
    ) throws {
        let log = try store.rebuilt(options)
        #expect(log.snapshot().recordCount(of: table) == count)
        try check(log.snapshot())
        log.abandonForTests()
    }

    /// Writes a transaction with the objects 9 to 28, of which 9 to 14 are in the first segment.
    private func openWithTwoSegments() throws -> (log: Log, segments: [String]) {
        let log = try store.open(options)
        try log.insert((1...8).map { row($0, byteCount: 100) }, in: plainTable)
        try log.insert((9...28).map { row($0, byteCount: 100) }, in: plainTable)
        let segments = store.files(.hotSegment)
        #expect(segments.count >= 2)
        return (log, segments)
    }

    @Test func `the end stays as long as the beginning does`() throws {
        let (log, segments) = try openWithTwoSegments()
        try update(15...28, log)
        try log.compact()
        // All of the second is dead, except for the record that ends the transaction.
        #expect(store.files(.hotSegment).contains(segments[0]) && store.files(.hotSegment).contains(segments[1]))
        log.abandonForTests()
        try expectAll(28, updated: 15...28)
    }

    @Test func `the end is enough, where the beginning is gone`() throws {
        let (log, segments) = try openWithTwoSegments()
        try update(1...14, log)
        try log.compact()
        #expect(!store.files(.hotSegment).contains(segments[0]) && store.files(.hotSegment).contains(segments[1]))
        log.abandonForTests()
        try expectAll(28, updated: 1...14)
    }

    @Test func `records of an abandoned transaction do not count as a lost beginning`() throws {
        let log = try store.open(options)
        try log.insert((1...11).map { row($0, byteCount: 100) }, in: plainTable)
        // One part is written at the end of the first segment.
        let error = #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                for id in 1...3 { try transaction.put(UInt64(id), row(900, byteCount: 100), in: plainTable) }
                transaction.abandon()
            }
        }
        #expect(error?.code == .abandoned)
        // One part fills the second segment, the others follow it.
        let rows = [row(12, byteCount: 1_900)] + (13...28).map { row($0, byteCount: 100) }
        try log.insert(rows, in: plainTable)
        let segments = store.files(.hotSegment)
        #expect(segments.count >= 3)
        try update(12...12, log)
        try log.compact()
        let left = store.files(.hotSegment)
        #expect(left.contains(segments[0]) && !left.contains(segments[1]) && left.contains(segments[2]))
        log.abandonForTests()
        try expectAll(28, updated: 12...12)
    }

    @Test(arguments: [false, true]) func `a segment that has to stay is no reason for checkpoints`(
        isBeginningRotten: Bool
    ) throws {
        let (log, segments) = try openWithTwoSegments()
        try update((isBeginningRotten ? 1 : 15)...28, log)
        // Wholly dead segments are not read.
        if isBeginningRotten {
            try log.insert([row(1)], in: plainTable)
            store.disk.flip(bit: 200 * 8, of: segments[0])
        }
        let report = try log.compact()
        #expect(report.damage.count == (isBeginningRotten ? 1 : 0))
        #expect(store.files(.hotSegment).contains(segments[1]))
        let operationCount = store.disk.operationCount
        let checkpoints = store.files(.tableCheckpoint)
        try log.checkpoint()
        #expect(store.disk.operationCount == operationCount)
        try log.close()
        #expect(store.files(.tableCheckpoint) == checkpoints)
        // Nor is it read again and again.
        guard !isBeginningRotten else { return }
        let counted = CountingDisk(over: store.disk)
        let again = try store.open(options, on: counted)
        counted.reset()
        try again.compact()
        #expect(counted.counts.bytesWritten == 0 && counted.counts(of: segments[1]).bytesRead < 100)
        try again.close()
    }

    /// Creates a table in a segment that stays, drops it in a transaction of two others, and abandons that transaction
    /// or not.
    private func openWithDroppedTable(givingUp: Bool) throws -> (log: Log, segments: [String]) {
        let log = try store.open(options)
        try log.insert([row(800, byteCount: 1_700)], in: TableID(rawValue: 20))
        try log.insert([row(1, byteCount: 100), row(2, byteCount: 100)], in: droppedTable)
        try log.insert((1...4).map { row($0, byteCount: 100) }, in: plainTable)
        do {
            _ = try log.write(author: nil) { transaction in
                try transaction.dropTable(droppedTable)
                for number in 5...28 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
                if givingUp { transaction.abandon() }
            }
        } catch let error as LogError {
            #expect(givingUp && error.code == .abandoned)
        }
        let segments = Array(store.files(.hotSegment).dropFirst())
        #expect(segments.count >= 2)
        return (log, segments)
    }

    private let droppedTable = TableID(rawValue: 19)

    @Test(arguments: [false, true]) func `a table that is dropped in two segments is no rot`(isReused: Bool) throws {
        let (log, segments) = try openWithDroppedTable(givingUp: false)
        // Some of the table's rows come later, and its drop must not remove them.
        if isReused { try log.insert([row(70, byteCount: 100)], in: droppedTable) }
        try update(1...28, log)
        let report = try log.compact()
        #expect(report.damage.isEmpty)
        #expect(!store.files(.hotSegment).contains(segments[0]) && !store.files(.hotSegment).contains(segments[1]))
        log.abandonForTests()
        try expectAll(28, updated: 1...28)
        try expectRebuilt(isReused ? 1 : 0, in: droppedTable)
    }

    @Test func `a drop that was given up in the second segment drops nothing`() throws {
        let (log, segments) = try openWithDroppedTable(givingUp: true)
        try log.insert((5...28).map { row($0, byteCount: 100) }, in: plainTable)
        try update(1...28, log)
        let report = try log.compact()
        #expect(report.damage.isEmpty)
        #expect(!store.files(.hotSegment).contains(segments[0]))
        #expect(log.snapshot().recordCount(of: droppedTable) == 2)
        log.abandonForTests()
        try expectAll(28, updated: 1...28)
        try expectRebuilt(2, in: droppedTable) { snapshot throws in
            #expect(try snapshot.row(2, in: droppedTable) == row(2, byteCount: 100))
        }
    }

    @Test func `a drop that was given up drops nothing when all of it is moved`() throws {
        let log = try store.open(options)
        try log.insert([row(800, byteCount: 1_700)], in: TableID(rawValue: 20))
        try log.insert([row(1, byteCount: 100), row(2, byteCount: 100)], in: droppedTable)
        let first = store.files(.hotSegment)
        let error = #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                try transaction.dropTable(droppedTable)
                for number in 1...4 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
                transaction.abandon()
            }
        }
        #expect(error?.code == .abandoned)
        // The next transaction has the number of the abandoned one, and follows it.
        try log.insert((1...4).map { row($0, byteCount: 100) }, in: plainTable)
        let segments = store.files(.hotSegment)
        #expect(first.count == 1 && segments.count == 2)
        for _ in 0..<4 {
            for id in 1...4 as ClosedRange<UInt64> {
                _ = try log.write(author: nil) { try $0.put(id, row(9, byteCount: 100), in: plainTable) }
            }
        }
        try update(1...4, log)
        #expect(try log.compact().damage.isEmpty)
        #expect(store.files(.hotSegment).contains(segments[0]) && !store.files(.hotSegment).contains(segments[1]))
        log.abandonForTests()
        try expectAll(4, updated: 1...4)
        try expectRebuilt(2, in: droppedTable)
    }

    @Test func `a delete that was given up deletes no object that gets its identifier later`() throws {
        let log = try store.open(options)
        // A segment that stays, so that deletes of the next ones are needed.
        try log.insert([row(800, byteCount: 1_700)], in: TableID(rawValue: 20))
        let error = #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                for number in 1...28 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
                for id in 1...28 as ClosedRange<UInt64> { try transaction.delete(id, in: plainTable) }
                for number in 29...60 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
                transaction.abandon()
            }
        }
        #expect(error?.code == .abandoned)
        let segments = store.files(.hotSegment)
        #expect(segments.count >= 4)
        try log.checkpoint()
        #expect(try log.compact().damage.isEmpty)
        #expect(!store.files(.hotSegment).contains(segments[2]))
        // The next transaction has the number of the abandoned one, and gives its identifiers to other objects.
        try log.insert((1...28).map { row($0, byteCount: 100) }, in: plainTable)
        log.abandonForTests()
        try expectAll(28, updated: 0...0)
    }

    @Test func `a delete is kept that follows one that was given up`() throws {
        let log = try store.open(options)
        // The object lies in a segment that stays.
        try log.insert([row(1, byteCount: 100)], in: plainTable)
        try log.insert([row(800, byteCount: 1_500)], in: TableID(rawValue: 20))
        let error = #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                for number in 2...60 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
                for id in 2...11 as ClosedRange<UInt64> { try transaction.delete(id, in: plainTable) }
                transaction.abandon()
            }
        }
        #expect(error?.code == .abandoned)
        _ = try log.write(author: nil) { try $0.delete(1, in: plainTable) }
        let segments = store.files(.hotSegment)
        let last = try #require(segments.last)
        #expect(segments.count > 4)
        for _ in 0..<6 {
            _ = try log.write(author: nil) { try $0.put(1, row(500, byteCount: 900), in: TableID(rawValue: 18)) }
        }
        try log.checkpoint()
        #expect(try log.compact().damage.isEmpty)
        #expect(store.files(.hotSegment).contains(segments[0]) && !store.files(.hotSegment).contains(last))
        log.abandonForTests()
        try expectRebuilt(0, in: plainTable)
    }

    @Test func `a delete is kept whose transaction ends in a later segment`() throws {
        let log = try store.open(options)
        // The object lies in a segment that stays.
        try log.insert([row(1, byteCount: 100)], in: plainTable)
        try log.insert([row(800, byteCount: 1_700)], in: TableID(rawValue: 20))
        _ = try log.write(author: nil) { transaction in
            try transaction.delete(1, in: plainTable)
            for number in 2...60 { _ = try transaction.insert(row(number, byteCount: 100), in: plainTable) }
        }
        let segments = store.files(.hotSegment)
        #expect(segments.count >= 4)
        // The segment with the delete becomes mostly dead.
        try update(2...60, log)
        #expect(try log.compact().damage.isEmpty)
        #expect(store.files(.hotSegment).contains(segments[0]) && !store.files(.hotSegment).contains(segments[1]))
        log.abandonForTests()
        try expectRebuilt(59, in: plainTable)
    }

    @Test func `the end of an abandoned transaction in many segments is searched for once`() throws {
        let log = try store.open(options)
        // The object lies in a segment that stays.
        try log.insert([row(1, byteCount: 100)], in: plainTable)
        try log.insert([row(800, byteCount: 1_500)], in: TableID(rawValue: 20))
        let error = #expect(throws: LogError.self) {
            _ = try log.write(author: nil) { transaction in
                for number in 2...500 {
                    let id = try transaction.insert(row(number, byteCount: 100), in: plainTable)
                    try transaction.delete(id, in: plainTable)
                }
                transaction.abandon()
            }
        }
        #expect(error?.code == .abandoned)
        let segments = store.files(.hotSegment)
        let last = try #require(segments.last)
        #expect(segments.count > 40)
        // The next transaction has the number of the abandoned one, and follows it in its last segment.
        _ = try log.write(author: nil) { try $0.delete(1, in: plainTable) }
        #expect(store.files(.hotSegment) == segments)
        for _ in 0..<6 {
            _ = try log.write(author: nil) { try $0.put(1, row(500, byteCount: 900), in: TableID(rawValue: 18)) }
        }
        try log.checkpoint()
        log.abandonForTests()
        let counted = CountingDisk(over: store.disk)
        let again = try store.open(options, on: counted)
        counted.reset()
        #expect(try again.compact().damage.isEmpty)
        #expect(store.files(.hotSegment).contains(segments[0]) && !store.files(.hotSegment).contains(last))
        let byteCount = segments.count * Int(options.segmentByteCount)
        #expect(counted.counts.bytesRead < 6 * byteCount, "of \(byteCount)")
        again.abandonForTests()
        try expectRebuilt(0, in: plainTable)
    }
}
