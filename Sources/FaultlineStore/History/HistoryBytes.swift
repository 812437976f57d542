internal import FaultlineDisk

/// A buffer for the bytes of a change record; its memory is reused for the next one.
struct HistoryBytes: ~Copyable {
    private var writer = ByteWriter()

    var count: Int { writer.byteCount }

    /// The bytes, valid until the next call that changes them.
    var bytes: UnsafeRawBufferPointer { writer.bytes }

    mutating func removeAll() { writer.removeAll() }

    mutating func append(_ byte: UInt8) { writer.appendByte(byte) }

    mutating func append(_ bytes: [UInt8]) { writer.append(bytes) }

    /// Appends a number in LEB128: seven bits a byte, lowest first.
    mutating func appendNumber(_ value: UInt64) { writer.appendVarint(value) }

    /// Sets bits of a byte that was appended.
    mutating func set(_ bits: UInt8, at offset: Int) { writer.overwrite(writer.bytes[offset] | bits, at: offset) }
}
