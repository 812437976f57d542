/// A growing buffer that is written in little-endian order.
///
/// It owns its memory exclusively and cannot be copied, so appending needs no uniqueness check. `removeAll` keeps the
/// memory for the next use. Only one thread may use a writer at a time.
@usableFromInline
package struct ByteWriter: ~Copyable {
    @usableFromInline var start: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int

    /// The number of bytes written so far.
    @usableFromInline var count: Int

    /// Creates an empty writer with room for `byteCapacity` bytes.
    @inlinable
    package init(byteCapacity: Int = 256) {
        precondition(byteCapacity >= 0, "A writer's capacity is not negative.")
        capacity = Swift.max(byteCapacity, 16)
        start = BufferMemory.allocate(byteCount: capacity)
        count = 0
    }

    deinit {
        BufferMemory.deallocate(start, byteCount: capacity)
    }

    /// The number of bytes written so far.
    @inlinable package var byteCount: Int { count }

    /// The bytes written so far.
    ///
    /// Valid until the next call that changes the writer.
    @inlinable package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// The bytes written so far, which may be changed in place.
    ///
    /// Valid until the next call that changes the writer.
    @inlinable package var mutableBytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    /// Copies the bytes written so far.
    @inlinable package func array() -> [UInt8] { [UInt8](bytes) }

    /// Removes the bytes and keeps the memory.
    @inlinable package mutating func removeAll() { count = 0 }

    /// Removes the bytes after the first `byteCount`.
    @inlinable
    package mutating func truncate(to byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= count, "A writer is cut at a place inside it.")
        count = byteCount
    }

    /// Makes room for `byteCount` more bytes.
    @inlinable @inline(__always)
    package mutating func reserve(_ byteCount: Int) {
        precondition(byteCount >= 0, "A number of bytes is not negative.")
        if byteCount > capacity &- count { grow(by: byteCount) }
    }

    @usableFromInline @inline(never)
    mutating func grow(by byteCount: Int) {
        let wanted = Swift.max(count + byteCount, capacity + capacity / 2)
        let larger = BufferMemory.allocate(byteCount: wanted)
        larger.copyMemory(from: start, byteCount: count)
        BufferMemory.deallocate(start, byteCount: capacity)
        start = larger
        capacity = wanted
    }

    /// Appends an integer.
    @inlinable @inline(__always)
    package mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        reserve(MemoryLayout<Value>.size)
        start.storeBytes(of: value.littleEndian, toByteOffset: count, as: Value.self)
        count &+= MemoryLayout<Value>.size
    }

    /// Appends a byte.
    @inlinable @inline(__always)
    package mutating func appendByte(_ byte: UInt8) {
        reserve(1)
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends bytes.
    @inlinable @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Appends bytes.
    @inlinable
    package mutating func append(_ bytes: [UInt8]) {
        // `append` inside the closure would borrow the writer twice.
        reserve(bytes.count)
        bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { (start + count).copyMemory(from: base, byteCount: source.count) }
        }
        count &+= bytes.count
    }

    /// Appends an unsigned number in LEB128, 1 to 10 bytes.
    @inlinable
    package mutating func appendVarint(_ value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            start.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
            count &+= 1
            rest &>>= 7
        }
        start.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends `byteCount` zero bytes.
    @inlinable
    package mutating func appendZeros(_ byteCount: Int) {
        reserve(byteCount)
        (start + count).initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        count &+= byteCount
    }

    /// Appends zero bytes until the length is a multiple of `alignment`, which is a power of two.
    @inlinable
    package mutating func align(to alignment: Int) {
        precondition(alignment > 0 && alignment & (alignment - 1) == 0, "An alignment is a power of two.")
        appendZeros((0 &- count) & (alignment - 1))
    }

    /// Appends `byteCount` bytes that `fill` writes in place.
    ///
    /// They are not zeroed before.
    @inlinable
    package mutating func append<E: Error>(
        byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        reserve(byteCount)
        try fill(UnsafeMutableRawBufferPointer(start: start + count, count: byteCount))
        count &+= byteCount
    }

    /// Overwrites existing bytes with an integer.
    @inlinable @inline(__always)
    package mutating func overwrite<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
        precondition(
            offset >= 0 && offset <= count && count - offset >= MemoryLayout<Value>.size,
            "The overwritten bytes lie inside the writer.")
        start.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
}

// Safe because the memory belongs to the writer alone, and moving a value that cannot be copied moves the memory with
// it.
extension ByteWriter: @unchecked Sendable {}
