import FaultlineDisk

/// The last 64 bytes of a table checkpoint: `docs/FileFormat.md` section 9.3.
struct CheckpointFooter: Equatable {
    static let byteCount = 64
    static let magic: UInt64 = 0x5450_4B48_4354_4C46
    /// The map is one piece; a map of more levels would list the pieces of another.
    static let mapLevelCount: UInt16 = 1

    /// An entry of the page map: section 9.3.
    enum MapEntry {
        static let byteCount = 16
        static let page = Field.U32(0)
        static let table = Field.U16(4)
        static let entryCount = Field.U16(6)
        static let file = Field.U32(8)
        static let index = Field.U32(12)
    }

    /// The table of section 9.3.
    enum Fields {
        static let magic = Field.U64(0)
        static let mapOffset = Field.U64(8)
        static let mapEntryCount = Field.U64(16)
        static let mapCRC = Field.U32(24)
        static let pageCount = Field.U32(28)
        static let sequence = Field.U64(32)
        static let mapLevelCount = Field.U16(40)
        static let reserved = Field.Bytes(42, 18)
        static let checksum = Field.U32(60)
    }

    var mapOffset: UInt64
    var mapEntryCount: UInt64
    var mapCRC: UInt32
    var pageCount: UInt32
    var sequence: UInt64

    init(mapOffset: UInt64, mapEntryCount: UInt64, mapCRC: UInt32, pageCount: UInt32, sequence: UInt64) {
        self.mapOffset = mapOffset
        self.mapEntryCount = mapEntryCount
        self.mapCRC = mapCRC
        self.pageCount = pageCount
        self.sequence = sequence
    }

    /// Reads the footer of a checkpoint, or nil if the bytes are none.
    ///
    /// `seed` is `FileHeader.seed` of the footer's offset.
    init?(reading bytes: UnsafeRawPointer, seed: UInt32) {
        guard bytes[Fields.magic] == Self.magic,
            CRC32C.checksum(bytes, Fields.checksum.offset, seed: seed) == bytes[Fields.checksum],
            bytes[Fields.mapLevelCount] == Self.mapLevelCount, bytes.isZero(Fields.reserved)
        else { return nil }
        mapOffset = bytes[Fields.mapOffset]
        mapEntryCount = bytes[Fields.mapEntryCount]
        mapCRC = bytes[Fields.mapCRC]
        pageCount = bytes[Fields.pageCount]
        sequence = bytes[Fields.sequence]
    }

    /// Writes the footer for the offset that `seed` was made from.
    func write(to bytes: UnsafeMutableRawPointer, seed: UInt32) {
        bytes.zero(0, to: Self.byteCount)
        bytes[Fields.magic] = Self.magic
        bytes[Fields.mapOffset] = mapOffset
        bytes[Fields.mapEntryCount] = mapEntryCount
        bytes[Fields.mapCRC] = mapCRC
        bytes[Fields.pageCount] = pageCount
        bytes[Fields.sequence] = sequence
        bytes[Fields.mapLevelCount] = Self.mapLevelCount
        bytes[Fields.checksum] = CRC32C.checksum(bytes, Fields.checksum.offset, seed: seed)
    }
}
