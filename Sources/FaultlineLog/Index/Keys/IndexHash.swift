/// The 64-bit hash of a search prefix: docs/FileFormat.md 13.6.
///
/// It is part of the format, because Bloom filters are addressed by it.
///
/// Eight bytes a step: exclusive or, a multiplication to 128 bits, and the exclusive or of the product's halves; at the
/// end the finaliser of SplitMix64. So a key of 24 bytes takes three multiplications one after the other, and two for
/// the end.
///
/// Sources: the folded multiplication is wyhash's (Wang Yi, Diego Barrios Romero and others); Steele, Lea, Flood, "Fast
/// Splittable Pseudorandom Number Generators" (2014).
package enum IndexHash {
    /// The first 64 bits of π behind the point: a number with nothing up its sleeve.
    private static let basis: UInt64 = 0x243F_6A88_85A3_08D3
    /// 2^64 divided by the golden ratio, odd.
    private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The hash of `byteCount` bytes.
    @inline(__always)
    package static func hash(_ start: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        var hash = basis ^ (UInt64(truncatingIfNeeded: byteCount) &* multiplier)
        var offset = 0
        while offset &+ 8 <= byteCount {
            hash = step(hash, UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset &+= 8
        }
        if offset < byteCount { hash = step(hash, lastWord(start, byteCount)) }
        return finish(hash)
    }

    /// The hash of the search prefix of a key.
    @inline(__always)
    package static func hash(_ key: UnsafeRawBufferPointer, prefixByteCountMax: Int) -> UInt64 {
        guard let start = key.baseAddress else { return finish(basis) }
        return hash(start, min(prefixByteCountMax, key.count))
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: multiplier)
        return product.low ^ product.high
    }

    /// The one to seven bytes behind the last whole word, zeros behind them.
    ///
    /// Reads only the key's own bytes.
    @inline(__always)
    private static func lastWord(_ start: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        let rest = byteCount & 7
        if byteCount > 8 {
            let word = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: byteCount &- 8, as: UInt64.self))
            return word &>> UInt64(truncatingIfNeeded: 64 &- 8 &* rest)
        }
        if rest >= 4 {
            // The two may overlap; the common bytes are equal.
            let low = UInt64(start.u32(0)), high = UInt64(start.u32(rest &- 4))
            return low | high &<< UInt64(truncatingIfNeeded: 8 &* (rest &- 4))
        }
        let middle = rest / 2, last = rest &- 1
        return UInt64(start.u8(0)) | UInt64(start.u8(middle)) &<< UInt64(truncatingIfNeeded: 8 &* middle)
            | UInt64(start.u8(last)) &<< UInt64(truncatingIfNeeded: 8 &* last)
    }

    /// The finaliser of SplitMix64: every bit of the result depends on every bit of `value`.
    @inline(__always)
    package static func finish(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }
}
