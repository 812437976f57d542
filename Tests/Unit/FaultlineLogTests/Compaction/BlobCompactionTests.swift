import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Blobs that are moved to a new segment while others are written.
struct BlobCompactionTests {
    private let store = Store()
    private let owner = BlobOwner(table: plainTable, slot: 3, id: 9)

    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 100_000
        options.isCompressingBlobs = false
        return options
    }

    private func bytes(_ number: Int, count: Int = 40_000) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
    }

    private func put(_ bytes: [UInt8], _ log: Log) throws -> RecordID {
        try log.write(author: nil) { transaction in
            try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
    }

    private func openBlobSegments(_ log: Log) throws -> [UInt64] {
        try log.usage().segments.filter { $0.kind == .blobSegment && !$0.isSealed }.map(\.number)
    }

    @Test func `the segment being written is continued after a close, also if others were moved`() throws {
        var open: [UInt64] = []
        var left: [RecordID] = []
        var later: [RecordID] = []
        for round in 0..<5 {
            let log = try store.open(options)
            #expect(try openBlobSegments(log) == open)
            var ids: [RecordID] = []
            for number in 0..<10 { ids.append(try put(bytes(round * 10 + number), log)) }
            left.append(ids[0])
            _ = try log.write(author: nil) { for id in ids.dropFirst() { try $0.deleteBlob(id) } }
            try log.checkpoint()
            #expect(try log.compact().segmentCount > 0)
            // The one that was written to was mostly dead, and was moved too.
            #expect(try openBlobSegments(log).isEmpty)
            later.append(try put(bytes(100 + round), log))
            open = try openBlobSegments(log)
            #expect(open.count == 1, "round \(round): \(open)")
            try log.close()
        }
        let log = try store.open(options)
        for (round, id) in left.enumerated() { #expect(try log.snapshot().blob(id) == bytes(round * 10)) }
        for (round, id) in later.enumerated() { #expect(try log.snapshot().blob(id) == bytes(100 + round)) }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `a move that a full disk ended leaves no segment open`() throws {
        let disk = FailingDisk(over: store.disk)
        var log = try store.open(options, on: disk)
        let ids = try (0..<10).map { try put(bytes($0), log) }
        _ = try log.write(author: nil) { for id in ids where id % 3 != 0 { try $0.deleteBlob(id) } }
        try log.checkpoint()
        let count = store.files(.blobSegment).count
        // One blob is moved, the next finds no space.
        disk.arm(
            DiskFault(ordinal: 1, errorNumber: ENOSPC, isSticky: true) { [store] operation in
                operation.kind == .reserve && operation.path.contains("/b-") && store.files(.blobSegment).count > count
            })
        let error = #expect(throws: LogError.self) { try log.compact() }
        #expect(error?.code == .fullDisk && log.failure == nil)
        disk.disarm()
        try log.close()
        log = try store.open(options, on: disk)
        #expect(log.openReport.wasClean)
        #expect(try openBlobSegments(log).isEmpty)
        #expect(try log.compact().damage.isEmpty)
        for id in ids where id % 3 == 0 { #expect(try log.snapshot().blob(id) == bytes(Int(id) - 1)) }
        try log.close()
    }

    @Test func `a blob that is deleted while it is copied stays deleted`() throws {
        let log = try store.open(options)
        let ids = try (0..<10).map { try put(bytes($0), log) }
        _ = try log.write(author: nil) { for id in ids where id % 3 != 0 { try $0.deleteBlob(id) } }
        try log.checkpoint()
        let count = store.files(.blobSegment).count
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var hasActed = false
        store.disk.onOperation = { disk, _ in
            // A blob is copied, and has no new placement yet.
            let blobs = disk.filePaths.filter { $0.contains("/b-") }
            guard !hasActed, blobs.count > count, disk.bytes(of: blobs[count])?.count ?? 0 > 64 else { return }
            hasActed = true
            do { _ = try log.write(author: nil) { try $0.deleteBlob(6) } } catch { Issue.record(error) }
        }
        #expect(try log.compact().segmentCount > 0)
        store.disk.onOperation = nil
        #expect(hasActed)
        #expect(throws: LogError.self) { try log.snapshot().blobByteCount(6) }
        #expect(log.snapshot().recordCount(of: .blobs) == 2)
        for id in [3, 9] as [RecordID] { #expect(try log.snapshot().blob(id) == bytes(Int(id) - 1)) }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `a segment with a blob that does not verify stays, and the others go`() throws {
        let log = try store.open(options)
        let ids = try (0..<10).map { try put(bytes($0), log) }
        _ = try log.write(author: nil) { for id in ids where id % 3 != 0 { try $0.deleteBlob(id) } }
        try log.checkpoint()
        let wanted = bytes(5, count: 1_000)
        let path = try #require(store.files(.blobSegment).first { store.disk.bytes(of: $0)?.contains(wanted) == true })
        let place = try #require(store.disk.bytes(of: path)?.firstRange(of: wanted)?.lowerBound)
        store.disk.flip(bit: (place + 500) * 8, of: path)
        let report = try log.compact()
        #expect(report.segmentCount > 0)
        #expect(report.damage.map(\.path) == [path])
        #expect(store.files(.blobSegment).contains(path))
        let error = #expect(throws: LogError.self) { try log.snapshot().blob(6) }
        #expect(error?.code == .damaged && error?.path == path)
        for id in [3, 9] as [RecordID] { #expect(try log.snapshot().blob(id) == bytes(Int(id) - 1)) }
        try log.close()
    }

    @Test(arguments: [1, 40, 40_000])
    func `the report counts every byte that was written for it`(byteCount: Int) throws {
        var options = options
        options.segmentByteCount = max(byteCount * 5 / 2, 3_000)
        let log = try store.open(options)
        let ids = try (0..<200).map { number in try put(bytes(number, count: byteCount), log) }
        _ = try log.write(author: nil) { for id in ids where id % 3 > 0 { try $0.deleteBlob(id) } }
        try log.checkpoint()
        let before = try log.usage().segments.reduce(0) { $0 + $1.byteCount }
        let report = try log.compact()
        #expect(report.segmentCount > 3 && report.movedByteCount > 0)
        let after = try log.usage().segments.reduce(0) { $0 + $1.byteCount }
        #expect(report.reclaimedByteCount == before - after, "\(report)")
        try log.close()
    }

    @Test func `one large blob that is deleted goes, although no other is written after it`() throws {
        let log = try store.open(options)
        let id = try put(bytes(1, count: 1_000_000), log)
        try log.checkpoint()
        #expect(try openBlobSegments(log).isEmpty)
        _ = try log.write(author: nil) { try $0.deleteBlob(id) }
        try log.checkpoint()
        _ = try log.compact()
        #expect(try log.usage().segments.allSatisfy { $0.kind != .blobSegment })
        // The next one goes to a separate segment.
        let next = try put(bytes(2), log)
        #expect(try openBlobSegments(log).count == 1)
        #expect(try log.snapshot().blob(next) == bytes(2))
        log.abandonForTests()
        let again = try store.killed.open(options)
        #expect(try again.snapshot().blob(next) == bytes(2))
        #expect(try again.findings().isEmpty)
        try again.close()
    }
}
