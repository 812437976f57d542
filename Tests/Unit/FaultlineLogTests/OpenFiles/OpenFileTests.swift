import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// Stores with more files than the process keeps open.
struct OpenFileTests {
    @Test func `files that do not change are closed while they are not in use`() throws {
        let store = LimitedStore()
        var log = try store.filled()
        #expect(store.fileCount > 130)
        #expect(store.openCount <= 16)
        #expect(try LimitedStore.isWhole(log.snapshot()))
        #expect(try log.snapshot().firstID(row(700, byteCount: 60)) == 701)
        #expect(store.openCount <= 16)
        try log.insert([row(9_000)])
        try log.close()
        log = try store.open()
        #expect(store.openCount <= 16)
        #expect(try LimitedStore.isWhole(log.snapshot()))
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        log = try store.open()
        #expect(log.snapshot().recordCount(of: testTable) == LimitedStore.objectCount + 1)
        try log.close()
        // The segment that is written stays open.
        log = try store.open(segmentByteCount: 1 << 20)
        for number in 0..<3 {
            try log.insert([row(9_001 + number)])
            try log.checkpoint()
            #expect(try LimitedStore.isWhole(log.snapshot()))
        }
        try log.close()
        #expect(store.table.count.locks == 0)
    }

    /// Compaction drops segments that an old snapshot reads: they are removed when it ends.
    @Test func `an old snapshot reads files that compaction has dropped`() throws {
        let store = LimitedStore()
        let log = try store.filled()
        var old: Snapshot? = log.snapshot()
        for round in 1...3 { try LimitedStore.replaceAll(in: log, round: round) }
        #expect(store.openCount <= 16)
        #expect(try old.map { try LimitedStore.isWhole($0) } == true)
        let before = store.fileCount
        old = nil
        try log.checkpoint()
        try log.insert([row(1)])
        try log.checkpoint()
        #expect(store.fileCount < before - 60)
        #expect(try log.snapshot().row(5) == row(150_005, byteCount: 60))
        try log.close()
    }

    /// The writer does not know of a reader in another process, and removes the files that it still reads.
    @Test func `a reader beside the writer keeps its files open`() throws {
        let store = LimitedStore()
        let log = try store.filled()
        let table = OpenFiles(limit: 16)
        let reader = try store.open(.reading, on: CountingDisk(over: PosixDisk(table)))
        let old = reader.snapshot()
        for round in 1...3 { try LimitedStore.replaceAll(in: log, round: round) }
        #expect(table.count.open > 130 && table.count.resting == 0)
        #expect(try LimitedStore.isWhole(old))
        try reader.close()
        try log.close()
    }

    /// After a close another process may write, and remove files.
    @Test(arguments: [false, true]) func `a snapshot of a closed store keeps its files open`(isReleased: Bool) throws {
        let store = LimitedStore(limit: 100)
        var log: Log? = try store.filled()
        store.table.limit = 90
        let old = try #require(log?.snapshot())
        #expect(store.table.count.resting > 40)
        if !isReleased { try log?.close() }
        log = nil
        let other = try store.open(on: LimitedStore.otherDisk)
        for round in 1...3 { try LimitedStore.replaceAll(in: other, round: round) }
        try other.close()
        #expect(try LimitedStore.isWhole(old))
    }

    @Test func `closing a store leaves the files of others as they are`() throws {
        let folder = TemporaryDirectory()
        let store = LimitedStore(in: folder)
        let other = LimitedStore(store.table, in: folder, name: "store2")
        let log = try store.filled()
        let second = try other.filled()
        try log.close()
        withExtendedLifetime(log) {
            #expect(other.openCount <= 16)
            #expect((try? LimitedStore.isWhole(second.snapshot(), step: 7)) == true)
            #expect(other.openCount <= 16)
        }
        try second.close()
    }

    @Test func `an observer gets one event when locks and written files exceed the limit`() throws {
        let store = LimitedStore()
        let recorder = EventRecorder()
        var options = LimitedStore.options()
        options.observer = recorder
        var logs: [Log] = []
        for number in 0..<12 {
            logs.append(
                try Log.open(
                    store.folder.path + "/\(number)", on: store.disk, clock: Clock { 5 }, options: options,
                    deriver: WholeRowDeriver()))
        }
        for log in logs { try log.close() }
        let counts = recorder.events.compactMap { event in
            if case .openFilesExceedLimit(let count) = event { count } else { nil }
        }
        #expect(counts.count == 1)
        #expect(counts.first.map { $0.locks >= 4 && $0.open > 12 && $0.limit == 16 } == true)
    }
}
