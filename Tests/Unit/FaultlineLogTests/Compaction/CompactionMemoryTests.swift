import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Compaction of a store that is much larger than the memory budget, in a separate process.
struct CompactionMemoryTests {
    fileprivate static let budgetByteCount = 4 << 20
    fileprivate static let objectCount = 150_000

    fileprivate static var options: LogOptions {
        var options = LogOptions()
        options.memoryBudget = budgetByteCount
        options.maintenance = .manual
        options.durability = .async
        options.segmentByteCount = 8 << 20
        options.checkpointByteCount = 8 << 20
        options.isCompressingBlobs = false
        return options
    }

    /// 31 MB of rows, of which the oldest are mostly dead, and 30 MB of blobs, of which one of 12 MB and some small ones
    /// are live.
    fileprivate static func fill(_ log: Log) throws {
        let bytes = row(1, byteCount: 80)
        for remainders in [0..<8, 0..<4, 4..<6, 6..<7] {
            for first in stride(from: 0, to: objectCount, by: 10_000) {
                _ = try log.write(author: nil) { transaction in
                    if remainders.count == 8 { _ = try transaction.allocateIDs(10_000, in: plainTable) }
                    for number in first..<first + 10_000 where remainders.contains(number % 8) {
                        try transaction.put(
                            UInt64(number) + 1, in: plainTable, layout: 1, changed: remainders.count == 8 ? nil : 1,
                            flags: [],
                            byteCount: bytes.count
                        ) { $0.copyBytes(from: bytes) }
                    }
                }
            }
            try log.checkpoint()
        }
        var ids: [RecordID] = []
        let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
        for byteCount in [7_500_000, 12_000_000] + [Int](repeating: 50_000, count: 200) {
            let blob = [UInt8](repeating: 7, count: byteCount)
            ids += [
                try log.write(author: nil) { transaction in
                    try blob.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                }.value
            ]
        }
        _ = try log.write(author: nil) { for id in ids where id != 2 && id % 4 != 0 { try $0.deleteBlob(id) } }
    }

    @Test(.enabled(if: PeakMemory.isExact))
    func `stays inside the budget, but for its buffers, for any size of the store`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path + "/store"
            let disk = FailingDisk(over: PosixDisk())
            let filled = try Log.open(
                path, on: disk, clock: .system, options: CompactionMemoryTests.options, deriver: NoIndexes())
            try CompactionMemoryTests.fill(filled)
            try filled.close()

            let log = try Log.open(
                path, on: disk, clock: .system, options: CompactionMemoryTests.options, deriver: NoIndexes())
            // Safe because everything runs on one thread.
            nonisolated(unsafe) var most = 0
            disk.arm(
                DiskFault { _ in
                    most = max(most, log.budget.used)
                    return false
                })
            let measured = try #require(try PeakMemory.growth { try log.compact() })
            disk.disarm()
            let report = measured.result
            #expect(report.segmentCount >= 3 && report.movedByteCount > 15_000_000 && report.damage.isEmpty)
            #expect(most <= CompactionMemoryTests.budgetByteCount, "\(most) bytes of the budget")
            #expect(
                measured.byteCount <= CompactionMemoryTests.budgetByteCount + 6 << 20,
                "\(measured.byteCount) bytes more were resident")
            #expect(try log.findings().isEmpty)
            try log.close()
        }
    }

    /// Each record that is moved is the only one on its page: 5,000 pages are five times the budget.
    @Test func `a checkpoint comes between where moves change more pages than the budget holds`() throws {
        let directory = TemporaryDirectory()
        let disk = FailingDisk(over: PosixDisk())
        let log = try Log.open(
            directory.path + "/store", on: disk, clock: .system, options: Self.options, deriver: NoIndexes())
        let count = 5_000
        let distance = UInt64(TablePage.entryCount)
        for isDead in [false, true] {
            for first in stride(from: 0, to: count, by: 500) {
                _ = try log.write(author: nil) { transaction in
                    if first == 0, !isDead { _ = try transaction.allocateIDs(count * Int(distance), in: plainTable) }
                    for number in first..<first + 500 {
                        if !isDead {
                            try transaction.put(
                                UInt64(number) * distance + 1, row(number, byteCount: 80), in: plainTable)
                        }
                        // Records that die beside it.
                        try transaction.put(UInt64(number) + 2, row(number, byteCount: 900), in: TableID(rawValue: 18))
                    }
                }
                try log.checkpoint()
            }
        }
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var most = 0
        disk.arm(
            DiskFault { _ in
                most = max(most, log.budget.used)
                return false
            })
        let report = try log.compact()
        disk.disarm()
        #expect(report.movedByteCount > UInt64(count * 80) && report.damage.isEmpty)
        // The page that is being read is not included.
        #expect(most <= Self.budgetByteCount + TablePage.byteCount, "\(most) bytes of the budget")
        for number in stride(from: 0, to: count, by: 37) {
            #expect(try log.snapshot().row(UInt64(number) * distance + 1, in: plainTable) == row(number, byteCount: 80))
        }
        #expect(try log.findings().isEmpty)
        try log.close()
    }
}
