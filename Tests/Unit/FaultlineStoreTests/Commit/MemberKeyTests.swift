import FaultlineStore
import Testing

struct MemberKeyTests {
    private func key(owner: UInt64, order: UInt64) -> [UInt8] {
        MemberKey.with(owner: owner, order: order) { Array($0) }
    }

    private func linkKey(owner: UInt64, order: UInt64, member: UInt64) -> [UInt8] {
        MemberKey.with(owner: owner, order: order, member: member) { Array($0) }
    }

    @Test func hasTheBytesOfTheDocument() {
        #expect(key(owner: 0x0102, order: 0x0304_0000) == [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4])
        #expect(key(owner: 1, order: 0x0100) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
        #expect(key(owner: 1, order: 7) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7])
        #expect(key(owner: 1, order: 0) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(
            linkKey(owner: 1, order: 0x0100, member: 2)
                == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    }

    @Test func saysItsMemberAndItsOrder() {
        var seed = RowSeed(61)
        for _ in 0..<2_000 {
            let (owner, order, member) = (seed.next() >> 16, seed.next() << UInt64(seed.below(64)), seed.next() >> 16)
            let link = seed.next() >> 16

            key(owner: owner, order: order).withUnsafeBytes {
                #expect(MemberKey.order($0) == order)
                #expect(MemberKey.member($0, id: member) == member)
            }
            linkKey(owner: owner, order: order, member: member).withUnsafeBytes {
                #expect(MemberKey.order($0) == order)
                #expect(MemberKey.member($0, id: link) == member)
            }
        }
        for count in [0, 7, 17, 23, 25] {
            [UInt8](repeating: 1, count: count).withUnsafeBytes {
                #expect(MemberKey.order($0) == nil)
                #expect(MemberKey.member($0, id: 1) == nil)
            }
        }
    }

    /// Omitted zero bytes do not change the order.
    @Test func ordersByOwnerAndOrderKey() {
        var seed = RowSeed(62)
        for _ in 0..<5_000 {
            let left = (UInt64(seed.below(3)), seed.next() << UInt64(seed.below(64)))
            let right = (UInt64(seed.below(3)), seed.chance(4) ? left.1 : seed.next() << UInt64(seed.below(64)))

            let keys = (key(owner: left.0, order: left.1), key(owner: right.0, order: right.1))
            #expect(keys.0.lexicographicallyPrecedes(keys.1) == (left < right))
            #expect((keys.0 == keys.1) == (left == right))
        }
    }
}
