/// The word that ends a variable value in a row: the value's end, and the kind of its bytes.
@usableFromInline
package struct VariableEnd: Equatable, Sendable {
    @usableFromInline package static var endMask: UInt32 {
        @inlinable @inline(__always) get { 0x0FFF_FFFF }
    }
    package static let blobFlag: UInt32 = 1 << 31
    package static let asciiFlag: UInt32 = 1 << 30
    package static let normalFlag: UInt32 = 1 << 29
    /// In drafts only: the value has a separate allocation.
    static let detachedFlag: UInt32 = 1 << 28
    /// Bytes of a blob reference: blob identifier, raw size, reserved, 8 bytes each.
    package static let blobReferenceByteCount = 24
    /// The largest number of variable bytes in one row.
    package static let byteCountMax = Int(endMask)

    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes from the start of the variable bytes to the end of this value.
    package var end: Int { Int(rawValue & Self.endMask) }

    package var flags: VariableFlags { VariableFlags(rawValue: rawValue & ~Self.endMask) }
}

/// The kind of a variable value's bytes.
@usableFromInline
package struct VariableFlags: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt32

    @inlinable @inline(__always)
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The bytes are a blob reference; the value is outside of the row.
    package static let blob = VariableFlags(rawValue: VariableEnd.blobFlag)
    /// The text is ASCII.
    package static let ascii = VariableFlags(rawValue: VariableEnd.asciiFlag)
    /// The text is in normal form C.
    package static let normal = VariableFlags(rawValue: VariableEnd.normalFlag)

    @inlinable @inline(__always)
    package var isBlob: Bool { rawValue >> 31 != 0 }

    /// Whether text with these flags can be compared with other such text byte by byte.
    package var comparesAsBytes: Bool { rawValue & (VariableEnd.asciiFlag | VariableEnd.normalFlag) != 0 }
}

/// A reference to a value outside of the row.
@usableFromInline
package struct BlobReference: Equatable, Sendable {
    /// The blob's identifier, from 1.
    @usableFromInline package let identifier: UInt64
    /// Bytes of the value.
    @usableFromInline package let byteCount: UInt64

    package init(identifier: UInt64, byteCount: UInt64) {
        self.identifier = identifier
        self.byteCount = byteCount
    }
}
