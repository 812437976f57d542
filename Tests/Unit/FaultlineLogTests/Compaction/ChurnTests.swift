import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Measures the segments' size while all objects are updated again and again, in random order.
struct ChurnTests {
    private static let objectCount = 4_000
    /// The disk is measured before one of this many operations.
    private static let measuredOneIn = 4
    private static let passCount = 5
    private static let batchCount = 50

    /// Measures the segments of a store whenever any of its files changes.
    // Safe because everything runs on one thread.
    private final class Meter: @unchecked Sendable {
        let store = Store()
        private(set) var most: UInt64 = 0

        /// Bytes of all segments, dropped ones too while their files are there.
        func byteCount() throws -> UInt64 {
            let disk = store.disk
            return try disk.filePaths.reduce(0) { sum, path in
                guard ["/s-", "/c-", "/b-"].contains(where: { path.contains($0) }) else { return sum }
                let file = try disk.open(path, for: .reading)
                defer { file.close() }
                return try sum + file.byteCount()
            }
        }

        func start() {
            store.disk.onOperation = { [unowned self] _, number in
                guard number % measuredOneIn == 0 else { return }
                do { most = max(most, try byteCount()) } catch { Issue.record(error) }
            }
        }
    }

    private func options(segmentByteCount: Int, isCompacting: Bool) -> LogOptions {
        var options = Store.options
        options.segmentByteCount = segmentByteCount
        options.checkpointByteCount = 50_000
        options.isCompacting = isCompacting
        options.isCompressingBlobs = false
        // Closing frees the space prepared for commits.
        options.preparedByteCount = 0
        options.maintenance = .inline
        return options
    }

    /// Objects, or values outside of their rows, that are updated by replacing them.
    private struct Objects {
        let log: Log
        let areBlobs: Bool
        private var ids: [RecordID] = []
        private var random = Seed(7)

        init(_ log: Log, areBlobs: Bool) throws {
            self.log = log
            self.areBlobs = areBlobs
            let count = areBlobs ? objectCount / 10 : objectCount
            for first in stride(from: 0, to: count, by: batchCount) {
                ids += try log.write(author: nil) { transaction in
                    try (first..<first + batchCount).map { try Self.make($0, areBlobs, &transaction) }
                }.value
            }
        }

        private static func make(
            _ number: Int, _ areBlobs: Bool, _ transaction: inout Transaction
        ) throws -> RecordID {
            guard areBlobs else { return try transaction.insert(row(number, byteCount: 400), in: plainTable) }
            let owner = BlobOwner(table: plainTable, slot: 1, id: 1)
            return try row(number, byteCount: 4_100).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }

        /// Updates as many objects as there are.
        mutating func update() throws {
            for _ in stride(from: 0, to: ids.count, by: batchCount) {
                _ = try log.write(author: nil) { transaction in
                    for _ in 0..<batchCount {
                        let place = random.below(ids.count)
                        if areBlobs {
                            try transaction.deleteBlob(ids[place])
                            ids[place] = try Self.make(place, true, &transaction)
                        } else {
                            try transaction.put(ids[place], row(place, byteCount: 400), in: plainTable)
                        }
                    }
                }
            }
        }
    }

    /// Segments may be smaller than the live bytes, or larger than all of them.
    @Test(arguments: [false, true], [100_000, 64 << 20])
    func `takes at most twice the live bytes, and half more at the end`(
        areBlobs: Bool, segmentByteCount: Int
    ) throws {
        let meter = Meter()
        let log = try meter.store.open(
            options(segmentByteCount: segmentByteCount, isCompacting: true), deriver: NoIndexes())
        var objects = try Objects(log, areBlobs: areBlobs)
        try log.checkpoint()
        let live = try log.usage().liveByteCount
        meter.start()
        for _ in 0..<Self.passCount { try objects.update() }
        try log.compact()
        #expect(meter.most <= live * 2)
        // Beside the log, the segment of blobs is open.
        // Updated rows have a mask of changed slots.
        let liveAtEnd = try log.usage().liveByteCount
        #expect(try meter.byteCount() <= liveAtEnd * 3 / 2 + (areBlobs ? live / 8 : 0))
        #expect(try log.findings().isEmpty)
        meter.store.disk.onOperation = nil
        try log.close()
    }

    @Test(arguments: [false, true]) func `gives back the predicted bytes`(areBlobs: Bool) throws {
        let meter = Meter()
        let log = try meter.store.open(options(segmentByteCount: 150_000, isCompacting: false), deriver: NoIndexes())
        var objects = try Objects(log, areBlobs: areBlobs)
        for _ in 0..<2 { try objects.update() }
        try log.checkpoint()
        let before = try meter.byteCount()
        let report = try log.compact()
        let after = try meter.byteCount()
        let reclaimed = Double(before) - Double(after)
        #expect(abs(Double(report.predictedByteCount) - reclaimed) <= reclaimed / 10)
        #expect(abs(Double(report.reclaimedByteCount) - reclaimed) <= reclaimed / 10)
        try log.close()
    }
}
