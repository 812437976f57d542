import FaultlineDisk

/// A group of a blob's chunk table: `docs/FileFormat.md` section 10.2.
///
/// The table is cut into groups, so that a read of a range needs only one of them, even in a large blob.
enum ChunkGroup {
    /// The header: section 10.2.
    enum Fields {
        static let checksum = Field.U32(0)
        static let reserved = Field.U32(4)
        static let firstChunk = Field.U64(8)
    }

    static let headerByteCount = 16
    static let entryByteCount = 8
    static let chunkCountMax = 510
    static let byteCountMax = headerByteCount + chunkCountMax * entryByteCount
    static let flagCompressed: UInt32 = 1 << 31

    /// The number of groups of a table with `chunkCount` chunks.
    static func count(ofChunks chunkCount: Int) -> Int { (chunkCount + chunkCountMax - 1) / chunkCountMax }

    /// The chunks of a blob with `byteCount` raw bytes.
    static func chunkCount(ofBytes byteCount: UInt64) -> Int {
        Int((byteCount + UInt64(Limits.chunkByteCount) - 1) / UInt64(Limits.chunkByteCount))
    }

    /// The bytes of a table with `chunkCount` chunks.
    static func byteCount(ofChunks chunkCount: Int) -> Int {
        count(ofChunks: chunkCount) * headerByteCount + chunkCount * entryByteCount
    }

    /// Writes the header of a group whose entries are written.
    ///
    /// - Parameters:
    ///   - bytes: The group.
    ///   - byteCount: Its size.
    ///   - firstChunk: The offset of its first chunk in the blob's payload.
    ///   - seed: `FileHeader.seed` of the group's offset.
    static func seal(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int, firstChunk: UInt64, seed: UInt32) {
        bytes[Fields.reserved] = UInt32(0)
        bytes[Fields.firstChunk] = firstChunk
        bytes[Fields.checksum] = CRC32C.checksum(
            bytes + Fields.reserved.offset, byteCount - Fields.reserved.offset, seed: seed)
    }

    /// Whether the bytes are a group that was written at the offset that `seed` was made from.
    static func isValid(_ bytes: UnsafeRawPointer, _ byteCount: Int, seed: UInt32) -> Bool {
        CRC32C.checksum(bytes + Fields.reserved.offset, byteCount - Fields.reserved.offset, seed: seed)
            == bytes[Fields.checksum] && bytes[Fields.reserved] == 0
    }
}
