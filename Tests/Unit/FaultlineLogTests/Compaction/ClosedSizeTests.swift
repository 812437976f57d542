import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// The size of a store of one megabyte of live data after a close, for several histories.
struct ClosedSizeTests {
    enum Past: CaseIterable, Sendable { case updates, deletes, values, deletedValues, givenUp, kills }

    private static let rowCount = 2_000
    private static let options: LogOptions = {
        var options = LogOptions()
        options.seed = 1
        options.maintenance = .inline
        options.isCompressingBlobs = false
        return options
    }()

    private static func value(_ number: Int) -> [UInt8] { row(number, byteCount: 10_000) }

    /// Writes a megabyte of rows, and something that is over.
    private static func write(_ past: Past, to log: Log, round: Int) throws {
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        func update() throws {
            _ = try log.write(author: nil) { transaction in
                for id in 1...rowCount {
                    try transaction.put(UInt64(id), row(id + round, byteCount: 450), in: plainTable)
                }
            }
        }
        switch past {
        case .updates, .kills:
            for _ in 0..<4 { try update() }
        case .deletes:
            let ids = try log.insert((0..<10_000).map { row($0, byteCount: 450) }, in: plainTable)
            _ = try log.write(author: nil) { for id in ids { try $0.delete(id, in: plainTable) } }
        case .values, .deletedValues:
            let ids = try log.write(author: nil) { transaction in
                try (0..<400).map { number in
                    try value(number).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }
            }.value
            let kept = past == .values && round == 9 ? 100 : 0
            _ = try log.write(author: nil) { for id in ids.dropFirst(kept) { try $0.deleteBlob(id) } }
        case .givenUp:
            _ = try? log.write(author: nil) { transaction in
                for id in 1...8_000 { try transaction.put(UInt64(id), row(id, byteCount: 450), in: plainTable) }
                throw LogError(.abandoned, "")
            }
        }
    }

    @Test(arguments: Past.allCases) func `is at most three megabytes`(_ past: Past) throws {
        let store = Store()
        var log = try store.open(Self.options, deriver: NoIndexes())
        let hasRows = past != .values
        if hasRows { try log.insert((1...Self.rowCount).map { row($0, byteCount: 450) }, in: plainTable) }
        for round in 0..<10 {
            try Self.write(past, to: log, round: round)
            guard past == .kills, round < 9 else { continue }
            log.abandonForTests()
            log = try store.open(Self.options, deriver: NoIndexes())
        }
        #expect(store.segmentByteCount > 4_000_000)
        try log.close()
        let byteCount = store.disk.fileSizes.values.reduce(0, +)
        #expect(byteCount <= 3_000_000, "\(store.disk.fileSizes)")

        log = try store.open(Self.options, deriver: NoIndexes())
        #expect(log.openReport.wasClean)
        #expect(log.snapshot().recordCount(of: plainTable) == (hasRows ? Self.rowCount : 0))
        if past == .updates {
            for id in 1...Self.rowCount {
                #expect(try log.snapshot().row(UInt64(id), in: plainTable) == row(id + 9, byteCount: 450))
            }
        }
        if past == .values { #expect(log.snapshot().recordCount(of: .blobs) == 100) }
        #expect(try log.findings().isEmpty)
        try log.close()
        #expect(try store.rebuilt().snapshot().recordCount(of: plainTable) == (hasRows ? Self.rowCount : 0))
    }

    /// Closing does not wait for the compaction of a store with much live data.
    @Test func `a larger store is closed as it is`() throws {
        let store = Store()
        let log = try store.open(Self.options, deriver: NoIndexes())
        try log.insert((0..<12_000).map { row($0, byteCount: 450) }, in: plainTable)
        for _ in 0..<3 {
            _ = try log.write(author: nil) { transaction in
                for id in 1...12_000 { try transaction.put(UInt64(id), row(id, byteCount: 450), in: plainTable) }
            }
        }
        let before = store.segmentByteCount
        try log.close()
        #expect(store.segmentByteCount >= before)
    }

    @Test func `the request reaches the segments that are being written`() throws {
        let store = Store()
        let log = try store.open(Store.options, deriver: NoIndexes())
        try log.insert((0..<500).map { row($0, byteCount: 450) }, in: plainTable)
        for _ in 0..<10 {
            _ = try log.write(author: nil) { transaction in
                for id in 1...500 { try transaction.put(UInt64(id), row(id, byteCount: 450), in: plainTable) }
            }
        }
        let live = try log.usage().liveByteCount
        try log.compact()
        #expect(store.segmentByteCount < live * 3 / 2)
        let sequence = log.snapshot().sequence
        try log.compact()
        #expect(log.snapshot().sequence == sequence)
        try log.insert([row(1)], in: plainTable)
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        #expect(try store.killed.open(deriver: NoIndexes()).snapshot().recordCount(of: plainTable) == 501)
    }
}
