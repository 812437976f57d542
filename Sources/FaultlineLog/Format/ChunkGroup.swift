import FaultlineDisk

/// A piece of a blob's chunk table: `docs/FileFormat.md` section 10.2.
///
/// The table is cut into groups, so that whoever reads a range needs one of them, whatever the blob's size.
enum ChunkGroup {
    static let headerByteCount = 16
    static let entryByteCount = 8
    static let chunkCountMax = 510
    static let byteCountMax = headerByteCount + chunkCountMax * entryByteCount
    static let flagCompressed: UInt32 = 1 << 31

    /// Groups of a table of so many chunks.
    static func count(ofChunks chunkCount: Int) -> Int { (chunkCount + chunkCountMax - 1) / chunkCountMax }

    /// Bytes of a table of so many chunks.
    static func byteCount(ofChunks chunkCount: Int) -> Int {
        count(ofChunks: chunkCount) * headerByteCount + chunkCount * entryByteCount
    }

    /// Gives a group, whose entries are in their place, its header.
    ///
    /// - Parameters:
    ///   - bytes: The group.
    ///   - byteCount: Its size.
    ///   - firstChunk: Where its first chunk lies, from the start of the blob's payload.
    ///   - seed: `FileHeader.seed` of the place where the group will stand.
    static func seal(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int, firstChunk: UInt64, seed: UInt32) {
        bytes.set(UInt32(0), 4)
        bytes.set(firstChunk, 8)
        bytes.set(CRC32C.checksum(bytes + 4, byteCount - 4, seed: seed), 0)
    }

    /// Whether the bytes are a group that was written at the place that `seed` stands for.
    static func isValid(_ bytes: UnsafeRawPointer, _ byteCount: Int, seed: UInt32) -> Bool {
        CRC32C.checksum(bytes + 4, byteCount - 4, seed: seed) == bytes.u32(0) && bytes.u32(4) == 0
    }
}
