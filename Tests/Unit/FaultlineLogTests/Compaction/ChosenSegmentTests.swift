import FaultlineLog
import FaultlineTestSupport
import Testing

/// Tests the segments that compaction chooses without a request.
struct ChosenSegmentTests {
    /// Bytes of all segments, and those that the newest state needs.
    private func byteCounts(_ log: Log) throws -> (total: UInt64, live: UInt64) {
        let segments = try log.usage().segments
        return (segments.reduce(0) { $0 + $1.byteCount }, segments.reduce(0) { $0 + $1.liveByteCount })
    }

    /// They come first by age, and copying two of them exhausts a round's bytes, for too little gain.
    @Test func `old segments that are hardly dead do not keep the others from being taken`() throws {
        var options = Store.options
        options.segmentByteCount = 24_000
        options.frameByteCount = 30_000
        let store = Store()
        var log = try store.open(options)
        let old = try (0..<20).map { round in
            try log.insert((0..<22).map { row(round * 22 + $0, byteCount: 1_000) }, in: plainTable)
        }
        for number in 0..<1_000 { try log.insert([row(number)], in: plainTable) }
        let new = try (0..<20).map { round in
            try log.insert((0..<22).map { row(round * 22 + $0, byteCount: 1_000) }, in: plainTable)
        }
        try log.checkpoint()
        _ = try log.compact()
        _ = try log.write(author: nil) { transaction in
            for ids in old { for id in ids.prefix(2) { try transaction.delete(id, in: plainTable) } }
            for ids in new { for id in ids.prefix(19) { try transaction.delete(id, in: plainTable) } }
        }
        try log.close()
        options.maintenance = .inline
        options.checkpointByteCount = 1
        log = try store.open(options)
        let before = try byteCounts(log)
        #expect(before.total > before.live * 17 / 10, "\(before)")
        try log.insert([row(1)], in: plainTable)
        let after = try byteCounts(log)
        #expect(after.total < after.live * 16 / 10, "\(before), then \(after)")
        try log.close()
    }

    /// So such a segment can be dropped on a full disk too.
    @Test func `no file is made for a wholly dead segment that is not the oldest`() throws {
        var options = Store.options
        options.segmentByteCount = 4_000
        let store = Store()
        let log = try store.open(options)
        for batch in 0..<20 {
            try log.insert((0..<10).map { row(batch * 10 + $0, byteCount: 300) }, in: plainTable)
        }
        let live = store.files(.hotSegment).dropLast()
        let id = try #require(try log.insert([row(0)], in: plainTable).first)
        for round in 0..<20 {
            _ = try log.write(author: nil) { transaction in
                try transaction.put(id, row(round, byteCount: 600), in: plainTable)
            }
        }
        try log.checkpoint()
        let report = try log.compact()
        #expect(report.segmentCount > 0 && report.writtenByteCount == 0)
        #expect(store.files(.coldSegment).isEmpty)
        #expect(Set(store.files(.hotSegment)).isSuperset(of: live))
        #expect(try log.snapshot().row(id, in: plainTable) == row(19, byteCount: 600))
        try log.close()
    }
}
