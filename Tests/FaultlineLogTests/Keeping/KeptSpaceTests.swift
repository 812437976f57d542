import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A kept state holds its own segments back, and nothing else: what it holds is no reason to compact, or to wait.
struct KeptSpaceTests {
    private static let objectCount = 40
    private let store = Store()

    private func options(isCompacting: Bool = true) -> LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        options.checkpointByteCount = 4_000
        options.isCompressingBlobs = false
        options.isCompacting = isCompacting
        options.maintenance = isCompacting ? .inline : .manual
        return options
    }

    /// Writes every object so many times: most of it is dead afterwards.
    private func write(_ log: Log, rounds: Range<Int>, _ body: () throws -> Void = {}) throws {
        for round in rounds {
            for number in 1...Self.objectCount {
                _ = try log.write(author: nil) {
                    try $0.put(UInt64(number), row(round * 100 + number, byteCount: 100), in: plainTable)
                }
                try body()
            }
        }
    }

    /// Bytes of all segments that the state does not have.
    private func otherByteCount(_ log: Log, _ kept: Set<UInt64>) throws -> UInt64 {
        try log.usage().segments.reduce(0) { $0 + (kept.contains($1.number) ? 0 : $1.byteCount) }
    }

    /// Thirty times as much is dead in the kept segments as the store has: were that counted, thirty times as much would
    /// have to die in the others before they are worth a look.
    @Test func `what is dead in it does not hold compaction of the rest back`() throws {
        var log = try store.open(options(isCompacting: false))
        try write(log, rounds: 0..<30)
        try log.keepState(for: 1_000)
        let kept = Set(try log.usage().segments.map(\.number))
        try log.close()
        log = try store.open(options())
        try write(log, rounds: 30..<31)
        // Until nothing to compact is found.
        for _ in 0..<4 { try log.compact() }
        #expect(try log.compact().segmentCount == 0)
        let live = try log.usage().liveByteCount
        #expect(live > 5_000)
        var most: UInt64 = 0
        try write(log, rounds: 31..<45) { most = max(most, try otherByteCount(log, kept)) }
        #expect(most < live * 3, "\(most) beside \(live) that are live")
        #expect(try log.keptState(countsLive: true)?.heldByteCount ?? 0 > 100_000)
        try log.close()
    }

    /// Kept while the store is open, and found again by an opening.
    @Test(arguments: [false, true]) func `what is dead in it makes no writer wait`(isOpenedAgain: Bool) throws {
        var log = try store.open(options(isCompacting: false))
        try write(log, rounds: 0..<30)
        try log.close()
        // What is there when a store is opened is put up with: so it has to be so much more.
        log = try store.open(options())
        try log.keepState(for: 1_000)
        if isOpenedAgain {
            try log.close()
            log = try store.open(options())
        }
        let before = log.figures.spaceWaitCount
        try write(log, rounds: 30..<50)
        #expect(log.figures.spaceWaitCount == before)
        try log.close()
    }

    /// Salvage without manifests reads a segment to its end, so what is moved later must not lie behind the state's.
    @Test func `what compaction moves later lies in no segment of its own`() throws {
        var options = options(isCompacting: false)
        options.segmentByteCount = 20_000
        options.checkpointByteCount = 1 << 30
        var log = try store.open(options)
        func write(_ log: Log, round: Int, step: Int) throws {
            for number in stride(from: step, through: Self.objectCount, by: step) {
                _ = try log.write(author: nil) {
                    try $0.put(UInt64(number), row(round * 100 + number, byteCount: 100))
                }
            }
        }
        for number in 1...Self.objectCount { try log.insert([row(number, byteCount: 100)]) }
        for round in 1...20 { try write(log, round: round, step: 2) }
        try log.checkpoint()
        try log.compact()
        let cold = try #require(store.files(.coldSegment).last)
        let bytes = try store.disk.contents(cold)
        #expect(bytes.count > 2_000 && bytes.count < 15_000)
        try log.keepState(for: 1_000)
        // The segment of commits goes on behind the state; all that follows lies in later ones.
        for number in 1...200 { try log.insert([row(number)], in: plainTable) }
        try write(log, round: 21, step: 1)
        for round in 22...60 { try write(log, round: round, step: 2) }
        try log.checkpoint()
        #expect(try log.compact().movedByteCount > 2_000)
        #expect(store.files(.coldSegment).count > 1)
        #expect(try store.disk.contents(cold) == bytes)
        try log.returnToKeptState()
        log = try store.open(options)
        try log.close()
        for path in store.files(.manifest) { try store.disk.remove(path) }
        let salvaged = try SalvagedStore(store).open()
        for number in 1...Self.objectCount {
            let expected = row(number % 2 == 0 ? 2_000 + number : number, byteCount: 100)
            #expect(try salvaged.snapshot().row(UInt64(number)) == expected, "object \(number)")
        }
        try salvaged.close()
    }
}
