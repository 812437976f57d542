import CFaultline

/// The CRC-32C (Castagnoli) checksum, in hardware where the machine has it.
///
/// The method is chosen once, before `main`. Source of the definition and of the test vectors: RFC 3720, appendix B.4.
package enum CRC32C {
    /// The checksum of `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to go over; may be none.
    ///   - seed: The checksum of the bytes before, so that `crc(a + b) == crc(b, seed: crc(a))`; 0 at the start.
    /// - Returns: The checksum of the bytes before and these.
    @inline(__always)
    package static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt32 = 0) -> UInt32 {
        fl_crc32c(bytes.baseAddress, bytes.count, seed)
    }

    /// The checksum of `byteCount` bytes from `start`.
    ///
    /// - Parameters:
    ///   - start: The first byte; need not be aligned.
    ///   - byteCount: How many bytes, 0 or more.
    ///   - seed: The checksum of the bytes before; 0 at the start.
    /// - Returns: The checksum of the bytes before and these.
    @inline(__always)
    package static func checksum(_ start: UnsafeRawPointer, _ byteCount: Int, seed: UInt32 = 0) -> UInt32 {
        fl_crc32c(start, byteCount, seed)
    }
}
