import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

struct OpenFilesTests {
    private let folder = TemporaryDirectory()

    /// A table, and files that may rest, each filled with its number.
    private struct Shelf {
        let table: OpenFiles
        let files: [DiskFile]
        let group = RestingFiles()
        let disk: PosixDisk

        init(_ table: OpenFiles, fileCount: Int, in folder: String) throws {
            self.table = table
            disk = PosixDisk(table)
            var files: [DiskFile] = []
            for number in 0..<fileCount {
                let file = try disk.open("\(folder)/\(number)", for: .creating)
                try file.write([UInt8](repeating: UInt8(number), count: 100), at: 0)
                file.mayRest(with: group)
                files.append(file)
            }
            self.files = files
        }

        func isRight(_ number: Int) throws(DiskError) -> Bool {
            try files[number].bytes(at: 90, count: 20) == [UInt8](repeating: UInt8(number), count: 10)
        }
    }

    private func code(_ body: () throws(DiskError) -> Void) -> DiskError.Code? {
        do throws(DiskError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: The limit

    @Test(arguments: Seed.list(60, unoptimized: 25)) func `files are right for each order of operations`(
        seed: Seed
    ) throws {
        var model = OpenFilesModel(seed)
        try model.run(stepCount: 1_500)
        #expect(model.goneCount > 0 && model.restingMax > 4, "\(seed.replayLine)")
    }

    @Test func `the files used least recently are closed`() throws {
        let shelf = try Shelf(OpenFiles(limit: 16), fileCount: 16, in: folder.path)
        #expect(shelf.table.count.resting == 0)
        // Takes the marks of use away, but for those of the files that are read afterwards.
        let extra = try shelf.disk.open(folder.path + "/extra", for: .creating)
        extra.mayRest(with: shelf.group)
        for number in 4..<16 { #expect(try shelf.isRight(number)) }
        let more = try (0..<3).map { number in
            let file = try shelf.disk.open(folder.path + "/more\(number)", for: .creating)
            file.mayRest(with: shelf.group)
            return file
        }
        #expect(shelf.table.count.resting == 4)
        for number in 4..<16 { try PosixDisk().rename("\(folder.path)/\(number)", to: "\(folder.path)/away\(number)") }
        // They are open, so their paths do not matter.
        for number in 4..<16 { #expect(try shelf.isRight(number)) }
        withExtendedLifetime((extra, more)) {}
    }

    @Test func `the limit is a quarter of the system's until it is set`() async {
        await #expect(processExitsWith: .success) {
            func setSystemLimit(_ limit: UInt) {
                var limits = rlimit(rlim_cur: limit, rlim_max: 4_000)
                guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { exit(2) }
            }
            let table = OpenFiles()
            setSystemLimit(1_000)
            #expect(table.limit == 250)
            setSystemLimit(2_000)
            #expect(table.limit == 500)
            setSystemLimit(50)
            #expect(table.limit == 16)
            table.limit = 100
            setSystemLimit(2_000)
            #expect(table.limit == 100)
            table.limit = 1
            #expect(table.limit == 16)
        }
    }

    @Test func `files that stay open leave a quarter of the limit to others, and are reported once`() throws {
        let openedCount = Guarded(0)
        let table = OpenFiles(limit: 40) { path in
            openedCount.withLock { $0 += 1 }
            return Glibc.open(path, O_RDONLY | O_CLOEXEC)
        }
        let shelf = try Shelf(table, fileCount: 10, in: folder.path)
        #expect(table.takeExcess() == nil)
        var staying: [DiskFile] = []
        for number in 0..<100 {
            staying.append(try shelf.disk.open("\(folder.path)/staying\(number)", for: .creating))
        }
        #expect(try staying[0].lock(byte: 0, exclusively: true))
        for _ in 0..<50 {
            for number in 0..<10 { #expect(try shelf.isRight(number)) }
        }
        #expect(table.count.open == 110)
        #expect(openedCount.withLock { $0 } <= 2)
        let excess = try #require(table.takeExcess())
        #expect(excess.open == 110 && excess.locks == 1 && excess.limit == 40)
        #expect(table.takeExcess() == nil)
        staying.removeLast(90)
        #expect(table.takeExcess() == nil)
        for number in 100..<200 {
            staying.append(try shelf.disk.open("\(folder.path)/staying\(number)", for: .creating))
        }
        #expect(table.takeExcess() != nil)
    }

    @Test func `threads read while files are closed and opened again`() throws {
        let shelf = try Shelf(OpenFiles(limit: 16), fileCount: 48, in: folder.path)
        let failureCount = Guarded(0)
        let threads = TestThreads()
        for thread in 0..<4 {
            threads.run {
                var random = Seed(UInt64(thread))
                for _ in 0..<TestSize.of(20_000, unoptimized: 20_000) {
                    // Many at the same file, too.
                    let number = random.oneIn(2) ? random.below(3) : random.below(48)
                    if (try? shelf.isRight(number)) != true { failureCount.withLock { $0 += 1 } }
                }
            }
        }
        for number in 0..<2_000 { shelf.table.limit = number % 2 == 0 ? 40 : 16 }
        threads.join()
        #expect(failureCount.withLock { $0 } == 0)
        let count = shelf.table.count
        #expect(count.open + count.resting == 48)
        #expect(OpenDescriptors.count(under: folder.path) == count.open)
    }

    // MARK: Files that changed

    @Test func `a removed file and one in its place are not read`() throws {
        let shelf = try Shelf(OpenFiles(limit: 16), fileCount: 40, in: folder.path)
        func path(_ number: Int) -> String { "\(folder.path)/\(number)" }
        // The last ones are open.
        for number in 30..<40 { #expect(try shelf.isRight(number)) }
        for number in 0..<8 { try PosixDisk().rename(path(number), to: path(number) + ".away") }
        for number in 0..<4 { try PosixDisk().copy(path(number) + ".away", to: path(number)) }
        for number in 0..<8 {
            let error = #expect(throws: DiskError.self) { try shelf.isRight(number) }
            #expect(error?.code == .gone && error?.path == path(number))
            #expect(error?.message.contains("restore the store from a backup") == true)
        }
        for number in 0..<8 {
            try PosixDisk().rename(path(number) + ".away", to: path(number))
            #expect(try shelf.isRight(number))
        }
    }

    @Test func `a new file with the identity of a removed one is not read`() throws {
        let shelf = try Shelf(OpenFiles(limit: 16), fileCount: 40, in: folder.path)
        var sameCount = 0
        for number in 0..<20 {
            let path = "\(folder.path)/\(number)"
            let identity = try PosixDisk().identity(of: path)
            for number in 20..<40 { #expect(try shelf.isRight(number)) }
            try PosixDisk().remove(path)
            try PosixDisk().createDurably(path, [UInt8](repeating: UInt8(number), count: 100), in: folder.path)
            if try PosixDisk().identity(of: path) == identity { sameCount += 1 }
            #expect(code { () throws(DiskError) in _ = try shelf.isRight(number) } == .gone)
        }
        // ext4 gives an identity again at once; tmpfs never does.
        print("\(sameCount) of 20 files got the identity of the file before.")
    }

    @Test func `a group that ended keeps its files open, but not those of another one`() throws {
        let table = OpenFiles(limit: 20)
        let shelf = try Shelf(table, fileCount: 25, in: folder.path)
        try PosixDisk().createDirectory(folder.path + "/other")
        let other = try Shelf(table, fileCount: 25, in: folder.path + "/other")
        #expect(table.count.open == 20)
        try PosixDisk().rename("\(folder.path)/3", to: "\(folder.path)/away")
        shelf.group.end()
        try PosixDisk().rename("\(folder.path)/away", to: "\(folder.path)/3")
        // All but one are open, and at least five of the other group's rest are closed.
        #expect(table.count.open >= 24 && table.count.open <= 30)
        for number in 0..<25 where number != 3 { try PosixDisk().remove("\(folder.path)/\(number)") }
        for number in 0..<25 { #expect(try shelf.isRight(number) && other.isRight(number)) }
        #expect(table.count.open <= 30)
        // A file that may rest too late stays open.
        let late = try (0..<10).map { try shelf.disk.open("\(folder.path)/late\($0)", for: .creating) }
        for file in late { file.mayRest(with: shelf.group) }
        table.limit = 16
        for file in late {
            try PosixDisk().remove(file.path)
            #expect(try file.byteCount() == 0)
        }
    }

    // MARK: Refusals

    @Test(arguments: [(EIO, DiskError.Code.ioFailure), (EACCES, .permissionDenied), (ENOENT, .gone)])
    func `an error of opening a file again is that of the read`(errorNumber: Int32, code: DiskError.Code) throws {
        let failure = Guarded<Int32>(0)
        let table = OpenFiles(limit: 16) { path in
            let failure = failure.withLock { $0 }
            return failure == 0 ? Glibc.open(path, O_RDONLY | O_CLOEXEC) : -failure
        }
        let shelf = try Shelf(table, fileCount: 40, in: folder.path)
        failure.withLock { $0 = errorNumber }
        for number in 0..<10 { #expect(self.code { () throws(DiskError) in _ = try shelf.isRight(number) } == code) }
        #expect(table.count.open <= 16)
        failure.withLock { $0 = 0 }
        for number in 0..<40 { #expect(try shelf.isRight(number)) }
    }

    @Test(arguments: [EMFILE, ENFILE])
    func `files are closed when the system refuses another one`(errorNumber: Int32) throws {
        let table = OpenFiles(limit: 40) { path in
            // The system's limit is below the table's.
            OpenDescriptors.count(under: String(path.dropLast(path.split(separator: "/").last?.count ?? 0).dropLast()))
                >= 12 ? -errorNumber : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        }
        let shelf = try Shelf(table, fileCount: 60, in: folder.path)
        for number in 0..<60 { #expect(try shelf.isRight(number)) }
        #expect(table.count.open <= 12)
    }

    @Test func `a refusal counts the files and the locks`() throws {
        let table = OpenFiles(limit: 16) { _ in -EMFILE }
        let shelf = try Shelf(table, fileCount: 40, in: folder.path)
        let lock = try shelf.disk.open(folder.path + "/lock", for: .creating)
        #expect(try lock.lock(byte: 0, exclusively: true))
        #expect(try lock.lock(byte: 1, exclusively: true))
        let error = try #require(throws: DiskError.self) { try shelf.isRight(0) }
        #expect(error.code == .tooManyOpenFiles && error.path == "\(folder.path)/0")
        let count = try #require(error.openFiles)
        #expect(count.open == 1 && count.locks == 1 && count.resting == 40)
        #expect(error.message.contains("1 files of stores open, 1 of them for locks"))
        #expect(error.message.contains("ulimit -n"))
        try lock.unlock(byte: 0)
        lock.close()
        #expect(table.count.locks == 0)
    }

    /// With threads that hold the lock of the table nearly all the time.
    @Test func `a child made by fork opens files`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryDirectory()
            let shelf = try Shelf(OpenFiles(limit: 16), fileCount: 40, in: folder.path)
            let isOver = Atomic<Bool>(false)
            let threads = TestThreads()
            for thread in 0..<3 {
                threads.run {
                    var number = thread
                    while !isOver.load(ordering: .relaxed) {
                        _ = try? shelf.isRight(number % 40)
                        _ = shelf.table.count
                        number += 7
                    }
                }
            }
            func readAll() -> UInt8 {
                let path = folder.path + "/0"
                guard (try? PosixDisk(shelf.table).contents(of: path).count) == 100 else { return 1 }
                for number in 0..<40 where (try? shelf.isRight(number)) != true { return 2 }
                // The parent may remove its files, so that the child keeps all of them open.
                return shelf.table.count.open == 40 ? 0 : 3
            }
            _ = readAll()
            var results: Set<Int> = []
            for _ in 0..<100 where results.subtracting([0]).isEmpty { results.insert(ForkedChild.result(of: readAll)) }
            isOver.store(true, ordering: .relaxed)
            threads.join()
            #expect(results == [0])
            for number in 0..<40 { #expect(try shelf.isRight(number)) }
            #expect(shelf.table.count.open <= 16)
        }
    }
}
