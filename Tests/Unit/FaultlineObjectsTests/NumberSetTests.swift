import FaultlineLog
import FaultlineObjects
import FaultlineTestSupport
import Testing

struct NumberSetTests {
    @Test(arguments: Seed.list(4)) func `it holds the same numbers as a set, however far apart they are`(seed: Seed) {
        var random = seed
        var set = NumberSet()
        var plain: Set<RecordID> = []
        let starts: [RecordID] = [1, 4_000, 1 << 20, 1 << 47]
        for _ in 0..<4_000 {
            let number = random.pick(starts) + RecordID(random.below(6_000))
            switch random.below(5) {
            case 0:
                let least = plain.min()
                #expect(set.popFirst() == least, "\(seed.replayLine)")
                if let least { plain.remove(least) }
            case 1: #expect(set.contains(number) == plain.contains(number), "\(seed.replayLine)")
            default: #expect(set.insert(number) == plain.insert(number).inserted, "\(seed.replayLine)")
            }
            #expect(set.count == plain.count, "\(seed.replayLine)")
        }
        var found: [RecordID] = []
        set.forEach { found.append($0) }
        #expect(found == plain.sorted(), "\(seed.replayLine)")
        for number in plain.sorted() { #expect(set.popFirst() == number, "\(seed.replayLine)") }
        #expect(set.isEmpty && set.popFirst() == nil)
    }
}
