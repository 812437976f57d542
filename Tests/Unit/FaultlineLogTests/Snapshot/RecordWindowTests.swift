import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A window gives the records that single reads give, with fewer reads where they lie near each other.
struct RecordWindowTests {
    private let counting = CountingDisk(over: SimulatedDisk(directories: ["/d"]))

    /// Rows of 200 bytes, which are not compressed.
    private func rows(_ count: Int) -> [[UInt8]] {
        var random = Seed(1)
        return (0..<count).map { row($0) + random.bytes(180) }
    }

    private func filled(_ rows: [[UInt8]], byTransactionsOf count: Int = 100) throws -> (log: Log, ids: [RecordID]) {
        let log = try Store().open(on: counting)
        var ids: [RecordID] = []
        for start in stride(from: 0, to: rows.count, by: count) {
            ids += try log.insert(Array(rows[start..<min(start + count, rows.count)]), in: plainTable)
        }
        return (log, ids)
    }

    /// Reads some records by one window, and returns the number of reads.
    private func read(_ ids: [RecordID], of log: Log, expecting rows: [RecordID: [UInt8]]) throws -> DiskCounts {
        let snapshot = log.snapshot()
        return try counting.counting {
            var window = RecordWindow(snapshot)
            for id in ids {
                let view = try window.read(id, in: plainTable)
                #expect(view.map { Array($0.row) } == rows[id])
                #expect(view == nil || view?.id == id)
            }
        }.counts
    }

    @Test(arguments: [false, true]) func `neighbours are read together in either direction`(isDescending: Bool) throws {
        let rows = rows(1_000)
        let (log, ids) = try filled(rows)
        let stored = Dictionary(uniqueKeysWithValues: zip(ids, rows))
        let counts = try read(isDescending ? ids.reversed() : ids, of: log, expecting: stored)
        let byteCount = 1_000 * 232
        #expect(counts.reads <= byteCount / RecordWindow.byteCount * 5 / 4 + 4)
        #expect(counts.bytesRead <= byteCount * 3 / 2)
    }

    @Test func `records that are far from each other are read alone`() throws {
        let rows = rows(1_000)
        let (log, ids) = try filled(rows)
        let far = (0..<100).map { ids[$0 % 2 == 0 ? $0 : 999 - $0] }
        let counts = try read(far, of: log, expecting: Dictionary(uniqueKeysWithValues: zip(ids, rows)))
        #expect(counts.reads == 100)
        #expect(counts.bytesRead <= 100 * 240)
    }

    @Test func `records at a distance that no window shares are read alone`() throws {
        let rows = rows(2_000)
        let (log, ids) = try filled(rows)
        let stored = Dictionary(uniqueKeysWithValues: zip(ids, rows))
        for step in [20, 40, 65] {
            let some = stride(from: 0, to: 2_000, by: step).map { ids[$0] }
            let counts = try read(some, of: log, expecting: stored)
            #expect(counts.reads == some.count)
            #expect(counts.bytesRead <= some.count * 240)
        }
    }

    @Test(arguments: 1...8) func `any order of rows of any size gives the rows of single reads`(seed: UInt64) throws {
        var random = Seed(seed)
        // Rows of one byte value are compressed.
        let rows = (0..<400).map { number -> [UInt8] in
            let byteCount = [12, 200, 3_000, 20_000][random.below(4)]
            return random.below(2) == 0
                ? row(number) + random.bytes(byteCount) : row(number, byteCount: byteCount)
        }
        let (log, ids) = try filled(rows, byTransactionsOf: 30)
        var stored = Dictionary(uniqueKeysWithValues: zip(ids, rows))
        _ = try log.write(author: nil) { transaction in
            for place in stride(from: 3, to: 400, by: 17) { try transaction.delete(ids[place], in: plainTable) }
        }
        for place in stride(from: 3, to: 400, by: 17) { stored[ids[place]] = nil }
        var order: [RecordID] = []
        while order.count < 3_000 {
            let start = random.below(400)
            let step = [1, -1, 2, -3][random.below(4)]
            for place in 0..<random.below(40) where ids.indices.contains(start + place * step) {
                order.append(ids[start + place * step])
            }
        }
        _ = try read(order, of: log, expecting: stored)
    }

    @Test func `rows that are written later are not seen`() throws {
        let rows = rows(20)
        let (log, ids) = try filled(rows)
        var window = RecordWindow(log.snapshot())
        for id in ids[..<3] { #expect(try window.read(id, in: plainTable) != nil) }
        let later = try log.insert([row(99)], in: plainTable)
        #expect(try window.read(later[0], in: plainTable) == nil)
        for (id, row) in zip(ids, rows) { #expect(try window.read(id, in: plainTable).map { Array($0.row) } == row) }
    }

    @Test func `a damaged record has the error of a single read, and its neighbours are read`() throws {
        let disk = SimulatedDisk(directories: ["/d"])
        let store = Store(disk)
        let log = try store.open()
        let rows = rows(20)
        let ids = try log.insert(rows, in: plainTable)
        let snapshot = log.snapshot()
        let location = try snapshot.location(of: ids[7], in: plainTable)
        let file = try #require(store.files(.hotSegment).first)
        for bit in stride(from: Int(location.byteOffset) * 8, to: (Int(location.byteOffset) + 200) * 8, by: 13) {
            #expect(disk.flip(bit: bit, of: file))
            defer { _ = disk.flip(bit: bit, of: file) }
            var window = RecordWindow(snapshot)
            for (id, row) in zip(ids, rows) {
                guard id == ids[7] else {
                    #expect(try window.read(id, in: plainTable).map { Array($0.row) } == row)
                    continue
                }
                let alone = #expect(throws: LogError.self) { try snapshot.row(id, in: plainTable) }
                let error = #expect(throws: LogError.self) { _ = try window.read(id, in: plainTable) == nil }
                #expect(error?.description == alone?.description)
            }
        }
    }
}
