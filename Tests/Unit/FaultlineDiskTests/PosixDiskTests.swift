import CFaultline
import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Testing

/// Tests only the operating system's disk.
///
/// `DiskConformanceTests` tests the rules for every disk.
struct PosixDiskTests {
    let directory = TemporaryDirectory()
    let disk = PosixDisk()

    private func code(_ body: () throws(DiskError) -> Void) -> DiskError.Code? {
        do {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func opensNothingButFiles() throws {
        let pipe = directory.path + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)

        #expect(code { () throws(DiskError) in _ = try disk.open(pipe, for: .reading) } == .notRegularFile)
        #expect(code { () throws(DiskError) in _ = try disk.open(pipe, for: .updating) } == .notRegularFile)
        #expect(code { () throws(DiskError) in _ = try disk.open("/dev/null", for: .updating) } == .notRegularFile)
        #expect(code { () throws(DiskError) in _ = try disk.open(directory.path, for: .reading) } == .isDirectory)
    }

    @Test(arguments: ["", "a\0b", "\0"])
    func refusesPathsThatCReadsAsOthers(path: String) {
        #expect(code { () throws(DiskError) in _ = try disk.open(path, for: .creating) } == .invalidPath)
        #expect(code { () throws(DiskError) in _ = try disk.names(in: path) } == .invalidPath)
        #expect(code { () throws(DiskError) in _ = try disk.isPresent(path) } == .invalidPath)
        #expect(code { () throws(DiskError) in try disk.createDirectory(path) } == .invalidPath)
        #expect(code { () throws(DiskError) in try disk.remove(path) } == .invalidPath)
        #expect(code { () throws(DiskError) in try disk.rename(directory.path, to: path) } == .invalidPath)
        #expect(code { () throws(DiskError) in try disk.synchronizeDirectory(path) } == .invalidPath)
        #expect(code { () throws(DiskError) in _ = try disk.freeByteCount(in: path) } == .invalidPath)
    }

    @Test func `a linked file is the same file, and stays if its first entry is removed`() throws {
        let (first, second) = (directory.path + "/first", directory.path + "/second")
        let file = try disk.open(first, for: .creating)
        try file.write([1, 2, 3], at: 0)
        file.close()
        try disk.link(first, to: second)
        #expect(try disk.identity(of: first) == disk.identity(of: second))
        #expect(code { () throws(DiskError) in try disk.link(first, to: second) } == .exists)
        try disk.remove(first)
        #expect(try disk.contents(of: second) == [1, 2, 3])
        #expect(code { () throws(DiskError) in try disk.link(first, to: directory.path + "/third") } == .notFound)
        #expect(code { () throws(DiskError) in try disk.link(second, to: "a\0b") } == .invalidPath)
    }

    @Test func namesTheCallThePathAndTheErrorNumber() {
        let path = directory.path + "/missing"

        #expect(throws: DiskError(code: .notFound, systemCall: .open, errorNumber: ENOENT, path: path)) {
            try disk.open(path, for: .reading)
        }
        #expect(throws: DiskError(code: .notFound, systemCall: .rename, errorNumber: ENOENT, path: path)) {
            try disk.rename(path, to: path + "2")
        }
    }

    @Test func writesNothingBeyondWhatAnOffsetCanName() throws {
        let file = try disk.open(directory.path + "/f", for: .creating)

        #expect(code { () throws(DiskError) in try file.write([1], at: .max) } == .fileTooLarge)
        #expect(code { () throws(DiskError) in try file.write([1], at: UInt64(Int64.max)) } == .fileTooLarge)
        #expect(try file.bytes(at: .max, count: 10) == [])
        #expect(try file.bytes(at: UInt64(Int64.max) - 10, count: 100) == [])
        #expect(code { () throws(DiskError) in _ = try file.lock(byte: .max, exclusively: true) } == .fileTooLarge)
    }

    @Test func leadsThroughSymbolicLinks() throws {
        try disk.createDurably(directory.path + "/f", [1, 2], in: directory.path)
        try #require(symlink(directory.path + "/f", directory.path + "/link") == 0)
        try #require(symlink(directory.path + "/loop", directory.path + "/loop") == 0)

        #expect(try disk.contents(of: directory.path + "/link") == [1, 2])
        #expect(try disk.identity(of: directory.path + "/link") == disk.identity(of: directory.path + "/f"))
        #expect(
            code { () throws(DiskError) in _ = try disk.open(directory.path + "/loop", for: .reading) } == .linkLoop)
    }

    @Test func closesItsDescriptorsWhenAskedAndWhenForgotten() throws {
        func openDescriptors() throws -> Int { try disk.names(in: "/proc/self/fd").count }
        try disk.createDurably(directory.path + "/f", [1], in: directory.path)

        // Other tests open files at the same time, so only a large number shows a leak.
        let before = try openDescriptors()
        for round in 0..<2000 {
            let file = try disk.open(directory.path + "/f", for: .updating)
            if round % 2 == 0 {
                file.close()
                file.close()
            }
            try disk.synchronizeDirectory(directory.path)
            _ = try disk.names(in: directory.path)
            _ = code { () throws(DiskError) in _ = try disk.open(directory.path, for: .reading) }
        }
        #expect(try openDescriptors() < before + 1000)
    }

    @Test func closesEveryDescriptorOnExec() throws {
        let file = try disk.open(directory.path + "/f", for: .creating)

        var flags: [Int32] = []
        for name in try disk.names(in: "/proc/self/fd") {
            guard let descriptor = Int32(name) else { continue }
            var status = fl_file_status()
            var mine = fl_file_status()
            guard fl_status(descriptor, &status) == 0, fl_path_status(file.path, &mine) == 0, status.inode == mine.inode
            else { continue }
            flags.append(fcntl(descriptor, F_GETFD))
        }

        #expect(flags == [FD_CLOEXEC])
    }

    @Test func tellsThatPermissionIsMissing() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let disk = PosixDisk()
            try disk.createDurably(directory.path + "/f", [1], in: directory.path)
            guard chmod(directory.path + "/f", 0) == 0, chmod(directory.path, 0o755) == 0 else { exit(2) }
            if getuid() == 0, setuid(65534) != 0 { exit(3) }
            #expect(
                throws: DiskError(
                    code: .permissionDenied, systemCall: .open, errorNumber: EACCES, path: directory.path + "/f")
            ) {
                try disk.open(directory.path + "/f", for: .reading)
            }
        }
    }

    @Test func tellsThatTooManyFilesAreOpen() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let disk = PosixDisk()
            try disk.createDurably(directory.path + "/f", [1], in: directory.path)
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(2) }
            var files: [DiskFile] = []
            var code: DiskError.Code?
            while code == nil, files.count < 100 {
                do throws(DiskError) {
                    files.append(try disk.open(directory.path + "/f", for: .reading))
                } catch {
                    code = error.code
                }
            }
            #expect(code == .tooManyOpenFiles)
            for file in files { file.close() }
        }
    }

    @Test func tellsThatTheFileSizeLimitIsReachedAndHowFarItCame() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let file = try PosixDisk().open(directory.path + "/f", for: .creating)
            var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
            guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            signal(SIGXFSZ, SIG_IGN)
            // The first call is short, 400 bytes; resuming it reaches the limit.
            #expect(
                throws: DiskError(
                    code: .fileTooLarge, systemCall: .pwrite, errorNumber: EFBIG, path: file.path, offset: 1000)
            ) {
                try file.write([UInt8](repeating: 7, count: 500), at: 600)
            }
            #expect(try file.byteCount() == 1000)
        }
    }

    @Test func setsSpaceAsideWithoutMakingTheFileLonger() throws {
        let path = directory.path + "/file"
        let file = try disk.open(path, for: .creating)
        try file.write([1, 2, 3], at: 0)
        try file.synchronize()
        let before = try allocatedByteCount(path)

        try file.reserve(from: 0, through: 1 << 20)

        #expect(try file.byteCount() == 3)
        #expect(try allocatedByteCount(path) >= 1 << 20)
        try file.releaseReserve()
        #expect(try file.byteCount() == 3)
        #expect(try allocatedByteCount(path) == before)

        let reading = try disk.open(path, for: .reading)
        #expect(throws: DiskError.self) { try reading.reserve(from: 0, through: 4_096) }
        #expect(throws: DiskError.self) { try reading.releaseReserve() }
        #expect(throws: DiskError.self) { try file.reserve(from: 0, through: .max) }
    }

    /// Bytes that a file takes on the disk.
    private func allocatedByteCount(_ path: String) throws -> Int {
        var status = stat()
        #expect(stat(path, &status) == 0)
        return Int(status.st_blocks) * 512
    }

    @Test func keepsALockFromAnotherProcess() async throws {
        let file = try disk.open(directory.path + "/LOCK", for: .creating)
        #expect(try file.lock(byte: 0, exclusively: true))
        let path = file.path

        await #expect(processExitsWith: .success) { [path = path as String] in
            let file = try PosixDisk().open(path, for: .updating)
            #expect(try file.lock(byte: 0, exclusively: true) == false)
            #expect(try file.lock(byte: 0, exclusively: false) == false)
            #expect(try file.lock(byte: 1, exclusively: true))
        }
    }

    @Test func keepsALockWhileAnotherDescriptorOfTheFileIsClosed() throws {
        let path = directory.path + "/LOCK"
        let holder = try disk.open(path, for: .creating)
        #expect(try holder.lock(byte: 0, exclusively: true))

        try disk.open(path, for: .reading).close()

        #expect(try disk.open(path, for: .updating).lock(byte: 0, exclusively: true) == false)
    }

    @Test func knowsWhereFilesLie() throws {
        #expect(try disk.fileSystem(of: "/proc").name == "0x9fa0")
        #expect(try disk.freeByteCount(in: directory.path) > 0)
        #expect(FileSystemKind.nfs.isRemote && !FileSystemKind.ext4.isRemote)
        let fat = FileSystemKind(magic: 0x4D44)
        #expect(FileSystemKind.ext4.keepsIdentities && !FileSystemKind.nfs.keepsIdentities && !fat.keepsIdentities)
        #expect(FileSystemKind.btrfs.isCopyOnWrite && !FileSystemKind.xfs.isCopyOnWrite)
        #expect(FileSystemKind.tmpfs.isVolatile && FileSystemKind.tmpfs.name == "tmpfs")
    }
}
