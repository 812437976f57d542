internal import FaultlineDisk
internal import Glibc

/// Writes index keys, whose order as bytes is the order of the values.
///
/// Nil comes first; −0 equals 0; not-a-number comes last and equals itself; text is ordered by its normal form C, which
/// is Swift's `<`. No value's key is a prefix of another's, so keys of several values can be concatenated. The buffer
/// is reused for the next key.
package struct KeyWriter: ~Copyable {
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    package init() {
        capacity = 128
        buffer = BufferMemory.allocate(byteCount: 128)
    }

    deinit { BufferMemory.deallocate(buffer, byteCount: capacity) }

    /// Starts a new key.
    @inline(__always)
    package mutating func removeAll() { count = 0 }

    package var byteCount: Int { count }

    /// Calls `body` with the key's bytes, which are valid until the next call.
    @inline(__always)
    package borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: buffer, count: count))
    }

    // MARK: Values of rows

    /// Appends the key of a slot's value.
    ///
    /// - Returns: False if the value is outside of the row: append it with `appendText` or `appendData` after it is
    ///   loaded.
    package mutating func append(row: RowView, slot: Int) -> Bool {
        let access = row.table.slots[slot]
        if row.isNil(slot) {
            appendNil()
            return true
        }
        if access.isVariable {
            let flags = row.variableFlags(slot)
            if flags.contains(.blob) { return false }
            appendVariable(kind: access.kind, row.variable(slot), flags)
        } else {
            appendFixed(kind: access.kind, row, slot)
        }
        return true
    }

    /// Appends the key of a slot's value for a sort, reversed if it is not ascending; false as above.
    package mutating func append(row: RowView, slot: Int, isAscending: Bool) -> Bool {
        let start = count
        guard append(row: row, slot: slot) else { return false }
        if !isAscending { complement(from: start) }
        return true
    }

    /// Appends the key of a draft's value for a sort, reversed if it is not ascending; false as above.
    package mutating func append(draft: Draft, slot: Int, isAscending: Bool) -> Bool {
        let start = count
        guard append(draft: draft, slot: slot) else { return false }
        if !isAscending { complement(from: start) }
        return true
    }

    /// Appends text that was loaded for a sort, reversed if it is not ascending.
    package mutating func append(loaded text: UnsafeRawBufferPointer, flags: VariableFlags, isAscending: Bool) {
        let start = count
        appendText(text, flags: flags)
        if !isAscending { complement(from: start) }
    }

    /// Reverses the order of the bytes from an offset on; right because no key is a prefix of another.
    private mutating func complement(from start: Int) {
        for index in start..<count {
            let byte = buffer.load(fromByteOffset: index, as: UInt8.self)
            buffer.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
        }
    }

    /// Appends the key of a draft's value; false if the value was moved to the blob area.
    package mutating func append(draft: Draft, slot: Int) -> Bool {
        let access = draft.table.slots[slot]
        if draft.isNil(slot) {
            appendNil()
            return true
        }
        if access.isVariable {
            let flags = draft.variableFlags(slot)
            if flags.contains(.blob) { return false }
            appendVariable(kind: access.kind, draft.variable(slot), flags)
        } else {
            appendFixed(kind: access.kind, draft.fixedView, slot)
        }
        return true
    }

    /// Whether the key is that of a slot's value in a row; nil if the value is outside of the row.
    package mutating func isKey(of row: RowView, slot: Int) -> Bool? {
        let byteCount = count
        defer { count = byteCount }
        return append(row: row, slot: slot) ? isRepeated(byteCount) : nil
    }

    /// Whether the key is that of a slot's value in a draft; nil if the value was moved to the blob area.
    package mutating func isKey(of draft: Draft, slot: Int) -> Bool? {
        let byteCount = count
        defer { count = byteCount }
        return append(draft: draft, slot: slot) ? isRepeated(byteCount) : nil
    }

    /// Whether the bytes behind the first `byteCount` repeat them.
    private func isRepeated(_ byteCount: Int) -> Bool {
        count == 2 * byteCount && memcmp(buffer, buffer + byteCount, byteCount) == 0
    }

    private mutating func appendVariable(kind: UInt8, _ value: UnsafeRawBufferPointer, _ flags: VariableFlags) {
        if kind <= 16 { appendText(value, flags: flags) } else { appendData(value) }
    }

    private mutating func appendFixed(kind: UInt8, _ row: RowView, _ slot: Int) {
        switch kind {
        case 1: appendBool(row.bool(slot))
        case 2...5: appendInt64(row.int64(slot))
        case 6...9: appendUInt64(row.uint64(slot))
        case 10: appendFloat(row.float(slot))
        case 11, 12: appendDouble(row.double(slot))
        case 13: appendUUID(row.uuid(slot))
        case 14: appendDecimal(row.decimal(slot))
        default:
            reserve(9)
            put(UInt8(1))
            put((kind == SlotAccess.toOneKind ? row.toOne(slot) : row.uint64(slot)).bigEndian)
        }
    }

    // MARK: Values

    package mutating func appendNil() {
        reserve(1)
        put(UInt8(0))
    }

    /// Appends a byte that is not part of a value: the first byte of a key is a mark of its kind.
    package mutating func appendMark(_ mark: UInt8) {
        reserve(1)
        put(mark)
    }

    /// Appends an identifier or an order key: 8 bytes, never nil.
    @inline(__always)
    package mutating func appendIdentifier(_ identifier: UInt64) {
        reserve(8)
        put(identifier.bigEndian)
    }

    package mutating func appendBool(_ value: Bool) {
        reserve(2)
        put(UInt8(1))
        put(UInt8(value ? 1 : 0))
    }

    package mutating func appendInt64(_ value: Int64) {
        reserve(9)
        put(UInt8(1))
        put((UInt64(bitPattern: value) ^ 1 << 63).bigEndian)
    }

    package mutating func appendUInt64(_ value: UInt64) {
        reserve(9)
        put(UInt8(1))
        put(value.bigEndian)
    }

    package mutating func appendDouble(_ value: Double) {
        reserve(9)
        put(UInt8(1))
        let bits = value.isNaN ? UInt64.max : value == 0 ? 1 << 63 : value.bitPattern
        put((value.isNaN || value == 0 ? bits : value.sign == .minus ? ~bits : bits | 1 << 63).bigEndian)
    }

    package mutating func appendFloat(_ value: Float) {
        reserve(5)
        put(UInt8(1))
        let bits = value.isNaN ? UInt32.max : value == 0 ? 1 << 31 : value.bitPattern
        put((value.isNaN || value == 0 ? bits : value.sign == .minus ? ~bits : bits | 1 << 31).bigEndian)
    }

    package mutating func appendUUID(_ value: (UInt64, UInt64)) {
        reserve(17)
        put(UInt8(1))
        put(value.0)
        put(value.1)
    }

    /// Appends a decimal: its class (0 negative, 1 zero, 2 positive, 3 not a number), the magnitude, the digits plus
    /// one, a zero; for negative ones the bytes behind the class are inverted.
    package mutating func appendDecimal(_ value: StoredDecimal) {
        let digits = value.isNaN ? [] : value.digits
        reserve(digits.count + 8)
        put(UInt8(1))
        if value.isNaN { return put(UInt8(3)) }
        if digits.isEmpty { return put(UInt8(1)) }
        let mask: UInt8 = value.isNegative ? 0xFF : 0
        put(UInt8(value.isNegative ? 0 : 2))
        let magnitude = UInt32(bitPattern: Int32(clamping: value.magnitude)) ^ 1 << 31
        put((value.isNegative ? ~magnitude : magnitude).bigEndian)
        for digit in digits { put((digit + 1) ^ mask) }
        put(mask)
    }

    /// Appends text by its normal form C.
    package mutating func appendText(_ text: UnsafeRawBufferPointer, flags: VariableFlags) {
        if flags.comparesAsBytes { return appendData(text) }
        StoredText.normalForm(of: text).withUnsafeBytes { appendData($0) }
    }

    package mutating func appendString(_ value: String) {
        var value = value
        value.withUTF8 { text in
            let text = UnsafeRawBufferPointer(text)
            appendText(text, flags: StoredText.flags(of: text))
        }
    }

    /// Appends bytes with escaped zeros, and an end mark that is no prefix of anything else.
    package mutating func appendData(_ data: UnsafeRawBufferPointer) {
        reserve(data.count * 2 + 3)
        put(UInt8(1))
        if let base = data.baseAddress, data.count > 0 {
            if memchr(base, 0, data.count) == nil {
                (buffer + count).copyMemory(from: base, byteCount: data.count)
                count += data.count
            } else {
                for byte in data {
                    put(byte)
                    if byte == 0 { put(UInt8(0xFF)) }
                }
            }
        }
        put(UInt16(0))
    }

    // MARK: Room

    @inline(__always)
    private mutating func put<Value: FixedWidthInteger>(_ value: Value) {
        (buffer + count).storeBytes(of: value, as: Value.self)
        count &+= MemoryLayout<Value>.size
    }

    @inline(__always)
    private mutating func reserve(_ byteCount: Int) {
        if count + byteCount > capacity { grow(byteCount) }
    }

    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        let larger = max(capacity * 2, count + byteCount)
        let bytes = BufferMemory.allocate(byteCount: larger)
        bytes.copyMemory(from: buffer, byteCount: count)
        BufferMemory.deallocate(buffer, byteCount: capacity)
        buffer = bytes
        capacity = larger
    }
}
