/// Reads little-endian values from untrusted bytes.
///
/// Every read is checked. A read past the end returns nil, and the reader does not move. The memory must outlive the
/// reader and every buffer that it returned.
package struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var position = 0

    @inlinable
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The offset of the next read, between 0 and `byteCount`.
    @inlinable package var offset: Int { position }

    /// The number of all bytes, including those already read.
    @inlinable package var byteCount: Int { bytes.count }

    /// The number of remaining bytes.
    @inlinable package var remainingByteCount: Int { bytes.count &- position }

    @inlinable package var isAtEnd: Bool { position == bytes.count }

    /// Reads an integer of any alignment.
    @inlinable @inline(__always)
    package mutating func readInteger<Value: FixedWidthInteger & BitwiseCopyable>(as type: Value.Type = Value.self)
        -> Value?
    {
        guard remainingByteCount >= MemoryLayout<Value>.size else { return nil }
        defer { position &+= MemoryLayout<Value>.size }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Value.self))
    }

    /// Reads a byte.
    @inlinable package mutating func readUInt8() -> UInt8? { readInteger() }
    /// Reads two bytes.
    @inlinable package mutating func readUInt16() -> UInt16? { readInteger() }
    /// Reads four bytes.
    @inlinable package mutating func readUInt32() -> UInt32? { readInteger() }
    /// Reads eight bytes.
    @inlinable package mutating func readUInt64() -> UInt64? { readInteger() }

    /// Returns the integer at `offset` bytes from the start.
    ///
    /// The reader does not move.
    @inlinable @inline(__always)
    package func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type = Value.self)
        -> Value?
    {
        guard offset >= 0, offset <= bytes.count, bytes.count &- offset >= MemoryLayout<Value>.size else { return nil }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// Reads an unsigned number in LEB128: seven bits a byte, lowest first.
    ///
    /// Returns nil also if the number has more than 64 bits, or more bytes than it needs.
    @inlinable
    package mutating func readVarint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        var next = position
        while next < bytes.count {
            let byte = bytes[next]
            next &+= 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { return nil }
                position = next
                return value
            }
            shift &+= 7
        }
        return nil
    }

    /// Returns the next `byteCount` bytes in place, or nil if fewer remain or the number is negative.
    @inlinable @inline(__always)
    package mutating func readBytes(_ byteCount: Int) -> UnsafeRawBufferPointer? {
        guard byteCount >= 0, byteCount <= remainingByteCount else { return nil }
        defer { position &+= byteCount }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position &+ byteCount)])
    }

    /// Skips `byteCount` bytes.
    ///
    /// Returns nil if fewer remain or the number is negative.
    @inlinable @inline(__always)
    package mutating func skip(_ byteCount: Int) -> Void? {
        guard byteCount >= 0, byteCount <= remainingByteCount else { return nil }
        position &+= byteCount
        return ()
    }

    /// Moves to `offset` bytes from the start.
    ///
    /// Returns nil if that is outside of the bytes.
    @inlinable @inline(__always)
    package mutating func seek(to offset: Int) -> Void? {
        guard offset >= 0, offset <= bytes.count else { return nil }
        position = offset
        return ()
    }
}
