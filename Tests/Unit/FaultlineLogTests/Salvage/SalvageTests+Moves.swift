import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Dropped tables and compacted segments.
extension SalvageTests {
    @Test func endsWhatATableHeldWhenItWasDropped() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1), row(2)], in: plainTable)
        _ = try log.write(author: nil) { transaction in
            try transaction.put(3, row(3), in: plainTable)
            try transaction.dropTable(plainTable)
            try transaction.put(4, row(4), in: plainTable)
        }
        try log.close()
        let salvaged = try SalvagedStore(store)
        #expect(!salvaged.report.hasLoss && salvaged.report.recordCounts == [plainTable: 1])
        let new = try salvaged.open()
        #expect(try new.snapshot().row(4, in: plainTable) == row(4))
        try new.close()
    }

    @Test func takesWhatCompactionMoved() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let store = Store()
        let log = try store.open(options)
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...40 where number % 8 != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(100 + number, byteCount: 100)) }
        }
        for number in 1...10 { try log.insert([row(200 + number, byteCount: 900)], in: plainTable) }
        try log.checkpoint()
        try log.compact()
        try log.close()
        let path = try #require(store.files(.coldSegment).first)

        for isManifestThere in [true, false] {
            let damaged = Store(store.disk.afterProcessDeath())
            for path in damaged.files(.manifest) where !isManifestThere { try damaged.disk.remove(path) }
            let salvaged = try SalvagedStore(damaged)
            #expect(!salvaged.report.hasLoss)
            let new = try salvaged.open()
            for number in 1...40 {
                let expected = row(number % 8 == 0 ? number : 100 + number, byteCount: 100)
                #expect(try new.snapshot().row(UInt64(number)) == expected)
            }
            try new.close()
        }

        // Object 8 is the first that was moved; the list of origins follows the header.
        let bytes = try store.disk.contents(path)
        let moved = row(8, byteCount: 100)
        let place = try #require((0..<(bytes.count - 100)).first { Array(bytes[$0..<($0 + 100)]) == moved })
        for isHeader in [false, true] {
            let damaged = Store(store.disk.afterProcessDeath())
            damaged.disk.flip(bit: (isHeader ? place - 24 + 4 : place) * 8, of: path)
            let salvaged = try SalvagedStore(damaged)
            #expect(salvaged.report.lostRangeCount == 1 && salvaged.report.lostByteCount == 128)
            #expect(salvaged.report.recordCounts[testTable] == 39)
            // Without its header the object is unknown.
            #expect(salvaged.findings.contains(.lostObject(table: testTable, id: 8)) == !isHeader)
        }
    }

    /// The segment that recovery sealed need not hold transactions that recovery copied out of it.
    @Test func `misses nothing where compaction dropped what recovery had copied`() throws {
        var options = Store.options
        options.segmentByteCount = 8_000
        let store = Store()
        let log = try store.open(options)
        try log.insert((0..<30).map { row($0, byteCount: 200) })
        // No later frame records it as durable.
        let id = try log.insert([row(100)])[0]
        log.abandonForTests()
        try store.tear()
        let again = try store.open(options)
        #expect(again.openReport.rescuedTransactionCount == 1)
        for number in 101..<160 { _ = try again.write(author: nil) { try $0.put(id, row(number)) } }
        #expect(try again.compact().segmentCount > 0)
        try again.close()
        #expect(store.files(.hotSegment).contains { $0.hasSuffix("0000000000000001.fls") })

        let salvaged = try SalvagedStore(store, options: options)
        #expect(!salvaged.report.hasLoss)
        #expect(try salvaged.open().snapshot().row(id) == row(159))
    }
}
