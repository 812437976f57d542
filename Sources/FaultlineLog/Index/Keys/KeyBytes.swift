import Glibc

/// Comparing keys as bytes.
package enum KeyBytes {
    /// The first eight bytes of a key as a big-endian number, zeros behind its end: unequal numbers are in the order of
    /// their keys.
    @inline(__always)
    package static func word(_ key: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        if byteCount >= 8 { return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
        return shortWord(key, byteCount)
    }

    @inline(never)
    private static func shortWord(_ key: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
        guard byteCount > 0 else { return 0 }
        var word: UInt64 = 0
        for offset in 0..<byteCount {
            word |= UInt64(key.load(fromByteOffset: offset, as: UInt8.self)) &<< UInt64(56 &- 8 &* offset)
        }
        return word
    }

    /// Whether two buffers have the same `byteCount` bytes.
    @inline(__always)
    static func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ byteCount: Int) -> Bool {
        if byteCount < 8 {
            for offset in 0..<byteCount
            where a.load(fromByteOffset: offset, as: UInt8.self) != b.load(fromByteOffset: offset, as: UInt8.self) {
                return false
            }
            return true
        }
        var offset = 0
        while offset &+ 8 <= byteCount {
            if a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            {
                return false
            }
            offset &+= 8
        }
        // The last eight bytes, some of them compared twice.
        let last = byteCount &- 8
        return a.loadUnaligned(fromByteOffset: last, as: UInt64.self)
            == b.loadUnaligned(fromByteOffset: last, as: UInt64.self)
    }

    /// Negative, zero or positive as `a` is below, equal to or above `b`; a key is below its own continuations.
    @inline(__always)
    static func order(_ a: UnsafeRawPointer, _ aByteCount: Int, _ b: UnsafeRawPointer, _ bByteCount: Int) -> Int {
        let common = min(aByteCount, bByteCount)
        var offset = 0
        while offset &+ 8 <= common {
            let x = a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let y = b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if x != y { return UInt64(bigEndian: x) < UInt64(bigEndian: y) ? -1 : 1 }
            offset &+= 8
        }
        while offset < common {
            let x = a.load(fromByteOffset: offset, as: UInt8.self)
            let y = b.load(fromByteOffset: offset, as: UInt8.self)
            if x != y { return x < y ? -1 : 1 }
            offset &+= 1
        }
        return aByteCount &- bByteCount
    }

    /// The same for two buffers; an empty one is below all others.
    package static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        guard let start = a.baseAddress, let other = b.baseAddress else { return a.count - b.count }
        return order(start, a.count, other, b.count)
    }

    /// The length of the common prefix of two keys, at most `limit`.
    @inline(__always)
    static func sharedByteCount(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ limit: Int) -> Int {
        var offset = 0
        while offset &+ 8 <= limit {
            let difference =
                a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                ^ b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if difference != 0 { return offset &+ UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
            offset &+= 8
        }
        while offset < limit,
            a.load(fromByteOffset: offset, as: UInt8.self) == b.load(fromByteOffset: offset, as: UInt8.self)
        {
            offset &+= 1
        }
        return offset
    }

    /// The length of the common prefix of two keys.
    static func sharedByteCount(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        guard let x = a.baseAddress, let y = b.baseAddress else { return 0 }
        return sharedByteCount(x, y, min(a.count, b.count))
    }

    /// Whether a key begins with `prefix`.
    @inline(__always)
    static func hasPrefix(_ key: UnsafeRawPointer, _ byteCount: Int, _ prefix: UnsafeRawPointer, _ prefixByteCount: Int)
        -> Bool
    {
        byteCount >= prefixByteCount && areEqual(key, prefix, prefixByteCount)
    }
}
