import FaultlineDisk

/// The form of a block: docs/FileFormat.md 13.1.
///
/// After the header follow arrays: the lengths of all entries, their identifiers, their sequence numbers, their further key bytes. In
/// index blocks the identifier is a block's size and the sequence number its offset.
enum IndexBlock {
    static let headerByteCount = 24

    /// The header.
    enum Fields {
        /// CRC32C of everything after it, continued from the seed of the block's offset.
        static let checksum = Field.U32(0)
        /// Bytes behind the header.
        static let bodyByteCount = Field.U16(4)
        static let entryCount = Field.U16(6)
        static let form = Field.U8(8)
        static let sequenceByteCount = Field.U8(9)
        static let smallestID = Field.U48(10)
        static let smallestSequence = Field.U64(16)
    }

    /// A bit of the form: lengths have two bytes, not one; the other bits are the bytes of an identifier.
    static let formLongLengths: UInt8 = 0x80
    static let idByteCountMax = 6
    static let sequenceByteCountMax = 8
    /// The least that every entry takes: its two lengths.
    static let entryByteCountMin = 2
    /// The size limit behind the header of a block of entries, unless one entry is larger.
    static let entryBlockByteCountMax = 1024
    /// The size limit behind the header of an index block, unless two entries are larger.
    static let indexBlockByteCountMax = 512
    /// The largest value of the 16-bit size.
    static let byteCountMax = headerByteCount + 0xFFFF
    static let idMax: UInt64 = 1 << 48 - 1
    /// Chosen so that twice a difference is a number of 64 bits.
    static let sequenceMax = Limits.countMax

    /// The size of the block whose header is at `start`, header included.
    @inline(__always)
    static func byteCount(_ start: UnsafeRawPointer) -> Int { headerByteCount &+ Int(start[Fields.bodyByteCount]) }
}
