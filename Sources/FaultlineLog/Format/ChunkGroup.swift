import FaultlineDisk

/// A group of a blob's chunk table: `docs/FileFormat.md` section 10.2.
///
/// The table is cut into groups, so that a read of a range needs only one of them, even in a large blob.
enum ChunkGroup {
    static let headerByteCount = 16
    static let entryByteCount = 8
    static let chunkCountMax = 510
    static let byteCountMax = headerByteCount + chunkCountMax * entryByteCount
    static let flagCompressed: UInt32 = 1 << 31

    /// The number of groups of a table with `chunkCount` chunks.
    static func count(ofChunks chunkCount: Int) -> Int { (chunkCount + chunkCountMax - 1) / chunkCountMax }

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
        bytes.set(UInt32(0), 4)
        bytes.set(firstChunk, 8)
        bytes.set(CRC32C.checksum(bytes + 4, byteCount - 4, seed: seed), 0)
    }

    /// Whether the bytes are a group that was written at the offset that `seed` was made from.
    static func isValid(_ bytes: UnsafeRawPointer, _ byteCount: Int, seed: UInt32) -> Bool {
        CRC32C.checksum(bytes + 4, byteCount - 4, seed: seed) == bytes.u32(0) && bytes.u32(4) == 0
    }
}
