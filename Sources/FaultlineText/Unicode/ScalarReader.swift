/// Reads Unicode scalars from UTF-8 in place.
///
/// Bytes that are no UTF-8 are read one by one as U+FFFD, which belongs to no word. So every offset that is reached has
/// been checked, for any bytes.
struct ScalarReader {
    let bytes: UnsafePointer<UInt8>
    let count: Int

    /// The scalar at an offset below `count`, and its number of bytes.
    @inline(__always) func scalar(at offset: Int) -> (value: UInt32, length: Int) {
        let first = bytes[offset]
        if first < 0x80 { return (UInt32(first), 1) }
        return longScalar(at: offset, first)
    }

    @inline(__always) private func longScalar(at offset: Int, _ first: UInt8) -> (value: UInt32, length: Int) {
        let invalid = (value: UInt32(0xFFFD), length: 1)
        let left = count - offset
        if first < 0xE0 {
            guard first >= 0xC2, left >= 2, let second = continuation(offset + 1) else { return invalid }
            return (UInt32(first & 0x1F) << 6 | second, 2)
        }
        if first < 0xF0 {
            guard left >= 3, let second = continuation(offset + 1), let third = continuation(offset + 2) else {
                return invalid
            }
            let value = UInt32(first & 0x0F) << 12 | second << 6 | third
            return value >= 0x800 && !(value >= 0xD800 && value < 0xE000) ? (value, 3) : invalid
        }
        guard first < 0xF5, left >= 4, let second = continuation(offset + 1), let third = continuation(offset + 2),
            let fourth = continuation(offset + 3)
        else { return invalid }
        let value = UInt32(first & 0x07) << 18 | second << 12 | third << 6 | fourth
        return value >= 0x10000 && value < 0x110000 ? (value, 4) : invalid
    }

    @inline(__always) private func continuation(_ offset: Int) -> UInt32? {
        let byte = bytes[offset]
        return byte & 0xC0 == 0x80 ? UInt32(byte & 0x3F) : nil
    }
}
