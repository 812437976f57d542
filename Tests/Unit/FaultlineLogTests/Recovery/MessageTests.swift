import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Texts of errors.
struct MessageTests {
    private func error(_ body: () throws -> Void) -> LogError? {
        do { try body() } catch { return error as? LogError }
        return nil
    }

    @Test(
        "A23: dates are written as people write them",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_827_696, "2000-02-29T12:34:56Z"), (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "253402300800 s after 1970"),
            (-1, "-1 s after 1970"), (.min, "\(Int64.min) s after 1970"),
        ] as [(Int64, String)])
    func dates(_ seconds: Int64, _ text: String) {
        #expect(UTCDate.text(secondsSince1970: seconds) == text)
    }

    @Test("A23: a second writer reads who the first is and since when, as a date and without padding")
    func owner() throws {
        let store = Store()
        let clock = Clock { 1_700_000_000_000_000_000 }
        try store.open().close()
        // An earlier version padded the line with spaces.
        let padded = "process 1 on a-much-longer-name" + String(repeating: " ", count: 90) + "\n"
        try store.disk.replace(Store.path + "/LOCK", with: Array(padded.utf8))
        let log = try Log.open(
            Store.path, on: store.disk, clock: clock, options: Store.options, deriver: WholeRowDeriver())
        let text = String(decoding: try store.disk.contents(Store.path + "/LOCK"), as: UTF8.self)
        #expect(text.hasSuffix(" since 2023-11-14T22:13:20Z, start start-0\n") && text.hasPrefix("process "))
        #expect(!text.contains("  "))
        // Another disk object: with the same one the registry would share the log.
        let refused = error { _ = try store.open(on: CountingDisk(over: store.disk)) }
        #expect(refused?.code == .lockedByAnother)
        #expect(refused?.message.contains("since 2023-11-14T22:13:20Z. Close") == true, "\(refused?.message ?? "-")")
        try log.close()
    }

    @Test("A23: a manifest that cannot be read is named, with the offset", arguments: [10, 70, 130])
    func manifest(_ place: Int) throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1)])
        try log.close()
        let path = try #require(store.files(.manifest).last)
        store.disk.flip(bit: place * 8, of: path)
        let refused = error { _ = try store.open() }
        #expect(refused?.code == .damaged)
        #expect(refused?.path == path)
        #expect(refused?.offset == (place < 64 ? 0 : 64))
    }

    @Test("A23: a full disk says one sentence and one path")
    func fullDisk() throws {
        let store = Store()
        let log = try store.open()
        store.disk.byteCapacity = 1
        let refused = try #require(
            error { for number in 0..<5_000 { try log.insert([row(number, byteCount: 2_000)]) } })
        #expect(refused.code == .fullDisk)
        let text = "\(refused)"
        let path = try #require(refused.path)
        #expect(text.components(of: path) == 1, "\(text)")
        #expect(text.components(of: " full") == 1, "\(text)")
        #expect(text.components(of: "try again") == 1, "\(text)")
        log.abandonForTests()
    }

    @Test("A23: an error of the disk names the system call, and the path once")
    func failedDisk() {
        let cause = DiskError(code: .ioFailure, systemCall: .pread, errorNumber: 5, path: "/s/a", offset: 8)
        let text = "\(LogError(cause))"
        #expect(text.components(of: "/s/a") == 1)
        #expect(text.hasSuffix("(could not be read or written by the device: pread, errno 5)"), "\(text)")
    }

    @Test("A23: a directory of other files is refused and gets no LOCK file", arguments: ["notes.txt", "IDENTITY"])
    func foreignDirectory(_ name: String) throws {
        let disk = SimulatedDisk(directories: ["/d", Store.path])
        try disk.replace(Store.path + "/" + name, with: [1, 2, 3])
        let store = Store(disk)
        #expect(store.openingCode() == .notAStore)
        #expect(try disk.names(in: Store.path) == [name])
        // A store that lost its LOCK is none of these.
        let other = Store()
        try other.open().close()
        try other.disk.remove(Store.path + "/LOCK")
        try other.open().close()
        #expect(try other.disk.isPresent(Store.path + "/LOCK"))
    }

    @Test("A23: a symbolic link that leads to nothing is called that")
    func danglingLink() throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/store"
        #expect(symlink(folder.path + "/nowhere", path) == 0)
        defer { unlink(path) }
        let refused = error {
            _ = try Log.open(
                path, on: PosixDisk(), clock: .system, options: Store.options, deriver: WholeRowDeriver())
        }
        #expect(refused?.code == .notAStore)
        #expect(refused?.message.contains("symbolic link") == true, "\(refused.map { "\($0)" } ?? "-")")
    }

    @Test("A23: damage names the entity where the layer above has named the table")
    func tableName() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert([row(1), row(2)])
        log.addTableNames([testTable: "Person"])
        let path = try #require(store.files(.hotSegment).last)
        store.disk.flip(bit: (64 + 48 + 24 + 3) * 8, of: path)
        let damage = error { _ = try log.snapshot().row(ids[0]) }
        #expect(damage?.code == .damaged)
        #expect(damage?.message.contains("object 1 of Person (table 16) ") == true, "\(damage?.message ?? "-")")
        log.abandonForTests()
    }
}

extension String {
    /// The number of occurrences of a text in this one.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
