import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct LogTests {
    @Test func readsBackWhatWasWrittenAfterClosingAndAfterAKill() throws {
        var store = Store()
        var log = try store.open()
        #expect(log.openReport.wasCreated)
        let ids = try log.insert((0..<500).map { row($0) })
        _ = try log.write(author: "me") { transaction in
            try transaction.put(ids[7], row(9_999))
            try transaction.erase(ids[8])
        }

        func expectAll(_ snapshot: Snapshot) throws {
            #expect(snapshot.sequence == 2)
            #expect(snapshot.recordCount(of: testTable) == 499)
            for (number, id) in ids.enumerated() {
                #expect(try snapshot.row(id) == (number == 8 ? nil : number == 7 ? row(9_999) : row(number)))
            }
            #expect(try snapshot.firstID(row(9_999)) == ids[7])
            #expect(try snapshot.firstID(row(7)) == nil)
            #expect(try snapshot.firstID(row(8)) == nil)
            #expect(try snapshot.firstID(row(9)) == ids[9])
        }
        try expectAll(log.snapshot())
        store = store.killed
        let killed = try store.open()
        #expect(!killed.openReport.wasClean)
        try expectAll(killed.snapshot())
        try killed.close()
        log = try store.open()
        #expect(log.openReport.wasClean)
        #expect(log.openReport.replayedByteCount == 0)
        try expectAll(log.snapshot())
        #expect(try log.findings().isEmpty)
    }

    @Test func givesIdentifiersOnlyOnce() throws {
        let store = Store()
        var log = try store.open()
        let ids = try log.insert([row(1), row(2), row(3)])
        _ = try log.write(author: nil) { try $0.erase(ids[2]) }
        try log.close()
        log = try store.open()
        #expect(try log.insert([row(4)]) == [ids[2] + 1])
    }

    @Test func keepsWallTimeFromRunningBack() throws {
        let store = Store()
        let log = try Log.open(
            Store.path, on: store.disk, clock: Clock { -7 }, options: Store.options, deriver: WholeRowDeriver())
        let first = try log.write(author: nil) { _ = try $0.insert(row(1)) }.receipt
        try log.close()
        let again = try store.open()
        let second = try again.write(author: nil) { _ = try $0.insert(row(2)) }.receipt
        #expect(first.wallNanoseconds >= 0)
        #expect(second.wallNanoseconds >= first.wallNanoseconds)
    }

    @Test func keepsTheClockAsItWasRead() throws {
        let store = Store()
        // A jump into the future, then the right time again.
        for nanoseconds: Int64 in [4_000_000_000_000, 70] {
            let log = try Log.open(
                Store.path, on: store.disk, clock: Clock { nanoseconds }, options: Store.options,
                deriver: WholeRowDeriver())
            let receipt = try log.write(author: nil) { _ = try $0.insert(row(Int(nanoseconds))) }.receipt
            #expect(receipt.wallNanoseconds == 4_000_000_000_000)
            try log.close()
        }
        let segment = FrameBytes(try store.disk.contents(try #require(store.files(.hotSegment).last)))
        let clocks = try segment.offsets.map { frame in
            let record = try #require(segment.records(of: frame).last)
            return (segment.number(record + 24 + 24, 8), segment.number(record + 24 + 64, 8))
        }
        #expect(clocks.map(\.0) == [4_000_000_000_000, 4_000_000_000_000])
        #expect(clocks.map(\.1) == [4_000_000_000_000, 70])
    }

    @Test func answersWhetherATransactionLanded() throws {
        let store = Store()
        let log = try store.open()
        var receipts: [CommitReceipt] = []
        for number in 0..<5 {
            receipts.append(try log.write(author: nil) { _ = try $0.insert(row(number)) }.receipt)
            if number == 2 { try log.checkpoint() }
        }
        let again = try store.killed.open()
        for receipt in receipts { #expect(try again.landed(receipt.transaction)) }
        #expect(try !again.landed(TransactionID(high: 1, low: 2)))
    }

    @Test func countsWhatAStoreTakes() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert((0..<100).map { row($0, byteCount: 104) })
        let full = try log.usage()
        #expect(full.recordCounts == [testTable: 100])
        #expect(full.liveByteCount == 100 * 128)
        _ = try log.write(author: nil) { for id in ids.prefix(50) { try $0.erase(id) } }
        #expect(try log.usage().liveByteCount == 50 * 128)
        try log.checkpoint()
        let later = try log.usage()
        #expect(later.checkpointFileCount == 1)
        #expect(later.runCount == 1)
        #expect(later.byteCount >= 100 * 128)
    }

    @Test func servesEverybodyInTheProcessWithOneLog() throws {
        let store = Store()
        let first = try store.open()
        let second = try store.open()
        #expect(first === second)
        var reading = Store.options
        reading.access = .reading
        #expect(try store.open(reading) === first)
        try second.close()
        try second.close()
        try first.insert([row(1)])
        try first.close()
        #expect(throws: LogError.self) { try first.insert([row(2)]) }
        let third = try store.open()
        #expect(third !== first)
        #expect(third.openReport.wasClean)
    }

    @Test func opensAnewAfterAFailure() throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(on: disk)
        try log.insert([row(1)])
        disk.arm(DiskFault(of: [.synchronize], on: "/s-"))
        #expect(throws: LogError.self) { try log.insert([row(2)]) }
        #expect(log.failure != nil)
        disk.disarm()
        let again = try store.open(on: disk)
        #expect(again !== log)
        #expect(try log.snapshot().row(1) == row(1))
        #expect(throws: LogError.self) { try log.insert([row(3)]) }
        try again.insert([row(4)])
        #expect(try again.findings().isEmpty)
    }

    @Test func readsBesideAWriterWithoutWriting() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        try log.insert([row(2)])
        let before = store.disk.operationCount
        // Like another process: its handle is not this process's log.
        let other = CountingDisk(over: store.disk)
        var reading = Store.options
        reading.access = .reading
        let reader = try store.open(reading, on: other)
        #expect(reader !== log)
        #expect(store.disk.operationCount == before)
        // The last commit is not covered by a watermark yet.
        #expect(reader.snapshot().sequence == 1)
        #expect(try reader.snapshot().row(1) == row(1))
        #expect(throws: LogError.self) { try reader.insert([row(3)]) }
        #expect(store.disk.operationCount == before)
    }
}
