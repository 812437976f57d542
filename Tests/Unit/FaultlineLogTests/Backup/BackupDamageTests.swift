import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Synchronization
import Testing

/// Rot in the store and in its backups, and crashes and failing disks meanwhile.
struct BackupDamageTests {
    private static func filled() throws -> (Store, Log) {
        let store = Store()
        var options = Store.options
        options.segmentByteCount = 4_000
        let log = try store.open(options)
        for number in 1...20 {
            _ = try log.write(author: nil) { transaction in
                _ = try transaction.insert(row(number, byteCount: 300))
                let bytes = [UInt8](repeating: UInt8(number), count: 5_000)
                _ = try bytes.withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 2, id: 1))
                }
            }
        }
        return (store, log)
    }

    @Test(arguments: [FileKind.hotSegment, .blobSegment])
    func `a store with damage is not backed up, and earlier backups stay`(kind: FileKind) throws {
        let (store, log) = try Self.filled()
        try log.close()
        let whole = store.killed
        // Bytes of frames and values all over the file; the last ones may be zeros.
        let path = try #require(store.files(kind).first)
        let byteCount = try store.disk.contents(path).count
        var refused = 0
        for place in stride(from: 64, to: byteCount - 64, by: max(byteCount / 40, 1)) {
            let damaged = Store(whole.disk.afterProcessDeath())
            var bytes = try damaged.disk.contents(path)
            bytes[place] ^= 0x10
            try damaged.disk.replace(path, with: bytes)
            if backupCode({ try damaged.backup() }) == .damaged { refused += 1 }
            let restorer = Restorer(from: Store.backups, on: damaged.disk, clock: .system)
            #expect(backupCode { _ = try restorer.restore(to: "/d/new", at: .newest) } == .notFound)
        }
        #expect(refused >= 39, "\(refused)")
    }

    @Test func `rot in the log of a store in use is no end of the log`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        for number in 21...30 { try log.insert([row(number, byteCount: 300)]) }
        log.abandonForTests()
        let path = try #require(store.files(.hotSegment).last)
        let bytes = try store.disk.contents(path)
        let frames = LogBytes(bytes).frames
        try #require(frames.count > 4)
        // The last frame may be a torn one: no sync is known to have covered it.
        for frame in frames.dropLast(2) {
            let damaged = store.killed
            var changed = bytes
            changed[frame.offset + frame.byteCount / 2] ^= 1
            try damaged.disk.replace(path, with: changed)
            #expect(backupCode { try damaged.backup { $0.keeps = 1 } } == .damaged, "at \(frame.offset)")
            #expect(try Restorer(from: Store.backups, on: damaged.disk, clock: .system).backups().count == 1)
        }
    }

    @Test func `a log that lost its end is not backed up`() throws {
        let (store, log) = try Self.filled()
        // The blob of transaction 22 names transaction 21 as durable.
        try log.insert([row(21, byteCount: 300)])
        _ = try log.write(author: nil) { transaction in
            let bytes = [UInt8](repeating: 1, count: 5_000)
            _ = try bytes.withUnsafeBytes {
                try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 2, id: 1))
            }
        }
        log.abandonForTests()
        let path = try #require(store.files(.hotSegment).last)
        let bytes = try store.disk.contents(path)
        let frames = LogBytes(bytes).frames
        let place = try #require(frames.first { $0.sequence == 21 }, "\(frames.map(\.sequence))")
        let cut = store.killed
        try cut.disk.replace(path, with: Array(bytes[..<place.offset]))
        #expect(backupCode { try cut.backup() } == .damaged)
        #expect(try store.killed.backup().backup.last.transaction == 22)
    }

    @Test func `rot in a large value that an earlier backup has is found`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        try log.insert([row(21, byteCount: 300)])
        log.abandonForTests()
        let path = try #require(store.files(.blobSegment).last)
        var bytes = try store.disk.contents(path)
        bytes[bytes.count / 2] ^= 1
        try store.disk.replace(path, with: bytes)
        #expect(backupCode { try store.backup { $0.keeps = 1 } } == .damaged)
        try store.restore { log, _ in
            let findings = try log.findings()
            #expect(findings.isEmpty && log.snapshot().sequence == 20)
        }
    }

    @Test func `a list that does not verify concerns its own backup only`() throws {
        let (store, log) = try Self.filled()
        for number in 21...23 {
            try store.backup()
            try log.insert([row(number, byteCount: 300)])
        }
        let path = Store.backups + "/0000000002/BACKUP"
        var bytes = try store.disk.contents(path)
        bytes[bytes.count / 2] ^= 1
        try store.disk.replace(path, with: bytes)
        let restorer = Restorer(from: Store.backups, on: store.disk, clock: .system)
        #expect(try restorer.backups().map(\.number) == [1, 3])
        #expect(backupCode { _ = try restorer.restore(to: "/d/new", at: .backup(2)) } == .damaged)
        try store.restore(.backup(1)) { log, _ in #expect(log.snapshot().sequence == 20) }
        try store.restore(.transaction(21)) { log, _ in #expect(log.snapshot().sequence == 21) }
        #expect(try store.backup { $0.keeps = 1 }.backup.number == 4)
        try store.restore { log, _ in #expect(log.snapshot().sequence == 23) }
        log.abandonForTests()
    }

    @Test func `the first backup is durable`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        let after = Store(store.disk.withOnlyWhatIsDurable())
        try after.restore { log, _ in #expect(log.snapshot().sequence == 20) }
    }

    @Test func `each byte of a backup is verified by a restore`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        var kinds: Set<Character> = []
        for path in store.disk.filePaths where path.hasPrefix(Store.backups + "/") && !path.hasSuffix("LOCK") {
            let bytes = try store.disk.contents(path)
            for place in stride(from: 0, to: bytes.count, by: max(bytes.count / 9, 1)) {
                let damaged = Store(store.disk.afterProcessDeath())
                var changed = bytes
                changed[place] ^= 0x01
                try damaged.disk.replace(path, with: changed)
                var code: BackupError.Code?
                var isEqual = false
                do {
                    isEqual = try damaged.restore { log, _ in
                        try log.findings().isEmpty && log.snapshot().sequence == 20
                    }
                } catch let error as BackupError { code = error.code } catch let error as LogError {
                    #expect(error.code == .damaged || error.code == .newerFormat, "\(path) \(place): \(error)")
                    code = .damaged
                }
                let isDetected = code == .damaged || code == .newerFormat
                #expect(isEqual || isDetected, "\(path) \(place): \(String(describing: code))")
                if code != nil, let kind = path.split(separator: "/").last?.first { kinds.insert(kind) }
            }
        }
        #expect(kinds.isSuperset(of: ["s", "b", "B"]), "\(kinds)")
    }

    /// The disks that a kill, and a power loss at its harshest, leave before each operation of a closure, and at its end.
    private static func ends(of store: Store, _ body: () throws -> Void) throws -> [Store] {
        let collected = Guarded<[Store]>([])
        store.disk.onOperation = { disk, _ in
            let images = [disk.afterProcessDeath(), disk.withOnlyWhatIsDurable()]
            collected.withLock { $0 += images.map { Store($0) } }
        }
        try body()
        store.disk.onOperation = nil
        return collected.withLock { $0 } + [store.killed, Store(store.disk.withOnlyWhatIsDurable())]
    }

    @Test func `an interrupted backup leaves those that were finished`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        try log.insert([row(21, byteCount: 300)])
        try log.checkpoint()
        let ends = try Self.ends(of: store) { try store.backup { $0.keeps = 1 } }
        var finished = 0
        for (step, after) in ends.enumerated() {
            let backups = try Restorer(from: Store.backups, on: after.disk, clock: .system).backups()
            let newest = try #require(backups.last?.last.transaction)
            #expect(newest == 20 || newest == 21, "step \(step)")
            try after.restore { log, report in
                let findings = try log.findings()
                #expect(findings.isEmpty && log.snapshot().sequence == newest, "step \(step)")
                #expect(report.last.transaction == newest)
            }
            // The next one goes on.
            #expect(try after.backup().backup.last.transaction == 21)
            try after.restore { log, _ in #expect(log.snapshot().sequence == 21, "step \(step)") }
            if newest == 21 { finished += 1 }
        }
        #expect(ends.count > 80 && finished > 2 && finished < ends.count / 2, "\(finished) of \(ends.count)")
        log.abandonForTests()
    }

    @Test func `an interrupted restore leaves no store, or the whole one`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        log.abandonForTests()
        func restorer(_ store: Store) -> Restorer { Restorer(from: Store.backups, on: store.disk, clock: .system) }
        let ends = try Self.ends(of: store) { _ = try restorer(store).restore(to: "/d/new", at: .transaction(13)) }
        var finished = 0
        for (step, after) in ends.enumerated() {
            if try after.disk.isPresent("/d/new") {
                finished += 1
            } else {
                #expect(try restorer(after).restore(to: "/d/new", at: .transaction(13)).last.transaction == 13)
            }
            let log = try Log.open(
                "/d/new", on: after.disk, clock: .system, options: Store.options, deriver: WholeRowDeriver())
            #expect(try log.findings().isEmpty && log.snapshot().sequence == 13, "step \(step)")
            try log.close()
        }
        #expect(ends.count > 60 && finished > 1 && finished < ends.count / 2, "\(finished) of \(ends.count)")
    }

    @Test func `a full disk stops a backup and a restore`() throws {
        let (store, log) = try Self.filled()
        try store.backup()
        for number in 21...40 { try log.insert([row(number, byteCount: 300)]) }
        log.abandonForTests()
        let used = store.disk.fileSizes.values.reduce(0, +)
        for room in stride(from: 0, to: 30_000, by: 1_500) {
            let full = Store(store.disk.afterProcessDeath())
            full.disk.byteCapacity = used + room
            #expect(throws: (any Error).self) { try full.backup { $0.checksSpace = room % 1_000 != 0 } }
            #expect(throws: (any Error).self) {
                try Restorer(from: Store.backups, on: full.disk, clock: .system).restore(to: "/d/new", at: .newest)
            }
            full.disk.byteCapacity = .max
            #expect(try !full.disk.isPresent("/d/new") && !full.disk.isPresent(Store.path + ".backup"))
            #expect(try Restorer(from: Store.backups, on: full.disk, clock: .system).backups().count == 1)
            #expect(try full.backup().backup.last.transaction == 40)
            try full.restore { log, _ in #expect(log.snapshot().sequence == 40) }
        }
    }
}
