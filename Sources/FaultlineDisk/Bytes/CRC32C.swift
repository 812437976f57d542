import CFaultline

/// The CRC-32C (Castagnoli) checksum, computed by hardware if the machine supports it.
///
/// The method is chosen once, before `main`. Source of the definition and of the test vectors: RFC 3720, appendix B.4.
package enum CRC32C {
    /// Returns the checksum of `bytes`, appended to earlier bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which may be empty.
    ///   - seed: The checksum of the earlier bytes, or 0 at the start: `crc(a + b) == crc(b, seed: crc(a))`.
    /// - Returns: The checksum of the earlier bytes and these.
    @inline(__always)
    package static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        fl_crc32c(bytes.baseAddress, bytes.count, seed)
    }

    /// Returns the checksum of `byteCount` bytes from `start`, appended to earlier bytes.
    ///
    /// - Parameters:
    ///   - start: The first byte, which need not be aligned.
    ///   - byteCount: The number of bytes, 0 or more.
    ///   - seed: The checksum of the earlier bytes, or 0 at the start.
    /// - Returns: The checksum of the earlier bytes and these.
    @inline(__always)
    package static func checksum(_ start: UnsafeRawPointer, _ byteCount: Int, seed: UInt32 = 0) -> UInt32 {
        fl_crc32c(start, byteCount, seed)
    }
}
