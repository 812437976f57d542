import FaultlineDisk
import FaultlineTestSupport
import Testing

/// The same behaviour for every disk: the engine must not be able to distinguish them.
struct DiskConformanceTests {
    enum Kind: CaseIterable {
        case posix, simulated, failing, counting
    }

    /// A disk with an empty directory on it.
    struct Setting {
        let disk: Disk
        let root: String
        let directory: TemporaryDirectory?

        init(_ kind: Kind) {
            switch kind {
            case .posix:
                let directory = TemporaryDirectory()
                self.directory = directory
                root = directory.path
                disk = PosixDisk()
            case .simulated, .failing, .counting:
                directory = nil
                root = "/store"
                let simulated = SimulatedDisk(directories: ["/store"])
                disk =
                    kind == .simulated
                    ? simulated : kind == .failing ? FailingDisk(over: simulated) : CountingDisk(over: simulated)
            }
        }

        func path(_ name: String) -> String { "\(root)/\(name)" }
    }

    private func code<R>(_ body: () throws(DiskError) -> R) -> DiskError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: Kind.allCases)
    func readsWhatWasWritten(kind: Kind) throws {
        let setting = Setting(kind)
        let file = try setting.disk.open(setting.path("f"), for: .creating)
        var seed = Seed(3)
        var expected: [UInt8] = []

        for _ in 0..<200 {
            let offset = seed.below(20_000)
            let bytes = seed.bytes(seed.below(6000))
            try file.write(bytes, at: UInt64(offset))
            if bytes.isEmpty { continue }
            if expected.count < offset + bytes.count {
                expected += [UInt8](repeating: 0, count: offset + bytes.count - expected.count)
            }
            expected.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        }

        #expect(try file.byteCount() == UInt64(expected.count))
        #expect(try file.contents() == expected)
        #expect(try file.bytes(at: 4090, count: 10) == Array(expected[4090..<4100]))
        #expect(try file.bytes(at: UInt64(expected.count) - 3, count: 10) == Array(expected.suffix(3)))
        #expect(try file.bytes(at: UInt64(expected.count), count: 10) == [])
        #expect(try file.bytes(at: .max, count: 10) == [])
        #expect(try setting.disk.contents(of: setting.path("f")) == expected)
    }

    @Test(arguments: Kind.allCases)
    func opensAsItIsTold(kind: Kind) throws {
        let setting = Setting(kind)
        let disk = setting.disk
        #expect(code { () throws(DiskError) in try disk.open(setting.path("f"), for: .reading) } == .notFound)
        #expect(code { () throws(DiskError) in try disk.open(setting.path("f"), for: .updating) } == .notFound)
        try disk.createDurably(setting.path("f"), [1, 2, 3], in: setting.root)

        #expect(code { () throws(DiskError) in try disk.open(setting.path("f"), for: .creating) } == .exists)
        #expect(code { () throws(DiskError) in try disk.open(setting.path("f/g"), for: .reading) } == .notDirectory)
        #expect(code { () throws(DiskError) in try disk.open(setting.path("d/g"), for: .creating) } == .notFound)
        #expect(code { () throws(DiskError) in try disk.open(setting.root, for: .reading) } == .isDirectory)
        #expect(
            code { () throws(DiskError) in
                try disk.open(setting.path(String(repeating: "n", count: 300)), for: .creating)
            } == .nameTooLong)
        let reading = try disk.open(setting.path("f"), for: .reading)
        #expect(code { () throws(DiskError) in try reading.write([1], at: 0) } == .notWritable)
        #expect(code { () throws(DiskError) in try reading.lock(byte: 0, exclusively: true) } == .notWritable)
        #expect(
            code { () throws(DiskError) in try disk.open(setting.path("f"), for: .updating).write([9], at: 1) } == nil)
        #expect(try reading.contents() == [1, 9, 3])
    }

    @Test(arguments: Kind.allCases)
    func answersNothingOnceClosed(kind: Kind) throws {
        let setting = Setting(kind)
        let file = try setting.disk.open(setting.path("f"), for: .creating)
        file.close()
        file.close()

        #expect(code { () throws(DiskError) in try file.bytes(at: 0, count: 1) } == .notOpen)
        #expect(code { () throws(DiskError) in try file.write([1], at: 0) } == .notOpen)
        #expect(code { () throws(DiskError) in try file.synchronize() } == .notOpen)
        #expect(code { () throws(DiskError) in try file.byteCount() } == .notOpen)
        #expect(code { () throws(DiskError) in try file.lock(byte: 0, exclusively: false) } == .notOpen)
        #expect(code { () throws(DiskError) in try file.unlock(byte: 0) } == .notOpen)
        #expect(code { () throws(DiskError) in try file.forgetCachedPages() } == .notOpen)
        #expect(code { () throws(DiskError) in try file.releaseReserve() } != nil)
        #expect(code { () throws(DiskError) in try file.cut(to: 0) } == .notOpen)
    }

    @Test(arguments: Kind.allCases)
    func cutsAFileAndFindsZerosWhereItGrowsAgain(kind: Kind) throws {
        let setting = Setting(kind)
        let file = try setting.disk.open(setting.path("f"), for: .creating)
        let bytes = (0..<9_000).map { UInt8(truncatingIfNeeded: $0 % 251 + 1) }
        try file.write(bytes, at: 0)
        try file.synchronize()
        try file.reserve(from: 9_000, through: 20_000)

        try file.cut(to: 5_000)
        #expect(try file.contents() == Array(bytes[..<5_000]))
        try file.write([7], at: 6_000)
        #expect(try file.contents() == bytes[..<5_000] + [UInt8](repeating: 0, count: 1_000) + [7])
        try file.cut(to: 4_096)
        try file.cut(to: 0)
        #expect(try file.byteCount() == 0)

        let reading = try setting.disk.open(setting.path("f"), for: .reading)
        #expect(code { () throws(DiskError) in try reading.cut(to: 0) } != nil)
    }

    @Test(arguments: Kind.allCases)
    func listsDirectoriesInOrder(kind: Kind) throws {
        let setting = Setting(kind)
        let disk = setting.disk
        for name in ["log-10", "log-2", "MANIFEST-1", "é", "z"] {
            try disk.open(setting.path(name), for: .creating).close()
        }
        try disk.createDirectory(setting.path("blobs"))

        #expect(try disk.names(in: setting.root) == ["MANIFEST-1", "blobs", "log-10", "log-2", "z", "é"])
        #expect(try disk.names(in: setting.path("blobs")) == [])
        #expect(code { () throws(DiskError) in try disk.names(in: setting.path("none")) } == .notFound)
        #expect(code { () throws(DiskError) in try disk.names(in: setting.path("z")) } == .notDirectory)
        #expect(try disk.isPresent(setting.path("blobs")) && disk.isPresent(setting.path("z")))
        #expect(try !disk.isPresent(setting.path("none")) && !disk.isPresent(setting.path("z/none")))
    }

    @Test(arguments: Kind.allCases)
    func makesAndRemovesDirectories(kind: Kind) throws {
        let setting = Setting(kind)
        let disk = setting.disk
        try disk.createDirectory(setting.path("d"))
        try disk.createDurably(setting.path("d/f"), [1], in: setting.path("d"))

        #expect(code { () throws(DiskError) in try disk.createDirectory(setting.path("d")) } == .exists)
        #expect(code { () throws(DiskError) in try disk.createDirectory(setting.path("d/f")) } == .exists)
        #expect(code { () throws(DiskError) in try disk.createDirectory(setting.path("x/y")) } == .notFound)
        #expect(code { () throws(DiskError) in try disk.removeDirectory(setting.path("d")) } == .notEmpty)
        #expect(code { () throws(DiskError) in try disk.removeDirectory(setting.path("d/f")) } == .notDirectory)
        #expect(code { () throws(DiskError) in try disk.remove(setting.path("d")) } == .isDirectory)
        #expect(code { () throws(DiskError) in try disk.remove(setting.path("d/none")) } == .notFound)
        try disk.remove(setting.path("d/f"))
        try disk.removeDirectory(setting.path("d"))
        #expect(try disk.names(in: setting.root) == [])
        #expect(code { () throws(DiskError) in try disk.removeDirectory(setting.path("d")) } == .notFound)
        #expect(code { () throws(DiskError) in try disk.synchronizeDirectory(setting.path("d")) } == .notFound)
    }

    @Test(arguments: Kind.allCases)
    func renamesInOneStep(kind: Kind) throws {
        let setting = Setting(kind)
        let disk = setting.disk
        try disk.createDirectory(setting.path("d"))
        try disk.createDurably(setting.path("a"), [1], in: setting.root)
        try disk.createDurably(setting.path("b"), [2], in: setting.root)
        let replaced = try disk.open(setting.path("b"), for: .reading)

        try disk.rename(setting.path("a"), to: setting.path("b"))
        try disk.rename(setting.path("b"), to: setting.path("d/c"))
        try disk.rename(setting.path("d"), to: setting.path("e"))

        #expect(try disk.names(in: setting.root) == ["e"])
        #expect(try disk.contents(of: setting.path("e/c")) == [1])
        #expect(try replaced.contents() == [2])
        try disk.rename(setting.path("e/c"), to: setting.path("e/c"))
        #expect(try disk.contents(of: setting.path("e/c")) == [1])
        #expect(
            code { () throws(DiskError) in try disk.rename(setting.path("none"), to: setting.path("x")) } == .notFound)
        #expect(
            code { () throws(DiskError) in try disk.rename(setting.path("e/c"), to: setting.path("e")) } == .notEmpty)
        try disk.createDirectory(setting.path("x"))
        #expect(
            code { () throws(DiskError) in try disk.rename(setting.path("e/c"), to: setting.path("x")) } == .isDirectory
        )
        #expect(code { () throws(DiskError) in try disk.rename(setting.path("x"), to: setting.path("e")) } == .notEmpty)
        #expect(
            code { () throws(DiskError) in try disk.rename(setting.path("e"), to: setting.path("e/c/x")) }
                == .notDirectory)
        #expect(
            code { () throws(DiskError) in try disk.rename(setting.path("e"), to: setting.path("e/x")) } == .unexpected)
    }

    @Test(arguments: Kind.allCases)
    func knowsFilesByTheirIdentity(kind: Kind) throws {
        let setting = Setting(kind)
        let disk = setting.disk
        try disk.createDurably(setting.path("a"), [1], in: setting.root)
        try disk.createDurably(setting.path("b"), [1], in: setting.root)
        let before = try disk.identity(of: setting.path("a"))

        try disk.rename(setting.path("a"), to: setting.path("c"))

        #expect(try disk.identity(of: setting.path("c")) == before)
        #expect(try disk.identity(of: setting.path("b")) != before)
        #expect(try disk.identity(of: setting.root) != before)
        #expect(try disk.identity(of: setting.path("./") + "/b") == disk.identity(of: setting.path("b")))
        #expect(code { () throws(DiskError) in try disk.identity(of: setting.path("a")) } == .notFound)
    }

    @Test(arguments: Kind.allCases)
    func readsOnThroughAHandleOnARemovedFile(kind: Kind) throws {
        let setting = Setting(kind)
        try setting.disk.createDurably(setting.path("a"), [1, 2, 3], in: setting.root)
        let file = try setting.disk.open(setting.path("a"), for: .updating)

        try setting.disk.remove(setting.path("a"))
        try setting.disk.synchronizeDirectory(setting.root)
        try setting.disk.createDurably(setting.path("a"), [9], in: setting.root)
        try file.write([7], at: 3)

        #expect(try file.contents() == [1, 2, 3, 7])
        #expect(try setting.disk.contents(of: setting.path("a")) == [9])
    }

    @Test(arguments: Kind.allCases)
    func locksBytesBetweenHandles(kind: Kind) throws {
        let setting = Setting(kind)
        let first = try setting.disk.open(setting.path("LOCK"), for: .creating)
        let second = try setting.disk.open(setting.path("LOCK"), for: .updating)
        let third = try setting.disk.open(setting.path("LOCK"), for: .reading)

        #expect(try first.lock(byte: 0, exclusively: true))
        #expect(try first.lock(byte: 0, exclusively: true), "a handle's own lock does not stand in its way")
        #expect(try !second.lock(byte: 0, exclusively: true))
        #expect(try !third.lock(byte: 0, exclusively: false))
        #expect(try second.lock(byte: 1, exclusively: false) && third.lock(byte: 1, exclusively: false))
        #expect(try !first.lock(byte: 1, exclusively: true))
        #expect(try first.lock(byte: 0, exclusively: false), "a lock can be made a shared one")
        #expect(try third.lock(byte: 0, exclusively: false))
        #expect(try !first.lock(byte: 0, exclusively: true))
        try third.unlock(byte: 0)
        try third.unlock(byte: 77)
        #expect(try first.lock(byte: 0, exclusively: true))
        first.close()
        #expect(try second.lock(byte: 0, exclusively: true))
    }

    @Test(arguments: Kind.allCases)
    func givesUpALockWithTheLastReference(kind: Kind) throws {
        let setting = Setting(kind)
        var holder: DiskFile? = try setting.disk.open(setting.path("LOCK"), for: .creating)
        let other = try setting.disk.open(setting.path("LOCK"), for: .updating)
        #expect(try holder?.lock(byte: 0, exclusively: true) == true)
        #expect(try !other.lock(byte: 0, exclusively: true))

        holder = nil

        #expect(try other.lock(byte: 0, exclusively: true))
    }

    @Test(arguments: Kind.allCases)
    func tellsHowMuchRoomThereIs(kind: Kind) throws {
        let setting = Setting(kind)

        #expect(try setting.disk.freeByteCount(in: setting.root) > 0)
        #expect(try !setting.disk.fileSystem(of: setting.root).isRemote)
        #expect(code { () throws(DiskError) in try setting.disk.freeByteCount(in: setting.path("none")) } == .notFound)
        try setting.disk.createDurably(setting.path("a"), [1], in: setting.root)
        try setting.disk.open(setting.path("a"), for: .reading).forgetCachedPages()
        #expect(try setting.disk.contents(of: setting.path("a")) == [1])
    }

    @Test(arguments: Kind.allCases)
    func copiesFilesOfAnyLength(kind: Kind) throws {
        let setting = Setting(kind)
        var seed = Seed(6)
        for byteCount in [0, 1, 5000, 1 << 18, (1 << 19) + 77] {
            let bytes = seed.bytes(byteCount)
            try setting.disk.createDurably(setting.path("f\(byteCount)"), bytes, in: setting.root)

            try setting.disk.copy(setting.path("f\(byteCount)"), to: setting.path("g\(byteCount)"))

            #expect(try setting.disk.contents(of: setting.path("g\(byteCount)")) == bytes)
            #expect(try setting.disk.contents(of: setting.path("f\(byteCount)")) == bytes)
        }
        #expect(
            code { () throws(DiskError) in try setting.disk.copy(setting.path("f0"), to: setting.path("g0")) }
                == .exists)
        #expect(
            code { () throws(DiskError) in try setting.disk.copy(setting.path("x"), to: setting.path("y")) }
                == .notFound)
        #expect(try !setting.disk.isPresent(setting.path("y")))
    }
}
