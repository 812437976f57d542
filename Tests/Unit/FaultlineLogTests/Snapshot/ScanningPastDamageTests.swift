import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct ScanningPastDamageTests {
    /// The result of a scan past damage.
    private struct Outcome {
        var read: [RecordID] = []
        var unreadable: [ClosedRange<RecordID>] = []
        var areErrorsPlaced = true
    }

    private func scan(_ snapshot: Snapshot, stoppingAfter count: Int = .max) throws -> Outcome {
        var outcome = Outcome()
        try snapshot.scanPastDamage(testTable, readAhead: 16 << 10) { records in
            outcome.unreadable.append(records.ids)
            outcome.areErrorsPlaced = outcome.areErrorsPlaced && records.error.path != nil
        } _: { records in
            for record in records where outcome.read.count < count {
                #expect(Array(record.row) == row(Int(record.id), byteCount: 24))
                outcome.read.append(record.id)
            }
            return outcome.read.count < count
        }
        return outcome
    }

    /// A thousand records, some of them damaged: at both ends, adjacent, alone, and all of a batch.
    @Test(arguments: [[], [1...1], [1_000...1_000], [1...3], [256...257, 700...700], [300...640], [1...1_000]])
    func `everything but the damaged is read, in order`(ranges: [ClosedRange<Int>]) throws {
        let damaged = ranges.flatMap { Array($0) }
        let store = Store()
        let log = try store.open()
        try log.insert((1...1_000).map { row($0, byteCount: 24) })
        let path = try #require(store.files(.hotSegment).first)
        let bytes = try store.disk.contents(path)
        let first = try #require(bytes.firstRange(of: row(1, byteCount: 24))?.lowerBound)
        let second = try #require(bytes.firstRange(of: row(2, byteCount: 24))?.lowerBound)
        for number in damaged {
            let place = first + (number - 1) * (second - first)
            try store.disk.overwrite(path, at: place + 9, [bytes[place + 9] ^ 1])
        }
        let outcome = try scan(log.snapshot())
        #expect(outcome.unreadable == damaged.map { RecordID($0)...RecordID($0) })
        #expect(outcome.read == (1...1_000).filter { !damaged.contains(Int($0)) })
        #expect(outcome.areErrorsPlaced)
    }

    @Test func `a page that does not verify costs the records that it names`() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((1...1_000).map { row($0, byteCount: 24) })
        try log.close()
        let path = try #require(store.files(.tableCheckpoint).first)
        // The header, then a page for each 336 objects.
        try store.disk.overwrite(path, at: 2 * 4_096 + 100, [0xFF])
        let outcome = try scan(try store.open().snapshot())
        #expect(outcome.unreadable == [337...672])
        #expect(outcome.read == Array(1...336) + Array(673...1_000))
    }

    @Test func `stopping stops, before and behind damage`() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((1...1_000).map { row($0, byteCount: 24) })
        let path = try #require(store.files(.hotSegment).first)
        let place = try #require(try store.disk.contents(path).firstRange(of: row(100, byteCount: 24))?.lowerBound)
        try store.disk.overwrite(path, at: place + 9, [0xFF])
        let readable: [RecordID] = Array(1...99) + Array(101...1_000)
        for count in [50, 99, 100, 300] {
            let outcome = try scan(log.snapshot(), stoppingAfter: count)
            #expect(outcome.read == Array(readable.prefix(count)))
            #expect(outcome.unreadable.isEmpty == (count < 100))
        }
    }

    @Test func `an error of the body is not taken for damage`() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((1...10).map { row($0, byteCount: 24) })
        var callCount = 0
        #expect(throws: LogError.self) {
            try log.snapshot().scanPastDamage(testTable, readAhead: 4_096) { _ in
                Issue.record("nothing is damaged")
            } _: { _ in
                callCount += 1
                throw LogError(.damaged, "of another table")
            }
        }
        #expect(callCount == 1)
    }
}
