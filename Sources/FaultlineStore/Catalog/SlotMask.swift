/// Masks of slots: a bit a slot, bit 63 for all from 63 on.
package enum SlotMask {
    @inline(__always)
    package static func bit(_ slot: Int) -> UInt64 {
        1 &<< UInt64(slot < 63 ? slot : 63)
    }

    /// Every slot.
    package static let all = UInt64.max
}
