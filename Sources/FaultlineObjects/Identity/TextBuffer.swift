/// Writes ASCII text into memory that has room for all of it.
struct TextBuffer {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        for byte in text { append(byte) }
    }

    /// Appends a number in decimal digits.
    mutating func append(decimal number: UInt64) {
        var digitCount = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digitCount += 1
        }
        rest = number
        for place in (count..<count + digitCount).reversed() {
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += digitCount
    }

    /// Appends a number in 16 hexadecimal digits.
    mutating func append(hexadecimal number: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift) & 15)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
