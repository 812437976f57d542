import FaultlineDisk

/// A blocked Bloom filter over the search prefixes of a run: docs/FileFormat.md 13.
///
/// Each prefix sets six bits of one line of 64 bytes, chosen by its 64-bit hash: the line by the upper 32 bits, scaled to the number of
/// lines; the bits by the lower 32, multiplied and cut into pieces of nine from the top. With twelve bits a prefix about 0.6 % of absent
/// ones are let through.
///
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007); the scaling: Lemire, "Fast Random Integer
/// Generation in an Interval" (2019).
enum BloomFilter {
    static let lineByteCount = 64
    static let linesAPage = 16
    static let bitsAPrefix = 12
    private static let probes: UInt64 = 6
    /// 16 lines and a CRC32C.
    static let pageByteCount = linesAPage * lineByteCount + 4

    /// Pages for a number of prefixes, at least one unless there are none.
    static func pageCount(prefixCount: UInt64) -> UInt64 {
        let bits = UInt64(lineByteCount * linesAPage * 8)
        let (wanted, overflow) = prefixCount.multipliedReportingOverflow(by: UInt64(bitsAPrefix))
        return overflow ? UInt64.max / bits : wanted / bits + (wanted % bits == 0 ? 0 : 1)
    }

    /// The line of a hash, below `lineCount`, which is at most 2^32.
    @inline(__always)
    static func line(_ hash: UInt64, lineCount: UInt64) -> UInt64 {
        ((hash &>> 32) &* lineCount) &>> 32
    }

    @inline(__always)
    private static func spread(_ hash: UInt64) -> UInt64 {
        (hash & 0xFFFF_FFFF) &* 0x9E37_79B9_7F4A_7C15
    }

    /// Sets the bits of a hash in its line.
    @inline(__always)
    static func add(_ hash: UInt64, toLine line: UnsafeMutableRawPointer) {
        let bits = spread(hash)
        for probe in 0..<probes {
            let bit = Int(truncatingIfNeeded: (bits &>> (55 &- 9 &* probe)) & 511)
            let byte = line + bit &>> 3
            byte.storeBytes(of: byte.load(as: UInt8.self) | 1 &<< UInt8(truncatingIfNeeded: bit & 7), as: UInt8.self)
        }
    }

    /// Whether all bits of a hash are set in its line.
    @inline(__always)
    static func mayContain(_ hash: UInt64, line: UnsafeRawPointer) -> Bool {
        let bits = spread(hash)
        for probe in 0..<probes {
            let bit = Int(truncatingIfNeeded: (bits &>> (55 &- 9 &* probe)) & 511)
            if line.load(fromByteOffset: bit &>> 3, as: UInt8.self) & (1 &<< UInt8(truncatingIfNeeded: bit & 7)) == 0 {
                return false
            }
        }
        return true
    }

    /// What is wrong with a page of 1,028 bytes; nil if nothing is.
    ///
    /// - Parameter seed: `FileHeader.seed` of the page's place.
    static func problem(inPage page: UnsafeRawBufferPointer, seed: UInt32) -> String? {
        guard page.count == pageByteCount, let start = page.baseAddress else { return "the filter page is cut short" }
        let expected = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: pageByteCount - 4, as: UInt32.self))
        let found = CRC32C.checksum(start, pageByteCount - 4, seed: seed)
        return expected == found ? nil : "the filter page's checksum is \(found), expected \(expected)"
    }
}
