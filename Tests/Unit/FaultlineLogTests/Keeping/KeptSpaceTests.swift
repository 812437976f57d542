import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A kept state keeps only its own segments: they are no reason to compact, or to wait.
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

    /// Writes every object in each round: most of it is dead afterwards.
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

    /// Bytes of all segments outside the kept state.
    private func otherByteCount(_ log: Log, _ kept: Set<UInt64>) throws -> UInt64 {
        try log.usage().segments.reduce(0) { $0 + (kept.contains($1.number) ? 0 : $1.byteCount) }
    }

    /// The kept segments have thirty times as many dead bytes as the store has live ones.
    ///
    /// If these counted, thirty times as much would have to die in the others before they are worth compacting.
    @Test func `its dead bytes do not hold back compaction of the rest`() throws {
        var log = try store.open(options(isCompacting: false))
        try write(log, rounds: 0..<30)
        try log.keepState(for: 1_000)
        let kept = Set(try log.usage().segments.map(\.number))
        try log.close()
        log = try store.open(options())
        try write(log, rounds: 30..<31)
        // Until there is nothing to compact.
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
    @Test(arguments: [false, true]) func `its dead bytes make no writer wait`(isOpenedAgain: Bool) throws {
        var log = try store.open(options(isCompacting: false))
        try write(log, rounds: 0..<30)
        try log.close()
        // The size at the opening is tolerated, so it must grow by so much more.
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

    /// Salvage without manifests reads a segment to its end, so records moved later must not follow the state's.
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
        // The segment of commits continues behind the state; everything later is in later ones.
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
