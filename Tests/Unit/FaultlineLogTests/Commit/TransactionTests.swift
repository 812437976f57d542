import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct TransactionTests {
    struct GivenUp: Error {}

    @Test func seesItsOwnRecordsAndEntries() throws {
        let log = try Store().open()
        let ids = try log.insert([row(1), row(2)])
        _ = try log.write(author: nil) { transaction in
            let id = try transaction.insert(row(3))
            #expect(try transaction.record(id, in: testTable) { Array($0.row) } == row(3))
            #expect(try transaction.record(ids[0], in: testTable) { Array($0.row) } == row(1))
            #expect(try transaction.firstID(row(3)) == id)
            try transaction.put(ids[0], row(4))
            #expect(try transaction.firstID(row(1)) == nil)
            #expect(try transaction.firstID(row(4)) == ids[0])
            // Two objects swap their keys.
            try transaction.put(ids[0], row(2))
            try transaction.put(ids[1], row(4))
            #expect(try transaction.firstID(row(2)) == ids[0])
            #expect(try transaction.firstID(row(4)) == ids[1])
            #expect(transaction.recordCount(of: testTable) == 3)
        }
        #expect(try log.findings().isEmpty)
    }

    @Test(arguments: [100, 2_000, 1 << 20]) func leavesNothingWhenItIsGivenUp(frameByteCount: Int) throws {
        var options = Store.options
        options.frameByteCount = frameByteCount
        let store = Store()
        let log = try store.open(options)
        let ids = try log.insert((0..<20).map { row($0) })
        for round in 0..<3 {
            #expect(throws: GivenUp.self) {
                try log.write(author: nil) { transaction in
                    for number in 0..<50 { _ = try transaction.insert(row(1_000 + number)) }
                    try transaction.put(ids[1], row(2_000))
                    try transaction.erase(ids[2])
                    throw GivenUp()
                }
            }
            #expect(throws: LogError.self) { try log.write(author: nil) { $0.abandon() } }
            #expect(log.snapshot().recordCount(of: testTable) == 20 + round)
            #expect(try log.snapshot().row(ids[1]) == row(1))
            #expect(try log.snapshot().firstID(row(1_003)) == nil)
            #expect(try log.insert([row(100 + round)]) == [UInt64(21 + round)])
        }
        #expect(try log.findings().isEmpty)
        let again = try store.killed.open(options)
        #expect(again.snapshot().recordCount(of: testTable) == 23)
        #expect(try again.findings().isEmpty)
    }

    @Test func isVisibleAsAWholeAfterARecoveryOfManyFrames() throws {
        var options = Store.options
        options.frameByteCount = 200
        options.segmentByteCount = 1_000
        let store = Store()
        let log = try store.open(options)
        try log.insert((0..<300).map { row($0) })
        #expect(store.files(.hotSegment).count > 10)
        let again = try store.killed.open(options)
        #expect(again.snapshot().recordCount(of: testTable) == 300)
        #expect(try again.findings().isEmpty)
    }

    @Test func writesNothingWhenItIsEmpty() throws {
        let store = Store()
        let log = try store.open()
        let before = store.disk.operationCount
        let receipt = try log.write(author: "editor") { _ in }.receipt
        #expect(receipt.sequence == 0)
        #expect(store.disk.operationCount == before)
    }

    @Test func refusesWhatIsTooLarge() throws {
        let log = try Store().open()
        #expect(throws: LogError.self) {
            try log.write(author: String(repeating: "a", count: 1_025)) { _ = try $0.insert(row(1)) }
        }
        #expect(throws: LogError.self) {
            try log.write(author: nil) { transaction in
                try transaction.put(
                    1, in: plainTable, layout: 1, changed: nil, flags: [], byteCount: Limits.frameBodyByteCountMax
                ) { _ in }
            }
        }
        try log.insert([row(1)])
        #expect(log.snapshot().sequence == 1)
    }

    @Test func refusesToDeleteWhatIsNotThere() throws {
        let log = try Store().open()
        #expect(throws: LogError.self) { try log.write(author: nil) { try $0.delete(9, in: plainTable) } }
    }

    @Test func dropsATableInOneRecord() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<1_000).map { row($0) }, in: plainTable)
        let bytes = try log.usage().byteCount
        _ = try log.write(author: nil) { try $0.dropTable(plainTable) }
        #expect(log.snapshot().recordCount(of: plainTable) == 0)
        #expect(try log.usage().byteCount < bytes + 300)
        #expect(try store.killed.open().snapshot().recordCount(of: plainTable) == 0)
    }

    @Test func keepsMasksAndFlagsOfRecords() throws {
        let log = try Store().open()
        _ = try log.write(author: nil) { transaction in
            try transaction.put(
                5, in: plainTable, layout: 77, changed: 0xF0F0, flags: [.hasExtension, .noIndexChange], byteCount: 3
            ) { $0.copyBytes(from: [7, 8, 9]) }
        }
        var buffer = RecordBuffer()
        let view = try #require(try log.snapshot().read(5, in: plainTable, into: &buffer))
        #expect(view.id == 5 && view.layout == 77 && view.changed == 0xF0F0)
        #expect(view.flags == [.changed, .hasExtension, .noIndexChange])
        #expect(Array(view.row) == [7, 8, 9])
        #expect(log.snapshot().nextID(of: plainTable) == 6)
    }

    @Test func tellsWhereTheRecordLiesThatIsReplacedNext() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert((0..<2_000).map { row($0) })
        // In other pages, one of which does not exist; id 0 belongs to no object.
        let looked: [RecordID] = [ids[0], ids[1_999], 1_000_000, 0, ids[700]]
        _ = try log.write(author: nil) { transaction in
            for id in looked {
                let location = try transaction.location(of: id, in: testTable)
                #expect(try transaction.locationToReplace(of: id, in: testTable) == location)
            }
            try transaction.put(ids[700], row(5_000))
            let own = try transaction.locationToReplace(of: ids[700], in: testTable)
            #expect(try own == transaction.location(of: ids[700], in: testTable))
            #expect(try own != log.snapshot().location(of: ids[700], in: testTable))
        }
        #expect(log.snapshot().recordCount(of: testTable) == 2_000)
        #expect(try log.snapshot().row(ids[700]) == row(5_000))
        #expect(try log.snapshot().row(ids[0]) == row(0))
        try log.close()
        #expect(try store.open().findings().isEmpty)
    }
}
