import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Segments that begin inside a transaction, which compaction cannot drop before those where the transaction begins.
struct VictimSpanTests {
    private var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        options.frameByteCount = 3_000
        return options
    }

    /// Bytes of all segments, and those that the newest state needs.
    private func byteCounts(_ log: Log) throws -> (total: UInt64, live: UInt64) {
        let segments = try log.usage().segments
        return (segments.reduce(0) { $0 + $1.byteCount }, segments.reduce(0) { $0 + $1.liveByteCount })
    }

    /// Writes 620 objects that stay, and then 450 by one transaction that takes many segments; then changes nearly all
    /// of the 450, so that these segments are mostly dead.
    ///
    /// - Returns: The segments before the changes.
    private func fill(_ store: Store, _ log: Log) throws -> [String] {
        // Each of these has a separate frame.
        for batch in 0..<31 {
            try log.insert((1...20).map { row(batch * 20 + $0, byteCount: 100) }, in: plainTable)
        }
        let count = store.files(.hotSegment).count
        try log.insert((1...450).map { row($0, byteCount: 100) })
        let filled = store.files(.hotSegment)
        #expect(filled.count >= count + 10)
        _ = try log.write(author: nil) { transaction in
            for number in 1...450 where number % 45 > 0 {
                try transaction.put(UInt64(number), row(500 + number, byteCount: 8))
            }
        }
        try log.checkpoint()
        return Array(filled[(count - 1)...])
    }

    private func expectFilled(_ snapshot: Snapshot) throws {
        for number in 1...620 {
            #expect(try snapshot.row(UInt64(number), in: plainTable) == row(number, byteCount: 100))
        }
        for number in 1...450 {
            let expected = number % 45 > 0 ? row(500 + number, byteCount: 8) : row(number, byteCount: 100)
            #expect(try snapshot.row(UInt64(number)) == expected)
        }
    }

    @Test(arguments: [false, true]) func `dead segments go with the live one where their transaction begins`(
        meetsFullDisk: Bool
    ) throws {
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        _ = try fill(store, log)
        let before = try byteCounts(log)
        #expect(before.total > before.live * 3 / 2 + 4_000)
        if meetsFullDisk {
            disk.arm(
                DiskFault(
                    of: [.write], on: "/c-", ordinal: 1, errorNumber: ENOSPC, effect: .writesFirst(byteCount: 99)))
            #expect(throws: LogError.self) { try log.compact() }
            disk.disarm()
        }
        try log.compact()
        let after = try byteCounts(log)
        #expect(after.total <= after.live * 3 / 2, "\(after)")
        try expectFilled(log.snapshot())
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        for ignoresDerivedFiles in [false, true] {
            var options = options
            options.ignoresDerivedFiles = ignoresDerivedFiles
            let again = try store.killed.open(options)
            try expectFilled(again.snapshot())
            again.abandonForTests()
        }
    }

    @Test func `where the segment of the beginning is rotten, those behind it are not moved for nothing`() throws {
        let store = Store()
        let log = try store.open(options)
        let spanned = try fill(store, log)
        store.disk.flip(bit: 300 * 8, of: spanned[0])
        let report = try log.compact()
        #expect(report.damage.map(\.path) == [spanned[0]])
        #expect(report.movedByteCount == 0 && Set(spanned).isSubset(of: store.files(.hotSegment)))
        #expect(try log.compact().movedByteCount == 0)
        try log.close()
    }

    @Test func `a segment that rot keeps does not make others move again and again`() throws {
        let store = Store()
        let log = try store.open(options)
        // Live, except for a transaction's overhead over its five records.
        let other = TableID(rawValue: 18)
        for number in 0..<60 { try log.insert((1...5).map { row(number * 5 + $0, byteCount: 100) }, in: other) }
        let spanned = try fill(store, log)
        store.disk.flip(bit: 300 * 8, of: spanned[0])
        #expect(try log.compact().damage.map(\.path) == [spanned[0]])
        #expect(try log.compact().movedByteCount == 0)
        for number in 1...300 {
            #expect(try log.snapshot().row(UInt64(number), in: other) == row(number, byteCount: 100))
        }
        try log.close()
    }

    @Test(arguments: 1..<13 as Range<UInt64>) func `large changes leave dead bytes of at most half the live ones`(
        seed: UInt64
    ) throws {
        var random = Seed(seed)
        var options = options
        options.maintenance = random.oneIn(2) ? .inline : .manual
        options.checkpointByteCount = 8_000
        options.frameByteCount = 600
        let store = Store()
        let log = try store.open(options)
        var rows = try log.insert((1...300).map { row($0, byteCount: 60) }).map { row(Int($0), byteCount: 60) }
        var number = 1_000
        for _ in 0..<40 {
            // Each takes several segments, and begins in the middle of one.
            let changed = (0..<(20 + random.below(60))).map { _ in random.below(rows.count) }
            _ = try log.write(author: nil) { transaction in
                for place in changed {
                    number += 1
                    rows[place] = row(number, byteCount: 10 + random.below(120))
                    try transaction.put(UInt64(place + 1), rows[place])
                }
            }
            if random.oneIn(8) { try log.compact() }
        }
        try log.compact()
        let (total, live) = try byteCounts(log)
        #expect(total <= live * 3 / 2 + 4_000, "seed \(seed): \(total) for \(live)")
        #expect(try log.findings().isEmpty)
        log.abandonForTests()
        for ignoresDerivedFiles in [false, true] {
            options.ignoresDerivedFiles = ignoresDerivedFiles
            let again = try store.killed.open(options)
            for (place, row) in rows.enumerated() { #expect(try again.snapshot().row(UInt64(place + 1)) == row) }
            again.abandonForTests()
        }
    }
}
