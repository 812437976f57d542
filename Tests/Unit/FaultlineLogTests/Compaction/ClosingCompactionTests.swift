import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// A store that is closed during a compaction.
struct ClosingCompactionTests {
    /// Closes a log from another thread during the first operation on a file.
    private final class Closer: Sendable {
        let log: Log
        private let hasBegun = Atomic<Bool>(false)
        private let thread = Guarded<SystemThread?>(nil)
        /// Operations of the disk when the store was closed.
        let operationCount = Atomic<Int>(-1)
        private let disk: SimulatedDisk
        private let isDue: @Sendable (String) -> Bool

        init(_ log: Log, _ disk: SimulatedDisk, _ isDue: @escaping @Sendable (String) -> Bool) {
            self.log = log
            self.disk = disk
            self.isDue = isDue
        }

        func operationBegins() {
            guard disk.filePaths.contains(where: isDue),
                hasBegun.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
            else { return }
            thread.withLock { $0 = SystemThread { self.close() } }
            // A closing log accepts no more transactions.
            while (try? log.write(author: nil) { _ in }) != nil { usleep(100) }
        }

        private func close() {
            try? log.close()
            operationCount.store(disk.operationCount, ordering: .releasing)
        }

        /// Waits for the thread; false if there was none.
        func join() -> Bool {
            guard let thread = thread.withLock({ $0 }) else { return false }
            thread.join()
            return true
        }
    }

    @Test(arguments: [6_000, 1_000])
    func `closing merges at most 16 MiB of index runs`(rowCount: Int) throws {
        var options = Store.options
        options.maintenance = .inline
        options.memoryBudget = 256 << 20
        let store = Store()
        let disk = CountingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        var ids: [RecordID] = []
        func replaceAll(_ round: Int) throws {
            let new = (0..<rowCount).map { row(round * 100_000 + $0, byteCount: 900) }
            _ = try log.write(author: nil) { for id in ids { try $0.erase(id) } }
            ids = try log.insert(round == 4 ? Array(new.prefix(10)) : new)
        }
        for round in 1...3 {
            try replaceAll(round)
            try log.checkpoint()
        }
        try replaceAll(4)
        let runs = store.files(.indexRun)
        let runByteCount = runs.reduce(0) { $0 + (store.disk.fileSizes[$1] ?? 0) }
        #expect(runs.count >= 3 && (runByteCount > 24 << 20) == (rowCount == 6_000))
        let segmentByteCount = store.segmentByteCount
        disk.reset()
        try log.close()
        #expect(store.segmentByteCount < segmentByteCount / 2)
        let readByteCount = runs.reduce(0) { $0 + disk.counts(of: $1).bytesRead }
        #expect(readByteCount < 18 << 20)
        if rowCount == 1_000 { #expect(store.files(.indexRun).count == 1 && readByteCount > runByteCount / 2) }
        let again = try store.open()
        #expect(again.snapshot().recordCount(of: testTable) == 10)
        #expect(try again.snapshot().firstID(row(400_003, byteCount: 900)) != nil)
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func `closing stops a compaction, and nothing is written after`() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let store = Store()
        let log = try store.open(options)
        for number in 1...400 { try log.insert([row(number, byteCount: 100)]) }
        for number in 1...400 where number % 4 != 0 {
            _ = try log.write(author: nil) { try $0.put(UInt64(number), row(1_000 + number, byteCount: 100)) }
        }
        try log.checkpoint()
        let before = store.files(.hotSegment).count

        let closer = Closer(log, store.disk) { $0.contains("/c-") }
        store.disk.onOperation = { _, _ in closer.operationBegins() }
        let error = #expect(throws: LogError.self) { try log.compact() }
        #expect(error?.code == .closed)
        #expect(closer.join())
        store.disk.onOperation = nil
        #expect(closer.operationCount.load(ordering: .acquiring) == store.disk.operationCount)
        // It was stopped in the middle: most of the segments to be dropped still exist.
        #expect(store.files(.hotSegment).count > before / 2)

        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        #expect(try again.findings().isEmpty)
        for number in 1...400 {
            let expected = row(number % 4 == 0 ? number : 1_000 + number, byteCount: 100)
            #expect(try again.snapshot().row(UInt64(number)) == expected)
        }
        try again.compact()
        #expect(store.files(.hotSegment).count < before / 2)
        try again.close()
    }

    @Test func `closing does not wait for the end of a large blob`() throws {
        var options = Store.options
        options.isCompressingBlobs = false
        options.segmentByteCount = 4 << 20
        let store = Store()
        let log = try store.open(options)
        let owner = BlobOwner(table: plainTable, slot: 3, id: 9)
        var random = Seed(3)
        let large = random.bytes(4 << 20)
        var ids: [RecordID] = []
        for bytes in [[UInt8](repeating: 1, count: 3_000_000), large, [2]] {
            ids += [
                try log.write(author: nil) { transaction in
                    try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }.value
            ]
        }
        let left = ids[1]
        _ = try log.write(author: nil) { try $0.deleteBlob(ids[0]) }
        try log.checkpoint()
        let before = Set(store.files(.blobSegment))
        let closer = Closer(log, store.disk) { [disk = store.disk] path in
            path.contains("/b-") && !before.contains(path) && (disk.bytes(of: path)?.count ?? 0) > 1 << 20
        }
        store.disk.onOperation = { _, _ in closer.operationBegins() }
        let error = #expect(throws: LogError.self) { try log.compact() }
        #expect(error?.code == .closed)
        #expect(closer.join())
        store.disk.onOperation = nil
        let copy = try #require(store.files(.blobSegment).first { !before.contains($0) })
        let copiedByteCount = try #require(store.disk.bytes(of: copy)?.count)
        #expect(copiedByteCount < 2_500_000)

        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        let isThere = try again.snapshot().blob(left) == large
        #expect(isThere)
        #expect(try again.compact().segmentCount >= 2)
        let isThereStill = try again.snapshot().blob(left) == large
        #expect(isThereStill)
        #expect(try again.findings().isEmpty)
        try again.close()
        #expect(!store.files(.blobSegment).contains(copy))
    }
}
