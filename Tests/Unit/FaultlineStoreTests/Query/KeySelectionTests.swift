import FaultlineStore
import Testing

struct KeySelectionTests {
    /// Indices of the first keys, by sorting all of them.
    private func expected(_ keys: [[UInt8]], _ limit: Int?) -> [UInt64] {
        let order = keys.indices.sorted {
            keys[$0] == keys[$1] ? $0 < $1 : keys[$0].lexicographicallyPrecedes(keys[$1])
        }
        return order.prefix(limit ?? .max).map { UInt64($0) }
    }

    private func select(_ keys: [[UInt8]], _ limit: Int?) -> [UInt64] {
        var selection = KeySelection(limit: limit)
        for (index, key) in keys.enumerated() { key.withUnsafeBytes { selection.offer($0, tag: UInt64(index)) } }
        selection.sort()
        return (0..<selection.count).map { selection.tag(at: $0) }
    }

    @Test func keepsTheFirstKeysWhateverTheOrderOfOffers() {
        var seed = RowSeed(500)
        for _ in 0..<10 {
            let keys = (0..<seed.below(700)).map { _ in seed.chance(2) ? seed.bytes(12) : seed.bytes(3) }
            for limit in [nil, 0, 1, 50, 300] {
                #expect(select(keys, limit) == expected(keys, limit))
                #expect(
                    select(keys.sorted { $1.lexicographicallyPrecedes($0) }, limit)
                        == expected(keys.sorted { $1.lexicographicallyPrecedes($0) }, limit)
                )
            }
        }
    }

    @Test func takesMemoryByTheLimitAndNotByTheOffers() {
        var selection = KeySelection(limit: 50)
        for number in (0..<20_000).reversed() {
            withUnsafeBytes(of: UInt64(number).bigEndian) { selection.offer($0, tag: UInt64(number)) }
        }
        selection.sort()

        let count = selection.count
        let byteCount = selection.memoryByteCount
        let (first, last) = (selection.tag(at: 0), selection.tag(at: 49))
        #expect(count == 50 && first == 0 && last == 49)
        #expect(byteCount < 50_000)
    }
}
