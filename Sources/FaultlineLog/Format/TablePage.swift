import FaultlineDisk

/// The bytes of a page of a location table: `docs/FileFormat.md` section 9.2.
package enum TablePage {
    package static let byteCount = 4_096

    /// The header: section 9.2.
    package enum Fields {
        package static let checksum = Field.U32(0)
        package static let number = Field.U32(4)
        package static let table = Field.U16(8)
        package static let count = Field.U16(10)
        package static let reserved = Field.U32(12)
        package static let sequence = Field.U64(16)
        package static let reservedEnd = Field.Bytes(24, 40)
    }

    package static let headerByteCount = 64
    package static let entryCount = 336

    /// Writes the header of a page, and zeros behind it.
    package static func initialize(_ page: UnsafeMutableRawPointer, table: UInt16, number: UInt32) {
        page.zero(0, to: byteCount)
        page[Fields.number] = number
        page[Fields.table] = table
    }

    /// Sets the checksum; to be called last.
    ///
    /// `seed` is `FileHeader.seed` of the page's offset.
    static func seal(_ page: UnsafeMutableRawPointer, seed: UInt32) {
        page[Fields.checksum] = CRC32C.checksum(
            page + Fields.number.offset, byteCount - Fields.number.offset, seed: seed)
    }

    /// Whether the bytes are that whole page, written at the offset that `seed` was made from.
    static func isValid(_ page: UnsafeRawPointer, table: UInt16, number: UInt32, seed: UInt32) -> Bool {
        CRC32C.checksum(page + Fields.number.offset, byteCount - Fields.number.offset, seed: seed)
            == page[Fields.checksum] && page[Fields.number] == number
            && page[Fields.table] == table && page[Fields.count] <= entryCount && page[Fields.reserved] == 0
            && page.isZero(Fields.reservedEnd)
    }

    /// Whether a location of a valid page has a flag: only a newer version, which defines flags, writes one.
    static func hasFlags(_ page: UnsafeRawPointer) -> Bool {
        var flags: UInt8 = 0
        for entry in 0..<entryCount {
            flags |= page.u8(headerByteCount &+ entry &* Location.byteCount &+ Location.flags.offset)
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
