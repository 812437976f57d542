import FaultlineDisk

/// A field of a fixed-size structure of the file format: its offset and its width.
///
/// The `Fields` of a structure are its table in `docs/FileFormat.md`. Reading and writing both go through them, so an
/// offset is written once. Numbers are little endian; the caller has checked that the memory has them. The optimizer
/// folds the offsets into the loads and stores.
package enum Field {
    package struct U8: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    package struct U16: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    package struct U32: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    package struct U48: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    package struct U64: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    package struct I64: Sendable {
        package let offset: Int
        @inline(__always) init(_ offset: Int) { self.offset = offset }
    }

    /// Bytes that have no number: reserved ones, and structures inside a structure.
    package struct Bytes: Sendable {
        package let offset: Int
        package let end: Int
        @inline(__always) init(_ offset: Int, _ byteCount: Int) {
            self.offset = offset
            end = offset + byteCount
        }
    }
}

extension UnsafeRawPointer {
    @inline(__always) package subscript(_ field: Field.U8) -> UInt8 { u8(field.offset) }
    @inline(__always) package subscript(_ field: Field.U16) -> UInt16 { u16(field.offset) }
    @inline(__always) package subscript(_ field: Field.U32) -> UInt32 { u32(field.offset) }
    @inline(__always) package subscript(_ field: Field.U48) -> UInt64 { u48(field.offset) }
    @inline(__always) package subscript(_ field: Field.U64) -> UInt64 { u64(field.offset) }
    @inline(__always) package subscript(_ field: Field.I64) -> Int64 { Int64(bitPattern: u64(field.offset)) }
    /// Where the bytes begin.
    @inline(__always) subscript(_ field: Field.Bytes) -> UnsafeRawPointer { self + field.offset }
    func isZero(_ field: Field.Bytes) -> Bool { isZero(field.offset, to: field.end) }
}

extension UnsafeMutableRawPointer {
    @inline(__always) package subscript(_ field: Field.U8) -> UInt8 {
        get { UnsafeRawPointer(self).u8(field.offset) }
        nonmutating set { set(newValue, field.offset) }
    }
    @inline(__always) package subscript(_ field: Field.U16) -> UInt16 {
        get { u16(field.offset) }
        nonmutating set { set(newValue, field.offset) }
    }
    @inline(__always) package subscript(_ field: Field.U32) -> UInt32 {
        get { u32(field.offset) }
        nonmutating set { set(newValue, field.offset) }
    }
    @inline(__always) package subscript(_ field: Field.U48) -> UInt64 {
        get { UnsafeRawPointer(self).u48(field.offset) }
        nonmutating set { set48(newValue, field.offset) }
    }
    @inline(__always) package subscript(_ field: Field.U64) -> UInt64 {
        get { u64(field.offset) }
        nonmutating set { set(newValue, field.offset) }
    }
    @inline(__always) package subscript(_ field: Field.I64) -> Int64 {
        get { Int64(bitPattern: u64(field.offset)) }
        nonmutating set { set(UInt64(bitPattern: newValue), field.offset) }
    }
    /// Where the bytes begin.
    @inline(__always) subscript(_ field: Field.Bytes) -> UnsafeMutableRawPointer { self + field.offset }
}

extension ByteWriter {
    /// Appends a structure: zeros, and the fields that `fill` sets.
    mutating func append(structureOf byteCount: Int, _ fill: (UnsafeMutableRawPointer) -> Void) {
        append(byteCount: byteCount) { bytes in
            guard let start = bytes.baseAddress else { return }
            start.zero(0, to: byteCount)
            fill(start)
        }
    }
}
