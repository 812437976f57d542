import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Glibc
import Testing

/// Stores whose process ends again and again without a close.
struct RepeatedKillTests {
    private static let objectCount = 12_000

    /// A life of a process: it commits an object and a large value, and is killed.
    private static func live(_ log: Log, _ number: Int) throws {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 5_000)
        _ = try log.write(author: nil) { transaction in
            _ = try transaction.insert(row(objectCount + number))
            let owner = BlobOwner(table: testTable, slot: 0, id: 1)
            _ = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }
        log.abandonForTests()
    }

    @Test func addsNoFileToAStore() throws {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<Self.objectCount).map { row($0) })
        try log.checkpoint()
        try Self.live(log, 0)
        let before = store.disk.filePaths.count
        var now = store
        for number in 1...120 {
            now = now.killed
            let log = try now.open()
            #expect(log.openReport.rescuedTransactionCount == 1)
            #expect(log.snapshot().recordCount(of: testTable) == Self.objectCount + number)
            try Self.live(log, number)
        }
        #expect(now.disk.filePaths.count == before)
        #expect(now.files(.hotSegment).count == 1 && now.files(.blobSegment).count == 1)

        let last = try now.killed.open()
        #expect(try last.findings().isEmpty)
        try last.compact()
        try last.close()
        let rebuilt = try now.rebuilt()
        #expect(rebuilt.snapshot().recordCount(of: testTable) == Self.objectCount + 121)
        #expect(try rebuilt.findings().isEmpty)
    }

    @Test func keepsFewDescriptors() throws {
        let folder = TemporaryDirectory()
        func openFiles() throws -> Int {
            try PosixDisk().names(in: "/proc/self/fd").count { name in
                var bytes = [CChar](repeating: 0, count: 4_096)
                guard readlink("/proc/self/fd/" + name, &bytes, bytes.count - 1) > 0 else { return false }
                return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                    .hasPrefix(folder.path)
            }
        }
        func open() throws -> Log {
            try Log.open(
                folder.path + "/store", on: PosixDisk(), clock: Clock { 5 }, options: Store.options,
                deriver: WholeRowDeriver())
        }
        for number in 0..<120 { try Self.live(try open(), number) }
        let log = try open()
        // LOCK, the manifest, the log, the large values.
        #expect(try openFiles() <= 4)
        try log.close()
    }

    /// A sync of the log failed: the system calls its pages clean, and they are not on the disk.
    @Test(arguments: [false, true]) func writesTheTailAgain(hasFurther: Bool) throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(on: disk)
        try log.insert([row(1)])
        let kept = store.disk.withOnlyWhatIsDurable()
        disk.arm(
            DiskFault(of: [.synchronize], on: ".fls", effect: .losesPages(.keepsNewBytes, seed: nil)))
        #expect(throws: LogError.self) { try log.insert([row(2)]) }
        disk.disarm()
        log.abandonForTests()

        let again = try store.open()
        #expect(again.snapshot().sequence == 2 && again.openReport.rescuedTransactionCount == 1)
        #expect(store.files(.hotSegment).count == 1)
        if hasFurther { try again.insert([row(3)]) }
        again.abandonForTests()
        let found = try Store(store.disk.withOnlyWhatIsDurable()).open()
        #expect(found.snapshot().sequence == (hasFurther ? 3 : 2))
        #expect(try found.snapshot().row(2) == row(2))
        #expect(try Store(kept).open().snapshot().sequence == 1)
    }

    /// The place of the log's end cannot be written any more.
    @Test(arguments: [DiskFault.Effect.none, .losesPages(.revertsToOldBytes, seed: nil)])
    func goesOnElsewhereWhereThePlaceIsBad(_ effect: DiskFault.Effect) throws {
        let store = Store()
        let log = try store.open()
        for number in 0..<3 { try log.insert([row(number)]) }
        log.abandonForTests()
        let path = try #require(store.files(.hotSegment).first)
        let disk = FailingDisk(over: store.disk)
        disk.arm(DiskFault(of: [.synchronize], on: path, effect: effect))
        let again = try store.open(on: disk)
        #expect(again.snapshot().sequence == 3)
        #expect(store.files(.hotSegment).count == 2)
        try again.insert([row(3)])
        again.abandonForTests()
        #expect(try Store(store.disk.withOnlyWhatIsDurable()).open().snapshot().sequence == 4)
    }

    /// A large transaction without its end is not written again.
    @Test(arguments: [100, 3_000]) func leavesALargeUnfinishedTransactionBehind(rowCount: Int) throws {
        var options = Store.options
        options.frameByteCount = 10_000
        let store = Store()
        let log = try store.open(options)
        try log.insert([row(0)])
        _ = try? log.write(author: nil) { transaction in
            for number in 1...rowCount { _ = try transaction.insert(row(number, byteCount: 500)) }
            log.abandonForTests()
            throw LogError(.abandoned, "")
        }
        let again = try store.killed.open(options)
        #expect(again.snapshot().recordCount(of: testTable) == 1)
        try again.insert([row(9_000)])
        #expect(again.snapshot().recordCount(of: testTable) == 2)
        again.abandonForTests()
    }

    /// A value that was being written when the process ended leaves bytes that no later one overwrites.
    @Test func goesOnBehindUnplacedLargeValues() throws {
        let store = Store()
        var now = store
        var blobs: [RecordID: [UInt8]] = [:]
        for number in 0..<20 {
            let log = try now.open()
            let bytes = row(number, byteCount: 9_000 + number)
            let id = try log.write(author: nil) { transaction in
                try bytes.withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
                }
            }.value
            blobs[id] = bytes
            _ = try? log.write(author: nil) { transaction in
                _ = try bytes.withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
                }
                throw LogError(.abandoned, "")
            }
            if number % 5 == 4 { try log.checkpoint() }
            log.abandonForTests()
            now = number % 2 == 0 ? now.killed : Store(now.disk.withOnlyWhatIsDurable())
        }
        let log = try now.open()
        for (id, bytes) in blobs { #expect(try log.snapshot().blob(id) == bytes) }
        #expect(try log.findings().isEmpty)
        // A kill adds none; each of the ten power losses ends the segment.
        #expect(now.files(.blobSegment).count <= 11)
    }
}
