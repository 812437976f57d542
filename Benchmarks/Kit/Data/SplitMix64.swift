/// The generator behind all benchmark data: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// 2014.
package struct SplitMix64: Sendable {
    private var state: UInt64

    @inline(__always)
    package init(_ seed: UInt64) {
        state = seed
    }

    /// The next 64 bits.
    @inline(__always)
    package mutating func draw() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// The next number below `bound`, by remainder.
    @inline(__always)
    package mutating func draw(below bound: Int) -> Int {
        Int(draw() % UInt64(bound))
    }

    /// The generator's last step alone: maps 64 bits to 64 bits, one to one.
    @inline(__always)
    package static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
