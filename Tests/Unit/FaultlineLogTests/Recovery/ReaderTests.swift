import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Readers of another process beside a writer: changes during their reads are no damage.
struct ReaderTests {
    /// Lets the writer act once, when the reader reaches an operation.
    // Safe because everything runs on one thread.
    private final class Interruption: @unchecked Sendable {
        private var act: (() throws -> Void)?
        private(set) var listingCount = 0

        init(_ act: @escaping () throws -> Void) { self.act = act }

        func disk(over disk: Disk, at kind: DiskOperation.Kind, on part: String) -> FailingDisk {
            let failing = FailingDisk(over: disk)
            failing.arm(
                DiskFault { [self] operation in
                    if operation.kind == .names { listingCount += 1 }
                    if operation.kind == kind, operation.path.contains(part), let act {
                        self.act = nil
                        do { try act() } catch { Issue.record(error) }
                    }
                    return false
                })
            return failing
        }
    }

    private var writing: LogOptions {
        var options = Store.options
        options.manifestByteCount = 0
        options.manifestGrowth = 1
        options.segmentByteCount = 600
        return options
    }

    private var reading: LogOptions {
        var options = writing
        options.access = .reading
        return options
    }

    @Test(arguments: [
        (DiskOperation.Kind.open, "/m-"), (.read, "/m-"), (.open, "/s-"), (.read, "/s-"), (.open, "/t-"),
        (.open, "/r-"),
        (.read, "/IDENTITY"),
    ]) func beginsAgainWhenTheWriterChangesTheFiles(kind: DiskOperation.Kind, part: String) throws {
        let store = Store()
        let log = try store.open(writing)
        for number in 0..<10 { try log.insert([row(number)]) }
        try log.checkpoint()
        let interruption = Interruption {
            for number in 10..<40 {
                try log.insert([row(number)])
                if number % 6 == 0 { try log.checkpoint() }
            }
            try log.checkpoint()
        }
        let reader = try store.open(reading, on: interruption.disk(over: store.disk, at: kind, on: part))
        #expect(reader.snapshot().sequence >= 10)
        #expect(reader.openReport.ignoredDerivedFiles.isEmpty)
        for number in 0..<10 { #expect(try reader.snapshot().firstID(row(number)) == UInt64(number + 1)) }
        #expect(reader.openReport.removedFiles.isEmpty && reader.openReport.quarantinedFiles.isEmpty)
        reader.abandonForTests()
    }

    @Test func callsDamageWhatIsWrongWhileTheManifestStays() throws {
        let store = Store()
        let log = try store.open(writing)
        for number in 0..<10 { try log.insert([row(number)]) }
        let segment = try #require(store.files(.hotSegment).first)
        store.disk.corrupt(segment, at: 100) { $0 ^ 1 }
        let interruption = Interruption {}
        let disk = interruption.disk(over: store.disk, at: .open, on: "/m-")
        #expect(store.openingCode(reading, on: disk) == .damaged)
        #expect(interruption.listingCount == 2)
        log.abandonForTests()
    }

    @Test func saysThatItBeOpenedAgainWhereTheStoreNeverStays() throws {
        let store = Store()
        let log = try store.open(writing)
        try log.insert([row(0)])
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var number = 1
        let disk = FailingDisk(over: store.disk)
        disk.arm(
            DiskFault { operation in
                guard operation.kind == .open, operation.path.contains("/m-") else { return false }
                // Each checkpoint replaces the manifest that was just listed by a new one.
                do {
                    try log.insert([row(number)])
                    try log.checkpoint()
                } catch { Issue.record(error) }
                number += 1
                return false
            })
        let error = #expect(throws: LogError.self) { try store.open(reading, on: disk) }
        #expect(error?.code == .lockedByAnother && number > 50)
        disk.disarm()
        #expect(try store.open(reading, on: disk).snapshot().sequence >= UInt64(number))
        log.abandonForTests()
    }

    @Test(arguments: [false, true]) func findsBlobsInSegmentsThatWereListedMeanwhile(hasCheckpoint: Bool) throws {
        let store = Store()
        let log = try store.open(writing)
        try log.insert([row(0, byteCount: 100)])
        if hasCheckpoint { try log.checkpoint() }
        let bytes = [UInt8](repeating: 7, count: 700)
        let interruption = Interruption {
            for _ in 0..<2 {
                _ = try log.write(author: nil) { transaction in
                    try bytes.withUnsafeBytes {
                        try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 1, id: 1))
                    }
                }
            }
            // Its frame records that the others were synchronized.
            try log.insert([row(1)])
        }
        let reader = try store.open(reading, on: interruption.disk(over: store.disk, at: .read, on: "/s-"))
        #expect(try reader.snapshot().blob(1) == bytes)
        #expect(try reader.findings().isEmpty)
        reader.abandonForTests()
        log.abandonForTests()
    }

    @Test func readsAllSegmentsOfAStoreThatWasCompactedMeanwhile() throws {
        let store = Store()
        let log = try store.open(writing)
        for number in 0..<20 { try log.insert([row(number)]) }
        for number in 0..<18 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number) + 1, row(100 + number)) }
        }
        try log.checkpoint()
        let interruption = Interruption {
            let report = try log.compact()
            #expect(report.segmentCount > 0)
        }
        var reading = reading
        reading.ignoresDerivedFiles = true
        let reader = try store.open(reading, on: interruption.disk(over: store.disk, at: .names, on: Store.path))
        #expect(try reader.snapshot().row(19) == row(18) && reader.snapshot().row(1) == row(100))
        reader.abandonForTests()
        log.abandonForTests()
    }

    @Test func looksAtNoFileThatIsNotListed() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        // A segment that has frames before the reader knows of its edit.
        let bytes = try store.disk.contents(try #require(store.files(.hotSegment).last))
        try store.disk.place(bytes, at: Store.path + "/s-00000000000000ff.fls")
        var reading = Store.options
        reading.access = .reading
        #expect(try store.open(reading, on: CountingDisk(over: store.disk)).snapshot().sequence <= 1)
        log.abandonForTests()
    }

    @Test func asksForAWriterWithoutStandingInItsWay() throws {
        let store = Store()
        try store.open().close()
        // A writer comes while the reader opens.
        var writer: Log?
        let interruption = Interruption { writer = try store.open() }
        let disk = interruption.disk(over: store.disk, at: .lock, on: "LOCK")
        let reader = try store.open(reading, on: disk)
        #expect(writer != nil)
        #expect(reader.snapshot().sequence == 0)
        try writer?.insert([row(1)])
    }

    @Test func takesNoLockButItsOwn() throws {
        let store = Store()
        try store.open().close()
        let counted = CountingDisk(over: store.disk)
        let reader = try store.open(reading, on: counted)
        #expect(counted.counts(of: Store.path + "/LOCK").locks == 1)
        reader.abandonForTests()
    }
}
