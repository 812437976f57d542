/// The 64-bit hash of a search prefix: FNV-1a, then the finaliser of SplitMix64.
///
/// It is part of the file format, because Bloom filters are addressed by it. FNV is a chain of multiplications, 4 cycles a byte; several
/// keys at once hide that.
///
/// Sources: Fowler, Noll, Vo, draft-eastlake-fnv; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
package enum IndexHash {
    @usableFromInline static let offsetBasis: UInt64 = 0xCBF2_9CE4_8422_2325
    @usableFromInline static let prime: UInt64 = 0x0000_0100_0000_01B3

    /// The hash of `byteCount` bytes.
    @inline(__always)
    package static func hash(_ start: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        var hash = offsetBasis
        var next = start
        let end = start + byteCount
        while next + 8 <= end {
            let word = UInt64(littleEndian: next.loadUnaligned(as: UInt64.self))
            hash = step(hash, word)
            hash = step(hash, word &>> 8)
            hash = step(hash, word &>> 16)
            hash = step(hash, word &>> 24)
            hash = step(hash, word &>> 32)
            hash = step(hash, word &>> 40)
            hash = step(hash, word &>> 48)
            hash = step(hash, word &>> 56)
            next += 8
        }
        while next < end {
            hash = step(hash, UInt64(next.load(as: UInt8.self)))
            next += 1
        }
        return finish(hash)
    }

    /// The hashes of the search prefixes of many keys.
    ///
    /// - Parameter prefixByteCountMax: `SearchPrefix.byteCountMax` of the index.
    package static func hash(
        _ keys: UnsafeBufferPointer<UnsafeRawBufferPointer>, prefixByteCountMax: Int,
        into hashes: UnsafeMutablePointer<UInt64>
    ) {
        var index = 0
        while index &+ 4 <= keys.count {
            let a = keys[index], b = keys[index &+ 1], c = keys[index &+ 2], d = keys[index &+ 3]
            let byteCount = min(prefixByteCountMax, a.count)
            if byteCount == min(prefixByteCountMax, b.count), byteCount == min(prefixByteCountMax, c.count),
                byteCount == min(prefixByteCountMax, d.count),
                let a = a.baseAddress, let b = b.baseAddress, let c = c.baseAddress, let d = d.baseAddress
            {
                hashFour(a, b, c, d, byteCount, into: hashes + index)
            } else {
                for single in index..<(index &+ 4) {
                    hashes[single] = hash(keys[single], prefixByteCountMax: prefixByteCountMax)
                }
            }
            index &+= 4
        }
        while index < keys.count {
            hashes[index] = hash(keys[index], prefixByteCountMax: prefixByteCountMax)
            index &+= 1
        }
    }

    /// The hash of the search prefix of a key.
    @inline(__always)
    package static func hash(_ key: UnsafeRawBufferPointer, prefixByteCountMax: Int) -> UInt64 {
        guard let start = key.baseAddress else { return finish(offsetBasis) }
        return hash(start, min(prefixByteCountMax, key.count))
    }

    @inline(__always)
    private static func hashFour(
        _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ c: UnsafeRawPointer, _ d: UnsafeRawPointer, _ byteCount: Int,
        into hashes: UnsafeMutablePointer<UInt64>
    ) {
        var w = offsetBasis, x = offsetBasis, y = offsetBasis, z = offsetBasis
        for offset in 0..<byteCount {
            w = step(w, UInt64(a.load(fromByteOffset: offset, as: UInt8.self)))
            x = step(x, UInt64(b.load(fromByteOffset: offset, as: UInt8.self)))
            y = step(y, UInt64(c.load(fromByteOffset: offset, as: UInt8.self)))
            z = step(z, UInt64(d.load(fromByteOffset: offset, as: UInt8.self)))
        }
        hashes[0] = finish(w)
        hashes[1] = finish(x)
        hashes[2] = finish(y)
        hashes[3] = finish(z)
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ byte: UInt64) -> UInt64 {
        (hash ^ (byte & 0xFF)) &* prime
    }

    /// The finaliser of SplitMix64: every bit of the result depends on every bit of `value`.
    @inline(__always)
    static func finish(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }
}
