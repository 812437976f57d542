// Little-endian fields at fixed offsets of memory whose length the caller has checked.

extension UnsafeRawPointer {
    @inline(__always) package func u8(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
    @inline(__always) func u16(_ offset: Int) -> UInt16 {
        UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
    @inline(__always) package func u32(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    @inline(__always) func u48(_ offset: Int) -> UInt64 {
        UInt64(u32(offset)) | UInt64(u16(offset + 4)) << 32
    }
    @inline(__always) package func u64(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    /// Whether all bytes from `offset` to `end` are zero.
    func isZero(_ offset: Int, to end: Int) -> Bool {
        var index = offset
        while index + 8 <= end {
            if u64(index) != 0 { return false }
            index += 8
        }
        while index < end {
            if u8(index) != 0 { return false }
            index += 1
        }
        return true
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always) package func u16(_ offset: Int) -> UInt16 { UnsafeRawPointer(self).u16(offset) }
    @inline(__always) func u32(_ offset: Int) -> UInt32 { UnsafeRawPointer(self).u32(offset) }
    @inline(__always) func u64(_ offset: Int) -> UInt64 { UnsafeRawPointer(self).u64(offset) }
    @inline(__always) func set(_ value: UInt8, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
    @inline(__always) func set(_ value: UInt16, _ offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
    }
    @inline(__always) func set(_ value: UInt32, _ offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
    }
    @inline(__always) func set48(_ value: UInt64, _ offset: Int) {
        set(UInt32(truncatingIfNeeded: value), offset)
        set(UInt16(truncatingIfNeeded: value >> 32), offset + 4)
    }
    @inline(__always) func set(_ value: UInt64, _ offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
    @inline(__always) func zero(_ offset: Int, to end: Int) {
        (self + offset).initializeMemory(as: UInt8.self, repeating: 0, count: end - offset)
    }
}

extension FixedWidthInteger {
    /// The next multiple of 8, for numbers far from the end of their range.
    @inline(__always) var roundedUpTo8: Self { (self &+ 7) & ~7 }
}
