import FaultlineDisk
import FaultlineObjects
import FaultlineTestSupport
import Testing

struct IdentityMapTests {
    /// From few numbers to so many that the map changes its layout, both close together and far apart.
    @Test(arguments: Seed.list(8), [60, 1_500, 6_000])
    func agreesWithADictionary(seed: Seed, bound: Int) {
        var random = seed
        var map = IdentityMap()
        var model: [UInt64: UInt] = [:]
        for step in 0..<20_000 {
            let number = UInt64(random.below(bound) + 1) &* (random.oneIn(50) ? 977 : 1)
            switch random.below(8) {
            case 0...3:
                let address = UInt(step + 1) * 16
                map.insert(address, for: number)
                model[number] = address
            case 4...5:
                map.remove(number)
                model[number] = nil
            case 6 where random.oneIn(200):
                map.reserve(random.below(3_000))
            default:
                break
            }
            guard map.address(of: number) == model[number] ?? 0, map.count == model.count else {
                Issue.record("step \(step): number \(number); \(seed.replayLine)")
                return
            }
        }
        var found: [UInt64: UInt] = [:]
        map.forEach { found[$0] = $1 }
        #expect(found == model, "\(seed.replayLine)")
    }

    /// A migration reads all objects of a store, with a few thousand of them alive at a time.
    @Test func `takes memory for objects that are alive, not for those that were`() {
        var map = IdentityMap()
        let aliveCount: UInt64 = 4_000
        var most = 0
        for number in 1...UInt64(300_000) {
            map.insert(UInt(number) * 16, for: number)
            if number > aliveCount { map.remove(number - aliveCount) }
            most = max(most, map.byteCount)
        }
        #expect(map.count == Int(aliveCount))
        // Two pages more than the objects fill, and 16 bytes for each 512 possible numbers.
        #expect(most < Int(aliveCount) * 8 + 3 * 4_096 + 4 * 300_000 / 32, "\(most) bytes")
        for number in UInt64(296_001)...300_000 { map.remove(number) }
        #expect(map.count == 0)
        // One page is kept for the next object.
        let empty = map.byteCount
        for number in UInt64(1)...10_000 {
            map.insert(16, for: number)
            #expect(map.byteCount == empty)
            map.remove(number)
        }
    }

    @Test("A4: an identifier far above the others takes no memory by itself", arguments: Seed.list(4))
    func farIdentifiers(seed: Seed) throws {
        var random = seed
        var map = IdentityMap()
        var model: [UInt64: UInt] = [:]
        for number in 1...UInt64(3_000) {
            map.insert(UInt(number) * 16, for: number)
            model[number] = UInt(number) * 16
        }
        let before = map.byteCount
        map.insert(16, for: 40_000_000_000)
        map.insert(32, for: 1 << 48 - 1)
        #expect(map.byteCount == before && map.count == 3_002)
        #expect(map.address(of: 40_000_000_000) == 16 && map.address(of: 1 << 48 - 1) == 32)
        (model[40_000_000_000], model[1 << 48 - 1]) = (16, 32)
        for step in 0..<20_000 {
            let number = random.next() >> UInt64(16 + random.below(44)) | 1
            if random.oneIn(3) {
                map.remove(number)
                model[number] = nil
            } else {
                map.insert(UInt(step + 1) * 16, for: number)
                model[number] = UInt(step + 1) * 16
            }
            guard map.address(of: number) == model[number] ?? 0, map.count == model.count else {
                Issue.record("step \(step): number \(number); \(seed.replayLine)")
                return
            }
            if step % 1_000 == 0 { try map.checkInvariants() }
        }
        try map.checkInvariants()
        var found: [UInt64: UInt] = [:]
        map.forEach { found[$0] = $1 }
        #expect(found == model, "\(seed.replayLine)")
        for number in model.keys { map.remove(number) }
        try map.checkInvariants()
        #expect(map.count == 0)
    }

    @Test(arguments: [3, 3_000]) func `a registered object without an address breaks a rule`(count: Int) throws {
        var map = IdentityMap()
        for number in 1...UInt64(count) { map.insert(16, for: number) }
        try map.checkInvariants()
        map.insert(0, for: UInt64(count) + 1)
        let error = #expect(throws: BrokenInvariant.self) { try map.checkInvariants() }
        #expect(error?.type == "IdentityMap")
    }

    @Test("A4: identifiers that grow apart move into the pages in linear time")
    func spreadIdentifiers() throws {
        var map = IdentityMap()
        for number in 0..<UInt64(100_000) { map.insert(16, for: 8_388_608 + number * 2_047) }
        try map.checkInvariants()
        #expect(map.count == 100_000)
    }
}
