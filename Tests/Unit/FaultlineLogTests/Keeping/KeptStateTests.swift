import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Keeping a state, and restoring it.
struct KeptStateTests {
    private let store = Store()
    private let owner = BlobOwner(table: plainTable, slot: 3, id: 9)

    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        options.isCompressingBlobs = false
        return options
    }

    private func blob(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 5_000) }

    private func putBlob(_ number: Int, _ log: Log) throws -> RecordID {
        try log.write(author: nil) { transaction in
            try blob(number).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
    }

    /// 40 objects in the table with an index, and two blobs.
    private func fill(_ log: Log) throws {
        for number in 1...40 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...2 { _ = try putBlob(number, log) }
    }

    /// Changes, deletes and adds objects, in old and new tables, and makes the old segments worth compacting.
    private func churn(_ log: Log) throws {
        for round in 1...3 {
            for number in 1...30 {
                _ = try log.write(author: nil) {
                    try $0.put(UInt64(number), row(round * 100 + number, byteCount: 100))
                }
            }
        }
        _ = try log.write(author: nil) { transaction in
            for number in 31...35 { try transaction.erase(UInt64(number)) }
            try transaction.deleteBlob(1)
        }
        try log.insert([row(900)], in: plainTable)
        _ = try putBlob(3, log)
    }

    /// The first fault of the restored state; nil if there is none.
    private func oldFault(_ log: Log) throws -> String? {
        let snapshot = log.snapshot()
        for number in 1...40 {
            guard try snapshot.row(UInt64(number)) == row(number, byteCount: 100) else { return "object \(number)" }
            guard try snapshot.firstID(row(number, byteCount: 100)) == UInt64(number) else { return "key of \(number)" }
        }
        if try snapshot.firstID(row(301, byteCount: 100)) != nil { return "a key of later" }
        if snapshot.recordCount(of: plainTable) != 0 { return "a table of later" }
        guard snapshot.recordCount(of: .blobs) == 2, try snapshot.blob(1) == blob(1), try snapshot.blob(2) == blob(2)
        else { return "blobs" }
        return try log.findings().first.map { "\($0)" }
    }

    /// The first fault of the state after the changes; nil if there is none.
    private func newFault(_ log: Log) throws -> String? {
        let snapshot = log.snapshot()
        for number in 1...40 {
            let expected: [UInt8]? =
                switch number {
                case 1...30: row(300 + number, byteCount: 100)
                case 31...35: nil
                default: row(number, byteCount: 100)
                }
            guard try snapshot.row(UInt64(number)) == expected else { return "object \(number)" }
        }
        if snapshot.recordCount(of: plainTable) != 1 { return "the other table" }
        guard snapshot.recordCount(of: .blobs) == 2, try snapshot.blob(2) == blob(2), try snapshot.blob(3) == blob(3)
        else { return "blobs" }
        return try log.findings().first.map { "\($0)" }
    }

    @Test(arguments: [false, true]) func `is returned to after writes, compactions, closes and kills`(
        isCompactedBefore: Bool
    ) throws {
        var store = store
        var log = try store.open(options)
        try isCompactedBefore ? keepCompactedState(log) : keepFilledState(log)
        try log.checkpoint()
        try log.compact()
        try log.close()
        log = try store.open(options)
        try log.checkpoint()
        try log.compact()
        _ = try log.write(author: nil) { try $0.put(36, row(36, byteCount: 100)) }
        store = store.killed
        log.abandonForTests()
        log = try store.open(options)
        let kept = try #require(try log.keptState())
        #expect(log.snapshot().sequence > kept.sequence)
        #expect(kept.sinceNanoseconds == 5 && kept.untilNanoseconds == 1_005)
        try log.returnToKeptState()
        log = try store.open(options)
        #expect(log.snapshot().sequence == kept.sequence)
        #expect(try log.keptState() == nil)
        if isCompactedBefore {
            let snapshot = log.snapshot()
            for number in 1...40 { #expect(try snapshot.row(UInt64(number)) == row(number, byteCount: 100)) }
            #expect(try snapshot.blob(4) == blob(1) && snapshot.blob(5) == blob(2))
            #expect(try log.findings().isEmpty)
        } else {
            #expect(try oldFault(log) == nil)
        }
        // The store continues from there, also after a kill.
        try churnSimply(log)
        try log.checkpoint()
        try log.compact()
        #expect(try log.findings().isEmpty)
        store = store.killed
        log.abandonForTests()
        log = try store.open(options)
        #expect(try log.snapshot().row(7) == row(707, byteCount: 100))
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// Keeps a state whose segments compaction has made.
    private func keepCompactedState(_ log: Log) throws {
        try fill(log)
        try churn(log)
        _ = try log.write(author: nil) { transaction in
            for number in 1...40 {
                try transaction.put(UInt64(number), row(number, byteCount: 100))
            }
            try transaction.dropTable(plainTable)
            for id in 2...3 { try transaction.deleteBlob(UInt64(id)) }
        }
        let ids = try (1...2).map { try putBlob($0, log) }
        try log.checkpoint()
        #expect(try log.compact().segmentCount > 0)
        #expect(ids == [4, 5])
        try log.keepState(for: 1_000)
        try churnSimply(log)
    }

    /// Keeps a state of many kinds of records, and changes all of them.
    private func keepFilledState(_ log: Log) throws {
        try fill(log)
        try log.keepState(for: 1_000)
        try churn(log)
        #expect(try newFault(log) == nil)
    }

    private func churnSimply(_ log: Log) throws {
        for number in 1...40 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(700 + number, byteCount: 100)) }
        }
    }

    @Test func `holds its segments back from compaction until its time is over`() throws {
        let log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        let hot = store.files(.hotSegment)
        try churn(log)
        try churn2(log)
        try log.checkpoint()
        try log.compact()
        #expect(hot.allSatisfy(store.files(.hotSegment).contains))
        let held = try #require(try log.keptState(countsLive: true)).heldByteCount
        #expect(held > 7_000)
        #expect(try #require(try log.keptState()).heldByteCount > 5_000)
        #expect(log.health.space.keptByteCount > 5_000 && log.health.space.keptUntilNanoseconds == 1_005)
        let before = try log.usage().byteCount
        try log.close()
        // It has expired when the next checkpoint is made.
        let again = try Log.open(
            Store.path, on: store.disk, clock: Clock { 1_005 }, options: options, deriver: WholeRowDeriver())
        #expect(try again.keptState() != nil)
        try again.checkpoint()
        #expect(try again.keptState() == nil)
        #expect(again.health.space.keptUntilNanoseconds == nil)
        #expect(try again.compact().segmentCount > 0)
        #expect(try again.usage().byteCount + 7_000 < before)
        #expect(!hot.allSatisfy(store.files(.hotSegment).contains))
        #expect(throws: LogError.self) { try again.returnToKeptState() }
        // The log stays open if there is no kept state.
        try again.insert([row(4_000)])
        try again.close()
    }

    private func churn2(_ log: Log) throws {
        for number in 1...30 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(500 + number, byteCount: 100)) }
        }
    }

    @Test func `makes no writer wait for its bytes`() throws {
        var options = options
        options.maintenance = .inline
        options.checkpointByteCount = 4_000
        let log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        for round in 1...40 {
            for number in 1...30 {
                _ = try log.write(author: nil) {
                    try $0.put(UInt64(number), row(round * 100 + number, byteCount: 100))
                }
            }
        }
        let usage = try log.usage()
        let held = try #require(try log.keptState(countsLive: true)).heldByteCount
        let others = usage.segments.reduce(0) { $0 + $1.byteCount } - held
        #expect(others < usage.liveByteCount * 2 + 8 * 4_000, "\(others) of \(usage.liveByteCount)")
        try log.close()
    }

    @Test func `ends on request, and where another is kept`() throws {
        let log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        try log.insert([row(900)], in: plainTable)
        try log.keepState(for: .max)
        let kept = try #require(try log.keptState())
        #expect(kept.sequence == log.snapshot().sequence && kept.untilNanoseconds == .max)
        try log.releaseKeptState()
        #expect(try log.keptState() == nil)
        try log.close()
        let again = try store.open(options)
        #expect(try again.keptState() == nil)
        try again.close()
    }

    @Test func `is not returned to while another part of the process has the store open`() throws {
        let log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        let other = try store.open(options)
        let error = #expect(throws: LogError.self) { try log.returnToKeptState() }
        #expect(error?.code == .lockedByAnother)
        try log.insert([row(4_000)])
        try other.close()
        try log.returnToKeptState()
        #expect(log.hasEnded)
        let after = try store.open(options)
        #expect(try oldFault(after) == nil)
        try after.close()
    }

    @Test func `salvage finds the state in force, and nothing of the abandoned one`() throws {
        var log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        try churn(log)
        // While it is kept, salvage ignores it.
        let before = try SalvagedStore(store.killed)
        #expect(before.findings.isEmpty, "\(before.findings)")
        let found = try before.open()
        #expect(try newFault(found) == nil)
        try found.close()
        try log.returnToKeptState()
        log = try store.open(options)
        try log.insert([row(4_000)])
        try log.close()
        let after = try SalvagedStore(store)
        #expect(after.findings.isEmpty, "\(after.findings)")
        let salvaged = try after.open()
        #expect(try salvaged.snapshot().row(7) == row(7, byteCount: 100))
        #expect(salvaged.snapshot().recordCount(of: plainTable) == 0)
        #expect(salvaged.snapshot().recordCount(of: testTable) == 41)
        try salvaged.close()
    }

    @Test(arguments: [false, true]) func `a power cut while it is returned to leaves one state or the other`(
        isClosedFirst: Bool
    ) throws {
        var log = try store.open(options)
        try fill(log)
        try log.keepState(for: 1_000)
        try churn(log)
        if isClosedFirst {
            try log.close()
            log = try store.open(options)
        }
        let cuts = Cuts()
        store.disk.onOperation = { disk, operation in cuts.collect(disk, operation) }
        try log.returnToKeptState()
        store.disk.onOperation = nil
        cuts.collect(store.disk, -1)
        var counts = (old: 0, new: 0)
        for image in cuts.images {
            let cut = try Store(image.disk).open(options)
            let isNew = cut.snapshot().recordCount(of: plainTable) == 1
            let fault = try isNew ? newFault(cut) : oldFault(cut)
            #expect(fault == nil, "\(fault ?? ""): \(image)")
            #expect(try (cut.keptState() != nil) == isNew)
            counts = (counts.old + (isNew ? 0 : 1), counts.new + (isNew ? 1 : 0))
            if isNew {
                try cut.returnToKeptState()
                let again = try Store(image.disk).open(options)
                #expect(try oldFault(again) == nil)
                try again.close()
            } else {
                try cut.close()
            }
        }
        #expect(counts.old > 20 && counts.new > 20, "\(counts)")
    }

    // Safe because everything runs on one thread.
    private final class Cuts: @unchecked Sendable {
        var images: [CrashImage] = []

        func collect(_ disk: SimulatedDisk, _ operation: Int) {
            var options = CrashOptions()
            options.exhaustiveImageMax = 24
            options.sampleCount = 6
            options.seed = UInt64(bitPattern: Int64(operation))
            images += disk.crashImages(options).prefix(24)
        }
    }
}
