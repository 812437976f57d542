/// The location of the newest version of an object: `docs/FileFormat.md` section 9.1.
@usableFromInline
package struct Location: Equatable, Sendable {
    package static let byteCount = 12

    /// The table of section 9.1.
    enum Fields {
        static let segment = Field.U32(0)
        static let offset = Field.U32(4)
        static let packed = Field.U32(8)
    }

    @inlinable static var sizeUnknown: UInt32 { 0xFF_FFFF }
    /// The flags, which are all of a newer version.
    static let flags = Field.U8(11)

    /// The low 32 bits of the file number; 0 means no object.
    @usableFromInline package let segment: UInt32
    /// Offset of the record header, in units of 8.
    @usableFromInline package let offset: UInt32
    /// Size in units of 8 in the low 24 bits, flags above.
    @usableFromInline package let packed: UInt32

    @inlinable @inline(__always)
    package init(segment: UInt32, offset: UInt32, packed: UInt32) {
        self.segment = segment
        self.offset = offset
        self.packed = packed
    }

    package static let absent = Location(segment: 0, offset: 0, packed: 0)

    /// No object.
    @inlinable @inline(__always) package var isAbsent: Bool { segment == 0 }

    /// The offset of the record's header, in bytes from the start of the file.
    @inlinable @inline(__always) package var byteOffset: UInt64 { UInt64(offset) << 3 }

    /// Bytes of header and stored payload, rounded up to a multiple of 8; nil if only the record's header has the size.
    @inlinable @inline(__always) package var byteCount: Int? {
        let units = packed & Self.sizeUnknown
        return units == Self.sizeUnknown ? nil : Int(units) << 3
    }

    @inline(__always)
    package init(segment: UInt64, byteOffset: UInt64, byteCount: Int) {
        self.segment = UInt32(truncatingIfNeeded: segment)
        offset = UInt32(truncatingIfNeeded: byteOffset >> 3)
        packed = UInt32(min(byteCount.roundedUpTo8 >> 3, Int(Self.sizeUnknown)))
    }

    /// Reads the 12 bytes of an entry of a table page.
    @inline(__always)
    package init(reading bytes: UnsafeRawPointer) {
        segment = bytes[Fields.segment]
        offset = bytes[Fields.offset]
        packed = bytes[Fields.packed]
    }

    @inline(__always)
    func write(to bytes: UnsafeMutableRawPointer) {
        bytes[Fields.segment] = segment
        bytes[Fields.offset] = offset
        bytes[Fields.packed] = packed
    }
}
