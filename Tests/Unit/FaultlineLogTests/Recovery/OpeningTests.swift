import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

struct OpeningTests {
    @Test func tellsApartWhatCannotBeOpened() throws {
        var reading = Store.options
        reading.access = .reading

        // No directory.
        #expect(Store().openingCode(reading) == .notAStore)
        let empty = Store()
        try empty.disk.createDirectory(Store.path)
        #expect(empty.openingCode(reading) == .notAStore)
        #expect(empty.openingCode() == nil)

        // Another program's directory, or a file.
        let foreign = Store()
        try foreign.disk.createDirectory(Store.path)
        _ = try foreign.disk.open(Store.path + "/letter.txt", for: .creating)
        #expect(foreign.openingCode() == .notAStore)
        #expect(foreign.disk.filePaths.contains(Store.path + "/letter.txt"))
        let identity = Store()
        try identity.disk.createDirectory(Store.path)
        _ = try identity.disk.open(Store.path + "/IDENTITY", for: .creating)
        #expect(identity.openingCode() == .notAStore)

        // No directory to create it in.
        #expect(Store(SimulatedDisk()).openingCode() == .failedDisk)
    }

    @Test func refusesANewerFormat() throws {
        let store = Store()
        try store.open().close()
        let path = Store.path + "/IDENTITY"
        let original = try store.disk.contents(path)
        for offset in [8, 64] {
            var newer = original
            for copy in [0, 4_096] {
                newer[copy + offset] = 2
                let checksum = newer[copy..<copy + 4_092].withUnsafeBytes { CRC32C.checksum($0) }
                withUnsafeBytes(of: checksum.littleEndian) {
                    newer.replaceSubrange(copy + 4_092..<copy + 4_096, with: $0)
                }
            }
            try store.disk.replace(path, with: newer)
            #expect(store.openingCode() == .newerFormat)
        }
        // A feature that allows reading only, and is not defined yet.
        var newer = original
        for copy in [0, 4_096] {
            newer[copy + 72] = 0x80
            let checksum = newer[copy..<copy + 4_092].withUnsafeBytes { CRC32C.checksum($0) }
            withUnsafeBytes(of: checksum.littleEndian) { newer.replaceSubrange(copy + 4_092..<copy + 4_096, with: $0) }
        }
        try store.disk.replace(path, with: newer)
        #expect(store.openingCode() == .readOnly)
        var reading = Store.options
        reading.access = .reading
        #expect(store.openingCode(reading) == nil)
    }

    @Test func needsOneGoodCopyOfTheIdentity() throws {
        let store = Store()
        try store.open().close()
        let path = Store.path + "/IDENTITY"
        try store.disk.overwrite(path, at: 20, [1, 2, 3, 4])
        #expect(store.openingCode() == nil)
        try store.disk.overwrite(path, at: 4_096 + 20, [5, 6, 7, 8])
        #expect(store.openingCode() == .damaged)
        var reading = Store.options
        reading.access = .reading
        #expect(store.openingCode(reading) == .damaged)
        try store.disk.remove(path)
        // It holds no data, so it counts as an aborted creation.
        #expect(store.openingCode() == nil)
    }

    @Test func refusesAStoreWhoseIdentityIsMissing() throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        try log.close()
        try store.disk.remove(Store.path + "/IDENTITY")
        let before = store.disk.operationCount
        #expect(store.openingCode() == .damaged)
        #expect(store.disk.filePaths.count >= 3)
        // The lock's text is all that is written.
        #expect(store.disk.operationCount - before <= 1)
    }

    @Test func refusesASecondWriterAndNamesTheFirst() throws {
        let store = Store()
        let log = try store.open()
        let other = CountingDisk(over: store.disk)
        do {
            _ = try store.open(on: other)
            Issue.record("a second writer was let in")
        } catch let error as LogError {
            #expect(error.code == .lockedByAnother)
            #expect(error.message.contains("process \(getpid())"))
        }
        try log.close()
        try store.open(on: other).close()
    }

    /// A process that another thread starts has copies of all descriptors until it replaces its program; a copy keeps a
    /// lock.
    @Test func givesItsLockUpThoughACopyOfItsDescriptorLives() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/store"
        func open() throws -> Log {
            try Log.open(path, on: PosixDisk(), clock: .system, options: Store.options, deriver: NoIndexes())
        }
        let log = try open()
        var copies: [Int32] = []
        for descriptor in Int32(0)..<1_024 {
            var target = [CChar](repeating: 0, count: 4_097)
            guard readlink("/proc/self/fd/\(descriptor)", &target, 4_096) > 0 else { continue }
            let name = String(decoding: target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard name == path + "/LOCK" else { continue }
            copies.append(dup(descriptor))
            break
        }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        try log.close()
        try open().close()
    }

    @Test func refusesAStoreThatCannotBeWritten() throws {
        let store = Store()
        try store.open().close()
        let disk = FailingDisk(over: store.disk)
        disk.arm(DiskFault(of: [.open], errorNumber: EACCES, isSticky: true))
        #expect(store.openingCode(on: disk) == .readOnly)
        disk.arm(DiskFault(of: [.create], errorNumber: ENOSPC, isSticky: true))
        let log = try store.open()
        try log.insert([row(1)])
        log.abandonForTests()
        #expect(store.openingCode(on: disk) == .fullDisk)
        #expect(store.openingCode() == nil)
    }

    @Test func refusesToWriteInAChildProcess() throws {
        // Swift code cannot call `fork`, so a log with another owner process simulates it.
        let log = try Store().open()
        log.pretendToBeForked()
        #expect(throws: LogError.self) { try log.insert([row(1)]) }
        #expect(throws: LogError.self) { try log.checkpoint() }
    }

    @Test func createsAgainWhatWasAborted() throws {
        // Every prefix of the creation's operations.
        for count in 0..<12 {
            let store = Store()
            let disk = FailingDisk(over: store.disk)
            disk.arm(
                DiskFault(ordinal: count, isSticky: true) { $0.kind != .open && $0.kind != .read && $0.kind != .lock })
            _ = store.openingCode(on: disk)
            let log = try store.killed.open()
            try log.insert([row(count)])
            #expect(try log.findings().isEmpty)
        }
    }

    @Test func setsAsideWhatItDoesNotUnderstand() throws {
        let store = Store()
        try store.open().close()
        let strange = Store.path + "/s-00000000000000ff.fls"
        let file = try store.disk.open(strange, for: .creating)
        try [UInt8](repeating: 7, count: 200).withUnsafeBytes { try file.write($0, at: 0) }
        _ = try store.disk.open(Store.path + "/r-00000000000000fe.flr", for: .creating)
        let log = try store.open()
        #expect(log.openReport.quarantinedFiles == ["s-00000000000000ff.fls"])
        #expect(log.openReport.removedFiles == ["r-00000000000000fe.flr"])
        #expect(store.disk.filePaths.contains(Store.path + "/quarantine/s-00000000000000ff.fls"))
        // Its number is not used again.
        try log.checkpoint()
        try log.insert([row(1)])
        try log.checkpoint()
        #expect(store.files(.tableCheckpoint).allSatisfy { $0 > Store.path + "/t-00000000000000ff" })
    }
}
