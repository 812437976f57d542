import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Synchronization
import Testing

/// Space that is prepared for small commits by zeros behind the log's end.
struct ZerosAheadTests {
    private static let firstByteCount = 2_000

    private static var options: LogOptions {
        var options = Store.options
        options.preparedByteCount = firstByteCount
        return options
    }

    /// One transaction of one row.
    private func commit(_ log: Log, _ number: Int, byteCount: Int = 250) throws {
        try log.insert([row(number, byteCount: byteCount)], in: plainTable)
    }

    private func hotPath(_ store: Store) throws -> String { try #require(store.files(.hotSegment).last) }

    /// The end of the log in its newest segment.
    private func logEnd(_ log: Log) throws -> Int {
        let segments = try log.usage().segments.filter { $0.kind == .hotSegment }
        return Int(try #require(segments.last).byteCount)
    }

    /// Bytes of the newest segment behind the log's end.
    private func preparedByteCount(_ store: Store, _ log: Log) throws -> Int {
        try store.disk.contents(hotPath(store)).count - logEnd(log)
    }

    /// A store that was not closed, with zeros behind its log.
    private func killedStore() throws -> (store: Store, logEnd: Int, count: Int) {
        let store = Store()
        let log = try store.open(Self.options)
        var count = 0
        while try preparedByteCount(store, log) < Self.firstByteCount / 2 {
            try commit(log, count)
            count += 1
        }
        let end = try logEnd(log)
        log.abandonForTests()
        return (store.killed, end, count)
    }

    @Test func preparesNoMoreThanSmallCommitsWrite() throws {
        let store = Store()
        let counting = CountingDisk(over: store.disk)
        let log = try store.open(Self.options, on: counting)
        let path = try hotPath(store)
        var lengthChanges = 0
        var length = 0
        for number in 0..<200 {
            let before = counting.counts(of: path)
            try commit(log, number)
            let added = counting.counts(of: path) - before
            #expect(added.synchronizations == 1)
            #expect(added.writes <= 2)

            let frames = try logEnd(log) - FileHeader.byteCount
            let zeros = counting.counts(of: path).bytesWritten - frames - FileHeader.byteCount
            #expect(zeros <= frames)
            // A store with few commits gets no zeros.
            if frames < Self.firstByteCount { #expect(zeros == 0) }
            let now = try store.disk.contents(path).count
            if now != length { lengthChanges += 1 }
            length = now
        }
        // Without zeros each commit makes the file longer.
        #expect(lengthChanges < 80)
        try log.close()
    }

    @Test func preparesNothingForBulkWrites() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 0..<8 {
            try commit(log, number, byteCount: 70_000)
            #expect(try preparedByteCount(store, log) == 0)
        }
        try log.close()
    }

    @Test func preparesNothingWhereNobodyWaits() throws {
        let store = Store()
        var options = Self.options
        options.durability = .async
        let log = try store.open(options)
        for number in 0..<50 { try commit(log, number) }
        try log.checkpoint()
        #expect(try preparedByteCount(store, log) == 0)
        try log.close()
    }

    @Test func preparesNothingWhereTheFileSystemIsNotKnown() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        failing.arm(DiskFault(isSticky: true) { $0.kind == .fileSystem })
        let log = try store.open(Self.options, on: failing)
        // Two calls: one for the remote file system, one for zeros ahead.
        #expect(failing.hitCount == 2)
        for number in 0..<50 { try commit(log, number) }
        #expect(try preparedByteCount(store, log) == 0)
        try log.close()
    }

    @Test func endsTheFileWhereTheLogEndsWhenItIsClosed() throws {
        let (store, _, count) = try killedStore()
        let log = try store.open(Self.options)
        for number in 0..<60 { try commit(log, count + number) }
        #expect(try preparedByteCount(store, log) > 0)
        let end = try logEnd(log)
        try log.close()

        #expect(try store.disk.contents(hotPath(store)).count == end)
        let again = try store.open(Self.options)
        #expect(again.openReport.wasClean)
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func endsSealedSegmentsWhereTheirLogEnds() throws {
        let store = Store()
        var options = Self.options
        options.segmentByteCount = 9_000
        let log = try store.open(options)
        for number in 0..<100 { try commit(log, number) }
        let segments = try log.usage().segments.filter(\.isSealed)
        #expect(segments.count > 2)
        for segment in segments {
            let path = Store.path + "/" + FileName.numbered(.hotSegment, segment.number)
            #expect(try store.disk.contents(path).count == Int(segment.byteCount))
        }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func leavesAFileThatFailedAsItIs() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        let log = try store.open(Self.options, on: failing)
        var number = 0
        while try preparedByteCount(store, log) < 1_000 {
            try commit(log, number)
            number += 1
        }
        let length = try store.disk.contents(hotPath(store)).count
        failing.arm(DiskFault { $0.site == "log.commit" })
        #expect(throws: LogError.self) { try commit(log, number) }
        try log.close()
        #expect(try store.disk.contents(hotPath(store)).count == length)
        let again = try store.open(Self.options)
        #expect(again.snapshot().recordCount(of: plainTable) >= number)
        try again.close()
    }

    @Test func countsNoZerosAsDiscarded() throws {
        let (store, end, count) = try killedStore()
        let path = try hotPath(store)
        let log = try store.open(Self.options)
        #expect(!log.openReport.wasClean)
        #expect(log.openReport.discardedByteCount == 0)
        #expect(log.snapshot().recordCount(of: plainTable) == count)
        // A file that a crash may have torn is never truncated.
        #expect(try store.disk.contents(path).count > end)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func countsWhatATornFrameLeavesAmidZeros() throws {
        let (store, end, count) = try killedStore()
        let path = try hotPath(store)
        try store.disk.overwrite(path, at: end + 100, [1, 2, 3])
        let log = try store.open(Self.options)
        #expect(log.openReport.discardedByteCount == 104)
        #expect(log.snapshot().recordCount(of: plainTable) == count)
        try log.close()
    }

    @Test func isCleanWithZerosThatClosingCouldNotCut() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        let log = try store.open(Self.options, on: failing)
        for number in 0..<60 { try commit(log, number) }
        #expect(try preparedByteCount(store, log) > 0)
        failing.arm(DiskFault { $0.kind == .cut })
        try log.close()
        #expect(failing.hitCount == 1)

        let path = try hotPath(store)
        let rotten = store.killed
        let length = try rotten.disk.contents(path).count
        try rotten.disk.overwrite(path, at: length - 1, [1])
        let damaged = try rotten.open(Self.options)
        #expect(!damaged.openReport.wasClean)
        #expect(damaged.snapshot().recordCount(of: plainTable) == 60)
        damaged.abandonForTests()

        let again = try store.open(Self.options)
        #expect(again.openReport.wasClean)
        for number in 60..<63 { try commit(again, number) }
        again.abandonForTests()
        #expect(try store.killed.open(Self.options).snapshot().recordCount(of: plainTable) == 63)
    }

    @Test func commitsWhereTheZerosFindNoSpace() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        let log = try store.open(Self.options, on: failing)
        let path = try hotPath(store)
        failing.arm(
            DiskFault(errorNumber: 28, isSticky: true) {
                $0.kind == .write && $0.path == path && ($0.byteCount ?? 0) >= Self.firstByteCount
            })
        for number in 0..<60 { try commit(log, number) }
        #expect(failing.hitCount > 2)
        #expect(log.failure == nil)
        #expect(try preparedByteCount(store, log) == 0)
        try log.close()
    }

    @Test func isPoisonedWhereTheZerosMeetAFailingDisk() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        let log = try store.open(Self.options, on: failing)
        failing.arm(DiskFault { $0.kind == .write && ($0.byteCount ?? 0) >= Self.firstByteCount })
        var code: LogError.Code?
        for number in 0..<60 where code == nil {
            do { try commit(log, number) } catch let error as LogError { code = error.code }
        }
        #expect(code == .outcomeUnknown)
        try log.close()
    }

    @Test func meetsAFullDiskAsWithoutZeros() throws {
        var counts: [Int] = []
        for preparedByteCount in [0, Self.firstByteCount] {
            let store = Store()
            store.disk.byteCapacity = 300_000
            var options = Self.options
            options.preparedByteCount = preparedByteCount
            let log = try store.open(options)
            var code: LogError.Code?
            while code == nil {
                do { try commit(log, log.snapshot().recordCount(of: plainTable)) } catch let error as LogError {
                    code = error.code
                }
            }
            #expect(code == .fullDisk)
            #expect(log.failure == nil)
            counts.append(log.snapshot().recordCount(of: plainTable))
            log.abandonForTests()
        }
        #expect(counts[0] == counts[1])
        #expect(counts[0] > 400)
    }

    /// The ends of the log's writes and of its reserved space.
    private final class Ends: Sendable {
        private struct State {
            var reserved: UInt64 = 0
            var beyond: UInt64 = 0
        }
        private let state = Guarded(State())

        /// The largest number of bytes written beyond the reserved space.
        var byteCountBeyond: UInt64 { state.withLock { $0.beyond } }

        func note(_ operation: DiskOperation) {
            let end = (operation.offset ?? 0) + UInt64(operation.byteCount ?? 0)
            state.withLock { state in
                if operation.kind == .reserve { state.reserved = end }
                if operation.kind == .write, end > state.reserved {
                    state.beyond = max(state.beyond, end - state.reserved)
                }
            }
        }
    }

    @Test func takesNoSpaceButWhatWasSetAside() throws {
        let store = Store()
        let failing = FailingDisk(over: store.disk)
        var options = Self.options
        options.preparedByteCount = 40_000
        let log = try store.open(options, on: failing)
        let path = try hotPath(store)
        let ends = Ends()
        failing.arm(
            DiskFault { operation in
                if operation.path == path { ends.note(operation) }
                return false
            })
        for number in 0..<30 { try commit(log, number, byteCount: 20_000) }
        #expect(ends.byteCountBeyond == 0)
        try log.close()
    }

    @Test func isNoLossToASalvage() throws {
        let (store, _, count) = try killedStore()
        let salvaged = try SalvagedStore(store)
        #expect(salvaged.report.tornByteCount == 0)
        #expect(!salvaged.report.hasLoss)
        #expect(try salvaged.open().snapshot().recordCount(of: plainTable) == count)
    }

    @Test func isNothingToAReaderBesideTheWriter() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 0..<60 { try commit(log, number) }
        #expect(try preparedByteCount(store, log) > 0)
        let end = try logEnd(log)
        var options = Self.options
        options.access = .reading
        // Like another process.
        let reader = try Store(store.disk.afterProcessDeath()).open(options)
        #expect(reader.snapshot().recordCount(of: plainTable) == 60)
        #expect(try logEnd(reader) == end)
        #expect(try reader.findings().isEmpty)
        try reader.close()
        try log.close()
    }
}
