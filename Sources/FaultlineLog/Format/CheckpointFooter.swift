import FaultlineDisk

/// The last 64 bytes of a table checkpoint: `docs/FileFormat.md` section 9.3.
struct CheckpointFooter: Equatable {
    static let byteCount = 64
    static let magic: UInt64 = 0x5450_4B48_4354_4C46
    static let mapEntryByteCount = 16
    /// The map is one piece; a map of more levels would list the pieces of another.
    static let mapLevelCount: UInt16 = 1

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
        guard bytes.u64(0) == Self.magic, CRC32C.checksum(bytes, 60, seed: seed) == bytes.u32(60),
            bytes.u16(40) == Self.mapLevelCount, bytes.isZero(42, to: 60)
        else { return nil }
        mapOffset = bytes.u64(8)
        mapEntryCount = bytes.u64(16)
        mapCRC = bytes.u32(24)
        pageCount = bytes.u32(28)
        sequence = bytes.u64(32)
    }

    /// Writes the footer for the offset that `seed` was made from.
    func write(to bytes: UnsafeMutableRawPointer, seed: UInt32) {
        bytes.zero(0, to: Self.byteCount)
        bytes.set(Self.magic, 0)
        bytes.set(mapOffset, 8)
        bytes.set(mapEntryCount, 16)
        bytes.set(mapCRC, 24)
        bytes.set(pageCount, 28)
        bytes.set(sequence, 32)
        bytes.set(Self.mapLevelCount, 40)
        bytes.set(CRC32C.checksum(bytes, 60, seed: seed), 60)
    }
}
