import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// The system's limits of open files, and its refusals.
struct OpenFileLimitTests {
    /// Limits the descriptors of this process, beside those that it got from its parent.
    private static func setSystemLimit(_ limit: UInt) {
        let limit = limit + UInt((try? PosixDisk().names(in: "/proc/self/fd").count) ?? 0)
        var limits = rlimit(rlim_cur: limit, rlim_max: limit)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { exit(99) }
    }

    @Test func `a store of 131 files works with 36 descriptors`() async {
        await #expect(processExitsWith: .success) {
            let store = LimitedStore(.shared)
            try store.filled().close()
            guard store.fileCount >= 131 else { exit(1) }
            OpenFileLimitTests.setSystemLimit(36)
            var log = try store.open()
            guard try LimitedStore.isWhole(log.snapshot()) else { exit(2) }
            let old = log.snapshot()
            try LimitedStore.replaceAll(in: log)
            guard try LimitedStore.isWhole(old) else { exit(3) }
            guard try log.findings().isEmpty else { exit(4) }
            log.abandonForTests()
            log = try store.open()
            for id in stride(from: 1, to: LimitedStore.objectCount, by: 3) {
                guard try log.snapshot().row(UInt64(id)) == row(50_000 + id, byteCount: 60) else { exit(5) }
            }
            try log.close()
        }
    }

    /// A reader closes none of its files.
    @Test func `a refusal of the system counts the files and the locks`() async {
        await #expect(processExitsWith: .success) {
            let store = LimitedStore(.shared)
            try store.filled().close()
            OpenFileLimitTests.setSystemLimit(36)
            do {
                _ = try store.open(.reading)
                exit(1)
            } catch let error as LogError {
                guard error.code == .failedDisk, error.cause?.code == .tooManyOpenFiles else { exit(2) }
                for part in ["1 of them for locks", "ulimit -n"] where !error.message.contains(part) { exit(3) }
                guard error.path?.hasPrefix(store.path) == true else { exit(4) }
            }
            guard OpenFiles.shared.count.open == 0 else { exit(5) }
            let log = try store.open()
            guard try LimitedStore.isWhole(log.snapshot()) else { exit(6) }
            try log.close()
        }
    }

    @Test func `a process has a thousand stores open`() async {
        await #expect(processExitsWith: .success) {
            let storeCount = TestSize.of(1_000, unoptimized: 300)
            let folder = TemporaryDirectory(in: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
            let table = OpenFiles(limit: 64)
            func open(_ number: Int) throws -> Log {
                var options = LimitedStore.options()
                options.memoryBudget = 256 << 10
                return try Log.open(
                    "\(folder.path)/\(number)", on: PosixDisk(table), clock: Clock { 5 }, options: options,
                    deriver: WholeRowDeriver())
            }
            var logs: [Log] = []
            for number in 0..<storeCount {
                let log = try open(number)
                for first in 0..<4 { try log.insert((0..<40).map { row(first * 40 + $0 + number, byteCount: 60) }) }
                try log.checkpoint()
                logs.append(log)
            }
            // LOCK, the manifest, the segment that is written and its successor.
            guard table.count.open <= storeCount * 4 + 16, table.count.locks == storeCount else { exit(1) }
            guard table.count.resting > storeCount else { exit(2) }
            for _ in 0..<2 {
                for (number, log) in logs.enumerated() {
                    for place in stride(from: 0, to: 160, by: 31) {
                        let found = try log.snapshot().row(UInt64(place + 1))
                        guard found == row(place + number, byteCount: 60) else { exit(3) }
                    }
                }
                for (number, log) in logs.enumerated() {
                    try log.close()
                    logs[number] = try open(number)
                }
            }
            for log in logs { try log.close() }
            logs = []
            guard table.count.open == 0, table.count.locks == 0, table.count.resting == 0 else { exit(4) }
        }
    }

    @Test(arguments: [EIO, ENOENT, EMFILE, ENFILE])
    func `an error of opening a file again loses nothing`(errorNumber: Int32) throws {
        // The number of the opening that fails, and the number of openings so far.
        let state = Guarded((failing: -1, count: 0))
        let table = OpenFiles(limit: 16) { path in
            let fails = state.withLock { state in
                state.count += 1
                return state.failing >= 0 && state.count >= state.failing
            }
            return fails ? -errorNumber : Glibc.open(path, O_RDONLY | O_CLOEXEC)
        }
        let store = LimitedStore(table)
        var log = try store.filled()
        var random = Seed(UInt64(errorNumber))
        var acknowledged = (0..<LimitedStore.objectCount).map { row($0, byteCount: 60) }
        var failureCount = 0
        for round in 0..<20 {
            state.withLock { $0 = (1 + random.below(12), 0) }
            do {
                for _ in 0..<10 {
                    let place = random.below(acknowledged.count)
                    #expect(try log.snapshot().row(UInt64(place + 1)) == acknowledged[place])
                }
                let changed = random.below(acknowledged.count)
                let new = row(60_000 + round, byteCount: 60)
                _ = try log.write(author: nil) { try $0.put(UInt64(changed + 1), new) }
                acknowledged[changed] = new
                if round % 3 == 0 { try log.checkpoint() }
                if round % 5 == 0 { try log.compact() }
            } catch let error as LogError {
                failureCount += 1
                #expect(error.code == .failedDisk, "\(error)")
                let remedies = [ENOENT: "Put the file back", EIO: "Check the disk"]
                #expect(error.message.contains(remedies[errorNumber] ?? "ulimit -n"), "\(error)")
                #expect(error.path?.hasPrefix(store.path) == true)
            }
            state.withLock { $0.failing = -1 }
            if log.failure != nil || round == 10 {
                log.abandonForTests()
                log = try store.open()
            }
            try log.insert([row(70_000 + round, byteCount: 60)])
            acknowledged.append(row(70_000 + round, byteCount: 60))
        }
        #expect(failureCount > 10)
        for (place, bytes) in acknowledged.enumerated() {
            #expect(try log.snapshot().row(UInt64(place + 1)) == bytes)
        }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    /// While other threads of the parent read, commit and make checkpoints.
    @Test func `a child made by fork reads its parent's snapshot, and opens a store`() async {
        await #expect(processExitsWith: .success) {
            let store = LimitedStore()
            let log = try store.filled()
            let copy = LimitedStore(store.table, in: store.folder, name: "copy")
            try copy.filled().close()
            let isOver = Atomic<Bool>(false)
            let threads = TestThreads()
            for thread in 0..<2 {
                threads.run {
                    var number = thread
                    while !isOver.load(ordering: .relaxed) {
                        number += 1
                        _ = try? log.snapshot().row(UInt64(number * 37 % LimitedStore.objectCount + 1))
                    }
                }
            }
            let snapshot = log.snapshot()
            func readBoth() -> UInt8 {
                guard (try? LimitedStore.isWhole(snapshot, step: 41)) == true else { return 1 }
                guard let second = try? copy.open() else { return 2 }
                guard (try? LimitedStore.isWhole(second.snapshot(), step: 41)) == true else { return 3 }
                guard (try? second.insert([row(9_999)])) != nil, (try? second.close()) != nil else { return 4 }
                return (try? log.insert([row(1)])) == nil ? 0 : 5
            }
            guard readBoth() == 5 else { exit(1) }
            for _ in 0..<10 {
                let result = ForkedChild.result(of: readBoth)
                guard result == 0 else { exit(Int32(10 + abs(result))) }
            }
            isOver.store(true, ordering: .relaxed)
            threads.join()
            // The parent has its lock and its files as before.
            try log.insert([row(2)])
            guard try LimitedStore.isWhole(log.snapshot(), step: 7) else { exit(2) }
            do {
                _ = try store.open(on: LimitedStore.otherDisk)
                exit(3)
            } catch let error as LogError {
                guard error.code == .lockedByAnother else { exit(4) }
            }
            try log.close()
        }
    }
}
