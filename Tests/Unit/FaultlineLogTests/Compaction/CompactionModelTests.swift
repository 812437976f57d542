import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Random workloads with compactions, compared with a model.
struct CompactionModelTests {
    private static func options(_ seed: UInt64) -> LogOptions {
        var random = Seed(seed ^ 0xC0)
        var options = Store.options
        options.segmentByteCount = random.pick([2_000, 8_000, 30_000])
        options.frameByteCount = random.pick([600, 100_000])
        options.checkpointByteCount = random.pick([4_000, 20_000])
        options.memoryBudget = random.pick([1 << 20, 150_000])
        options.maintenance = random.oneIn(3) ? .inline : .manual
        return options
    }

    @Test(arguments: 1...UInt64(TestSize.of(30, unoptimized: 10)))
    func `keeps its contents through compactions and reopenings`(seed: UInt64) throws {
        let options = Self.options(seed)
        let model = CompactionModel(seed: seed)
        var store = Store()
        var log = try store.open(options)
        var held: [(snapshot: Snapshot, model: CompactionModel)] = []
        var dropped = 0
        for step in 0..<160 {
            switch model.below(24) {
            case 0..<16: try model.commit(log, usesBlobs: seed % 3 != 0)
            case 16, 17: try model.giveUp(log)
            case 18: try log.checkpoint()
            case 19, 20:
                dropped += try log.compact().segmentCount
                let rebuilt = try store.rebuilt(options)
                #expect(try model.difference(rebuilt.snapshot()) == nil, "seed \(seed), step \(step), from segments")
                rebuilt.abandonForTests()
            case 21:
                held.append((log.snapshot(), model.copy()))
                if held.count > 2 { held.removeFirst() }
            default:
                for (snapshot, old) in held {
                    #expect(try old.difference(snapshot) == nil, "seed \(seed), step \(step)")
                }
                held.removeAll()
                var opening = options
                if model.below(2) == 0 {
                    try log.close()
                } else {
                    log.abandonForTests()
                    store = store.killed
                }
                opening.ignoresDerivedFiles = model.below(3) == 0
                log = try store.open(opening)
                if opening.ignoresDerivedFiles {
                    #expect(try model.difference(log.snapshot()) == nil, "seed \(seed), step \(step), from segments")
                    try log.close()
                    log = try store.open(options)
                }
            }
            if let difference = try model.difference(log.snapshot()) {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
        for (snapshot, old) in held { #expect(try old.difference(snapshot) == nil, "seed \(seed), at the end") }
        held.removeAll()
        #expect(try log.findings().isEmpty)
        dropped += try log.compact().segmentCount
        #expect(dropped > 0)
        // Besides one and a half times the live bytes, there are current segments and recent deletes.
        let segments = try log.usage().segments
        let live = segments.reduce(0) { $0 + $1.liveByteCount }
        let bound = live * 3 / 2 + 2 * UInt64(options.segmentByteCount)
        #expect(segments.reduce(0) { $0 + $1.byteCount } <= bound, "seed \(seed): \(segments)")
        #expect(try model.difference(log.snapshot()) == nil)
        try log.close()
    }
}
