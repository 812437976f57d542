/// Reads a change record of untrusted bytes: past its end each read gives nil.
struct HistoryReader {
    private let bytes: UnsafeRawBufferPointer
    /// Bytes read so far.
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(offset, bytes.count)
    }

    var isAtEnd: Bool { offset == bytes.count }

    var remainingByteCount: Int { bytes.count - offset }

    mutating func readByte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// The next number in LEB128; nil also for one of more than 64 bits.
    mutating func readNumber() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = readByte() {
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    mutating func readBytes(_ byteCount: Int) -> UnsafeRawBufferPointer? {
        guard byteCount >= 0, byteCount <= remainingByteCount else { return nil }
        defer { offset += byteCount }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + byteCount)])
    }
}
