import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct BackupTests {
    /// Counts the bytes that are written below the directory of the backups.
    // Safe because one thread uses it.
    private final class CountingDisk: ForwardingDisk, @unchecked Sendable {
        var byteCount = 0
        var longest = 0

        // Safe because one thread uses it.
        private final class File: ForwardingDiskFile, @unchecked Sendable {
            weak var disk: CountingDisk?
            override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
                disk?.byteCount += bytes.count
                disk?.longest = max(disk?.longest ?? 0, bytes.count)
                try super.write(bytes, at: offset)
            }
        }

        override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
            let file = try base.open(path, for: access)
            guard path.hasPrefix(Store.backups + "/") else { return file }
            let counted = File(over: file)
            counted.disk = self
            return counted
        }
    }

    private static func filled(_ count: Int = 40) throws -> (Store, Log) {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try store.open(options)
        for number in 1...count { try log.insert([row(number, byteCount: 300)]) }
        return (store, log)
    }

    @Test func `an incremental backup copies new bytes only`() throws {
        let (store, log) = try Self.filled()
        let first = try store.backup()
        #expect(first.backup.number == 1 && first.backup.last.transaction == 40 && first.copiedByteCount > 12_000)
        let disk = CountingDisk(over: store.disk)
        let second = try store.backup(on: disk)
        #expect(second.copiedFileCount == 0 && second.fileCount == first.fileCount)
        try log.insert([row(41, byteCount: 300)])
        let before = disk.byteCount
        let third = try store.backup(on: disk)
        #expect(third.backup.last.transaction == 41 && third.copiedFileCount == 1)
        // The manifest, the identity and the list of files belong to each backup.
        let own = try store.disk.names(in: Store.backups + "/0000000003").reduce(0) {
            try $0 + Int(store.disk.contents(of: Store.backups + "/0000000003/" + $1).count)
        }
        #expect(disk.byteCount - before < own + 600)
        log.abandonForTests()
    }

    @Test func `a backup needs a directory of its own`() throws {
        let (store, log) = try Self.filled()
        try store.backup { $0.isIncremental = false }
        #expect(backupCode { try store.backup { $0.isIncremental = false } } == .unsuitable)
        #expect(backupCode { try store.backup(to: Store.path) } == .unsuitable)
        #expect(backupCode { try store.backup(to: Store.path + "/backups") } == .unsuitable)
        try store.disk.createDirectory("/d/other")
        try store.disk.open("/d/other/photo.jpg", for: .creating).close()
        #expect(backupCode { try store.backup(to: "/d/other") } == .unsuitable)
        try log.close()
    }

    @Test func `a restore never overwrites, and needs backups`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        let restorer = Restorer(from: Store.backups, on: store.disk, clock: .system)
        #expect(backupCode { _ = try restorer.restore(to: Store.path, at: .newest) } == .unsuitable)
        #expect(backupCode { _ = try restorer.restore(to: "/d/new", at: .backup(7)) } == .notInBackups)
        #expect(backupCode { _ = try restorer.restore(to: "/d/new", at: .transaction(41)) } == .notInBackups)
        let none = Restorer(from: "/d/nothing", on: store.disk, clock: .system)
        #expect(backupCode { _ = try none.restore(to: "/d/new", at: .newest) } == .notFound)
        #expect(try !store.disk.isPresent("/d/new") && !store.disk.isPresent("/d/new.restoring"))
        try log.close()
    }

    @Test func `a restored store is another instance`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        let old = try #require(try IdentityFile.read(Store.path + "/IDENTITY", on: store.disk))
        // The restored store takes the place of the old one.
        try store.remove(Store.path)
        _ = try Restorer(from: Store.backups, on: store.disk, clock: .system).restore(to: Store.path, at: .newest)
        let new = try #require(try IdentityFile.read(Store.path + "/IDENTITY", on: store.disk))
        #expect(new.storeHigh == old.storeHigh && new.storeLow == old.storeLow && new.instance != old.instance)
        #expect(backupCode { try store.backup() } == .otherStore)
        #expect(try store.backup(to: "/d/fresh").backup.last.transaction == 40)
    }

    @Test func `a copy of the store is refused by its files`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        // Two processes went on with copies of one store.
        let other = store.killed
        for (number, store) in [(1, store), (2, other)] {
            let log = try store.open()
            try log.insert([row(100 + number, byteCount: 300)])
            try log.close()
        }
        try store.backup()
        for name in try other.disk.names(in: Store.backups) where name == "0000000001" {
            #expect(try other.backup().backup.number == 2)
        }
        // The files of the other one come into the directory of the first.
        let moved = Store(store.disk.afterProcessDeath())
        for path in moved.disk.filePaths where path.hasPrefix(Store.path + "/") { try moved.disk.remove(path) }
        for path in other.disk.filePaths where path.hasPrefix(Store.path + "/") {
            let file = try moved.disk.open(path, for: .creating)
            defer { file.close() }
            try other.disk.contents(of: path).withUnsafeBytes { try file.write($0, at: 0) }
        }
        #expect(backupCode { try moved.backup() } == .otherStore)
    }

    @Test func `old backups are removed with the files that they alone have`() throws {
        let (store, log) = try Self.filled()
        for number in 41...46 {
            try log.insert([row(number, byteCount: 300)])
            try log.checkpoint()
            let report = try store.backup { $0.keeps = 2 }
            #expect(report.removed == (number > 42 ? [number - 42] : []))
        }
        let backups = try Restorer(from: Store.backups, on: store.disk, clock: .system).backups()
        #expect(backups.map(\.number) == [5, 6])
        let shared = try store.disk.names(in: Store.backups + "/files")
        #expect(shared.count { $0.hasSuffix(".flt") } <= 2)
        try store.restore(.backup(5)) { log, _ in #expect(log.snapshot().sequence == 45) }
        try store.restore { log, _ in #expect(log.snapshot().sequence == 46) }
        try log.close()
    }

    @Test func `a state is found by its time`() throws {
        let store = Store()
        // The clock was wrong for a while.
        let times: [Int64] = [100, 200, 900, 300, 400, 500]
        let place = Counter()
        let log = try Log.open(
            Store.path, on: store.disk, clock: Clock { times[min(place.value, times.count - 1)] },
            options: Store.options, deriver: WholeRowDeriver())
        for number in times.indices {
            place.value = number
            try log.insert([row(number)])
            if number == 3 { try store.backup() }
        }
        try store.backup()
        log.abandonForTests()
        func transaction(at nanoseconds: Int64) throws -> UInt64 {
            try store.restore(.time(nanoseconds: nanoseconds)) { log, report in
                #expect(report.last.transaction == log.snapshot().sequence)
                return log.snapshot().sequence
            }
        }
        #expect(try transaction(at: 100) == 1 && transaction(at: 199) == 1 && transaction(at: 250) == 2)
        // Transaction 3, of the wrong time, is before transaction 4.
        #expect(try transaction(at: 300) == 4 && transaction(at: 450) == 5 && transaction(at: 5_000) == 6)
        #expect(try transaction(at: 0) == 0)
    }

    @Test func `a directory that the user made is not taken for the remains of a backup`() throws {
        let (store, log) = try Self.filled()
        try log.close()
        let mine = Store.path + ".backup-under-way"
        try store.disk.createDirectory(mine)
        for name in try store.disk.names(in: Store.path) {
            try store.disk.copy(Store.path + "/" + name, to: mine + "/" + name)
        }
        #expect(backupCode { try store.backup() } == .unsuitable)
        #expect(backupCode { try store.backup(to: mine) } == .unsuitable)
        #expect(try store.disk.names(in: mine) == store.disk.names(in: Store.path))
    }

    @Test func `a backup after a return to a kept state has the states of the new line`() throws {
        let store = Store()
        var log = try store.open()
        for number in 1...10 { try log.insert([row(number, byteCount: 300)]) }
        try log.keepState(for: 1_000)
        for number in 11...30 { try log.insert([row(number, byteCount: 300)]) }
        try store.backup()
        try log.returnToKeptState()
        log = try store.open()
        let kept = log.snapshot().sequence
        for number in 101...105 { try log.insert([row(number, byteCount: 300)]) }
        let report = try store.backup()
        #expect(report.backup.last.transaction == kept + 5)
        log.abandonForTests()
        for sequence in max(report.backup.first.transaction, 1)...report.backup.last.transaction {
            try store.restore(.transaction(sequence)) { (log, _) throws in
                let snapshot = log.snapshot()
                #expect(snapshot.sequence == sequence)
                let number = Int(min(sequence, 10))
                #expect(try snapshot.row(UInt64(number)) == row(number, byteCount: 300))
                if sequence > kept {
                    let added = 100 + Int(sequence - kept)
                    #expect(try snapshot.row(UInt64(10 + Int(sequence - kept))) == row(added, byteCount: 300))
                }
                #expect(try log.findings().isEmpty)
            }
        }
    }

    /// Restores a second time to the same place, when the first files are there.
    // Safe because one thread uses it.
    private final class SecondRestoreDisk: ForwardingDisk, @unchecked Sendable {
        var code: BackupError.Code?
        private var isRunning = false

        override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
            if path.hasSuffix("/new.restoring/IDENTITY.tmp"), !isRunning {
                isRunning = true
                let restorer = Restorer(from: Store.backups, on: base, clock: .system)
                code = backupCode { _ = try restorer.restore(to: "/d/new", at: .newest) }
            }
            return try base.open(path, for: access)
        }
    }

    @Test func `a second restore to one place is refused, and harms nothing`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        let disk = SecondRestoreDisk(over: store.disk)
        _ = try Restorer(from: Store.backups, on: disk, clock: .system).restore(to: "/d/new", at: .newest)
        #expect(disk.code == .underWay)
        let restored = try Log.open(
            "/d/new", on: store.disk, clock: .system, options: Store.options, deriver: WholeRowDeriver())
        #expect(try restored.findings().isEmpty && restored.snapshot().sequence == 40)
        try restored.close()
    }

    @Test func `the rate is bounded`() throws {
        let (store, log) = try Self.filled()
        try log.close()
        let now = Counter()
        let clock = Clock(wallNanoseconds: { 5 }, monotonicNanoseconds: { UInt64(now.value) })
        let report = try store.backup(clock: clock) {
            $0.bytesPerSecond = 1 << 20
            $0.sleep = { now.value += Int($0) }
        }
        let seconds = Double(now.value) / 1e9
        #expect(abs(seconds - Double(report.copiedByteCount) / Double(1 << 20)) < 0.001)
    }
}

/// A number that closures share.
// Safe because one thread uses it.
private final class Counter: @unchecked Sendable {
    var value = 0
}
