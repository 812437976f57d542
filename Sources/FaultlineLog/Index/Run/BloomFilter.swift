import FaultlineDisk

/// A blocked Bloom filter over the search prefixes of a run: docs/FileFormat.md 13.3.
///
/// Each prefix sets six bits of one line of 64 bytes, chosen by its 64-bit hash: the line by the upper 32 bits, scaled
/// to the number of lines; the bits by the lower 32, multiplied and cut into pieces of nine from the top. With twelve
/// bits a prefix about 0.6 % of absent ones are let through.
///
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007); the scaling: Lemire,
/// "Fast Random Integer Generation in an Interval" (2019).
enum BloomFilter {
    static let lineByteCount = 64
    /// Lines of every page but the last.
    ///
    /// A few kilobytes, so that finding a page takes little memory beside the filter itself.
    static let linesAPage: UInt64 = 64
    static let bitsAPrefix: UInt64 = 12
    private static let probes: UInt64 = 6
    private static let checksumByteCount = 4

    /// The number of lines for a number of prefixes, at least one unless there are none.
    static func lineCount(prefixCount: UInt64) -> UInt64 {
        let bits = UInt64(lineByteCount * 8)
        let (wanted, overflow) = prefixCount.multipliedReportingOverflow(by: bitsAPrefix)
        return overflow ? UInt64.max / bits : wanted / bits + (wanted % bits == 0 ? 0 : 1)
    }

    /// The most prefixes for lines of so many bytes.
    static func prefixCount(byteCount: Int) -> UInt64 { UInt64(byteCount) * 8 / bitsAPrefix }

    /// The bytes of a filter's pages; `lineCount` is at most 2^32.
    static func byteCount(lineCount: UInt64) -> UInt64 {
        let pageCount = (lineCount + linesAPage - 1) / linesAPage
        return lineCount * UInt64(lineByteCount) + pageCount * UInt64(checksumByteCount)
    }

    /// The offset in the filter and the size of the page with a line, and the offset of the line in it.
    @inline(__always)
    static func place(ofLine line: UInt64, lineCount: UInt64) -> (page: UInt64, byteCount: Int, line: Int) {
        let first = line & ~(linesAPage &- 1)
        let lines = min(linesAPage, lineCount &- first)
        let page = first &* UInt64(lineByteCount) &+ first / linesAPage &* UInt64(checksumByteCount)
        return (
            page, Int(truncatingIfNeeded: lines) &* lineByteCount &+ checksumByteCount,
            Int(truncatingIfNeeded: line &- first) &* lineByteCount
        )
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

    /// The first fault of a page; nil if it has none.
    ///
    /// `seed` is `FileHeader.seed` of the page's offset.
    static func problem(inPage page: UnsafeRawBufferPointer, seed: UInt32) -> String? {
        let content = page.count - checksumByteCount
        guard content > 0, let start = page.baseAddress else { return "the filter page is cut short" }
        let expected = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: content, as: UInt32.self))
        let found = CRC32C.checksum(start, content, seed: seed)
        return expected == found ? nil : "the filter page's checksum is \(found), expected \(expected)"
    }
}
