import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Large values that are written beside transactions, and placed by one.
struct UploadTests {
    private let store = Store()
    private static let owner = BlobOwner(table: plainTable, slot: 3, id: 9)

    private var options: LogOptions {
        var options = Store.options
        options.isCompressingBlobs = false
        return options
    }

    private static func bytes(_ number: Int, count: Int = 100_000) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 / 7 &+ $0 / 5_003) }
    }

    private func upload(_ bytes: [UInt8], to log: Log, pieceByteCount: Int = 30_000) throws -> FinishedUpload {
        let upload = try log.beginUpload()
        var start = 0
        while start < bytes.count {
            let end = min(start + pieceByteCount, bytes.count)
            try bytes[start..<end].withUnsafeBytes { try upload.append($0) }
            start = end
        }
        return try upload.finish()
    }

    private func place(_ upload: FinishedUpload, in log: Log) throws -> RecordID {
        try log.write(author: nil) { try $0.putBlob(upload, owner: Self.owner) }.value
    }

    private func blobSegments(_ log: Log) throws -> [LogUsage.Segment] {
        try log.usage().segments.filter { $0.kind == .blobSegment }
    }

    @Test(arguments: [1, 5_000, 65_535, 65_536, 65_537, 200_000, 3_000_000], [false, true])
    func `is placed beside commits, and is there after a kill`(byteCount: Int, isCompressing: Bool) throws {
        var options = options
        options.isCompressingBlobs = isCompressing
        let log = try store.open(options)
        let bytes = isCompressing ? Self.bytes(3, count: byteCount) : Seed.bytes(byteCount, seed: 4)
        let (first, second) = (try log.beginUpload(), try log.beginUpload())
        var start = 0
        var pieces = 0
        while start < bytes.count {
            let end = min(start + [1, 70_000, 13_001, 65_536][pieces % 4], bytes.count)
            for upload in [first, second] { try bytes[start..<end].withUnsafeBytes { try upload.append($0) } }
            if pieces < 20 { try log.insert([row(pieces)]) }
            start = end
            pieces += 1
        }
        let finished = [try second.finish(), try first.finish()]
        #expect(finished.allSatisfy { $0.byteCount == UInt64(byteCount) })
        var found = [UInt8](repeating: 0, count: byteCount)
        try found.withUnsafeMutableBytes { try finished[0].held.read(0..<UInt64(byteCount), into: $0) }
        #expect(found == bytes)
        let ids = try log.write(author: nil) { transaction in
            try finished.map { try transaction.putBlob($0, owner: Self.owner) }
        }.value
        try log.checkInvariants()
        let killed = store.killed
        for log in [log, try killed.open()] {
            for id in ids { #expect(try log.snapshot().blob(id) == bytes) }
            #expect(try log.findings().isEmpty)
            #expect(try log.insert([row(1_000)]).count == 1)
            try log.close()
        }
        let again = try killed.open()
        #expect(again.openReport.wasClean)
        for id in ids { #expect(try again.snapshot().blob(id) == bytes) }
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func `a value of several pieces is placed without copying it`() throws {
        let disk = CountingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let piece = Self.bytes(1, count: 1 << 20)
        let upload = try log.beginUpload()
        for _ in 0..<65 { try piece.withUnsafeBytes { try upload.append($0) } }
        let finished = try upload.finish()
        let (id, placing) = try disk.counting { try place(finished, in: log) }
        #expect(placing.bytesWritten < 1_000, "\(placing)")
        #expect(placing.bytesRead == 0)
        #expect(try log.snapshot().blobByteCount(id) == 65 << 20)
        var part = [UInt8](repeating: 0, count: 1 << 20)
        try part.withUnsafeMutableBytes { try log.snapshot().readBlob(id, range: 64 << 20..<65 << 20, into: $0) }
        #expect(part == piece)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `an upload that is placed again, or after a rollback, is copied`() throws {
        struct Abandonment: Error {}
        let log = try store.open(options)
        let bytes = Self.bytes(2)
        let finished = try upload(bytes, to: log)
        #expect(throws: Abandonment.self) {
            _ = try log.write(author: nil) { transaction in
                _ = try transaction.putBlob(finished, owner: Self.owner)
                throw Abandonment()
            }
        }
        try log.checkInvariants()
        #expect(log.snapshot().recordCount(of: .blobs) == 0)
        #expect(try blobSegments(log)[0].deadByteCount > 100_000)
        let ids = [try place(finished, in: log), try place(finished, in: log)]
        #expect(Set(ids).count == 2)
        #expect(try blobSegments(log).count == 2)
        for log in [log, try store.killed.open()] {
            for id in ids { #expect(try log.snapshot().blob(id) == bytes) }
            #expect(try log.findings().isEmpty)
            try log.close()
        }
    }

    @Test func `many uploads take few files, and each that is given up leaves dead bytes`() throws {
        let log = try store.open(options)
        var kept: [(RecordID, [UInt8])] = []
        for number in 0..<30 {
            let bytes = Self.bytes(number, count: 20_000)
            switch number % 3 {
            case 0: kept.append((try place(try upload(bytes, to: log), in: log), bytes))
            case 1: _ = try upload(bytes, to: log)
            default:
                let upload = try log.beginUpload()
                try bytes.withUnsafeBytes { try upload.append($0) }
                if number % 2 == 0 { upload.cancel() }
            }
        }
        let segments = try blobSegments(log)
        #expect(segments.count == 1)
        #expect(segments[0].deadByteCount >= 200_000 && segments[0].deadByteCount < 500_000)
        let uploads = try (0..<5).map { _ in try log.beginUpload() }
        #expect(try blobSegments(log).count == 5)
        uploads.forEach { $0.cancel() }
        for (id, bytes) in kept { #expect(try log.snapshot().blob(id) == bytes) }
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `a close ends uploads, and seals or drops their segments`() throws {
        let log = try store.open(options)
        let bytes = Self.bytes(5)
        let id = try place(try upload(bytes, to: log), in: log)
        let (under, beside) = (try log.beginUpload(), try log.beginUpload())
        try bytes.withUnsafeBytes { try under.append($0) }
        let waiting = try upload(bytes, to: log)
        try log.close()
        for act in [{ try bytes.withUnsafeBytes { try under.append($0) } }, { _ = try beside.finish() }] {
            let error = #expect(throws: LogError.self) { try act() }
            #expect(error?.code == .closed)
        }
        #expect(#expect(throws: LogError.self) { _ = try log.beginUpload() }?.code == .closed)
        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        #expect(try blobSegments(again).allSatisfy { $0.isSealed })
        #expect(try blobSegments(again).count == 1)
        #expect(try again.snapshot().blob(id) == bytes)
        // A value that was not placed in time can still be placed: as a copy.
        let copy = try place(waiting, in: again)
        #expect(try again.snapshot().blob(copy) == bytes)
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func `a store that has only uploads is clean after it was closed`() throws {
        let log = try store.open(options)
        let finished = try upload(Self.bytes(1), to: log)
        let upload = try log.beginUpload()
        try log.close()
        let again = try store.open(options)
        #expect(again.openReport.wasClean)
        #expect(try blobSegments(again).isEmpty)
        withExtendedLifetime((finished, upload)) {}
        try again.close()
        #expect(store.files(.blobSegment).isEmpty)
    }

    @Test(arguments: [false, true]) func `segments that a kill left go with a compaction`(
        isCheckpointed: Bool
    ) throws {
        var options = options
        options.segmentByteCount = 300_000
        options.checkpointByteCount = 300_000
        let log = try store.open(options)
        let bytes = Self.bytes(5)
        let waiting = try upload(Self.bytes(6), to: log)
        let id = try place(try upload(bytes, to: log), in: log)
        if isCheckpointed { try log.checkpoint() }
        let others = try (0..<3).map { _ in try log.beginUpload() }
        for other in others { for _ in 0..<4 { try bytes.withUnsafeBytes { try other.append($0) } } }
        let unplaced = try others.map { try $0.finish() }
        let killed = store.killed
        log.abandonForTests()
        withExtendedLifetime((waiting, unplaced)) {}
        let again = try killed.open(options)
        // The store goes on in one of those with a value that a transaction has placed.
        #expect(try blobSegments(again).count { !$0.isSealed } == 1)
        #expect(try again.snapshot().blob(id) == bytes)
        let before = try blobSegments(again)
        #expect(before.reduce(0) { $0 + $1.deadByteCount } > 1_200_000, "\(before)")
        try again.checkpoint()
        #expect(try again.compact().damage.isEmpty)
        try again.checkpoint()
        let after = try blobSegments(again)
        #expect(after.reduce(0) { $0 + $1.byteCount } < 400_000, "\(after)")
        #expect(try again.snapshot().blob(id) == bytes)
        #expect(try again.findings().isEmpty)
        try again.close()
        #expect(try killed.open(options).openReport.wasClean)
    }

    @Test func `a full segment waits for its uploads, and is then sealed by a checkpoint`() throws {
        var options = options
        options.segmentByteCount = 300_000
        options.checkpointByteCount = 300_000
        let log = try store.open(options)
        let bytes = Self.bytes(7)
        var waiting = try (0..<3).map { _ in try upload(bytes, to: log) }
        try log.insert([row(1)])
        try log.checkpoint()
        #expect(try blobSegments(log).map(\.isSealed) == [false])
        let last = waiting.removeLast()
        let ids = try waiting.map { try place($0, in: log) }
        waiting.removeAll()
        // A compaction beside it takes nothing of it.
        _ = try log.write(author: nil) { for id in ids.dropFirst() { try $0.deleteBlob(id) } }
        try log.checkpoint()
        try log.compact()
        #expect(try blobSegments(log).map(\.isSealed) == [false])
        let placed = try place(last, in: log)
        try log.checkpoint()
        #expect(try blobSegments(log).map(\.isSealed) == [true])
        try log.compact()
        try log.checkpoint()
        for id in [ids[0], placed] { #expect(try log.snapshot().blob(id) == bytes) }
        // Compaction may have moved it: the upload reads the file that it was written to.
        var found = [UInt8](repeating: 0, count: bytes.count)
        try found.withUnsafeMutableBytes { try last.held.read(0..<UInt64(bytes.count), into: $0) }
        #expect(found == bytes)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `segments of which nothing was placed go with a checkpoint`() throws {
        var options = options
        options.segmentByteCount = 300_000
        options.checkpointByteCount = 300_000
        let log = try store.open(options)
        for number in 0..<20 { _ = try upload(Self.bytes(number), to: log) }
        try log.checkpoint()
        for number in 0..<20 {
            _ = try upload(Self.bytes(number), to: log)
            try log.checkpoint()
        }
        #expect(try blobSegments(log).count <= 1)
        #expect(store.files(.blobSegment).count <= 1)
        try log.close()
    }
}

extension Seed {
    /// Random bytes.
    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = Seed(seed)
        return random.bytes(count)
    }
}
