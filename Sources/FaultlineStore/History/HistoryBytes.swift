/// A buffer for the bytes of a change record; its memory is reused for the next one.
struct HistoryBytes {
    private(set) var array: [UInt8] = []

    var count: Int { array.count }

    mutating func removeAll() { array.removeAll(keepingCapacity: true) }

    mutating func append(_ byte: UInt8) { array.append(byte) }

    mutating func append(_ bytes: [UInt8]) { array.append(contentsOf: bytes) }

    /// Appends a number in LEB128: seven bits a byte, lowest first.
    mutating func appendNumber(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            array.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        array.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Sets bits of a byte that was appended.
    mutating func set(_ bits: UInt8, at offset: Int) { array[offset] |= bits }
}
