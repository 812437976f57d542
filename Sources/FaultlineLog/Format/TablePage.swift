import FaultlineDisk

/// The bytes of a page of a location table: `docs/FileFormat.md` section 9.2.
package enum TablePage {
    package static let byteCount = 4_096
    package static let headerByteCount = 64
    package static let entryCount = 336

    /// Writes the header of a page, and zeros behind it.
    package static func initialize(_ page: UnsafeMutableRawPointer, table: UInt16, number: UInt32) {
        page.zero(0, to: byteCount)
        page.set(number, 4)
        page.set(table, 8)
    }

    /// Sets the checksum; to be called last.
    ///
    /// `seed` is `FileHeader.seed` of the page's offset.
    static func seal(_ page: UnsafeMutableRawPointer, seed: UInt32) {
        page.set(CRC32C.checksum(page + 4, byteCount - 4, seed: seed), 0)
    }

    /// Whether the bytes are that whole page, written at the offset that `seed` was made from.
    static func isValid(_ page: UnsafeRawPointer, table: UInt16, number: UInt32, seed: UInt32) -> Bool {
        CRC32C.checksum(page + 4, byteCount - 4, seed: seed) == page.u32(0) && page.u32(4) == number
            && page.u16(8) == table && page.u16(10) <= entryCount && page.u32(12) == 0 && page.isZero(24, to: 64)
    }

    /// Whether a location of a valid page has a flag: only a newer version, which defines flags, writes one.
    static func hasFlags(_ page: UnsafeRawPointer) -> Bool {
        var flags: UInt8 = 0
        for entry in 0..<entryCount {
            flags |= page.u8(headerByteCount &+ entry &* Location.byteCount &+ Location.flagsOffset)
        }
        return flags != 0
    }

    /// The offset of the page with an index in a checkpoint file.
    static func offset(ofIndex index: UInt32) -> UInt64 { UInt64(byteCount) * (UInt64(index) + 1) }

    /// The page that holds an object, and its entry there; `id` is at least 1 and at most `Limits.recordIDMax`.
    @inline(__always)
    static func place(of id: RecordID) -> (page: Int, entry: Int) {
        let index = Int(truncatingIfNeeded: id &- 1)
        let page = index / entryCount
        return (page, index &- page &* entryCount)
    }
}
