/// A decimal number as rows store it: mantissa × 10^exponent, with a sign.
///
/// Equality and order are by value, for any exponents; not-a-number equals itself and comes last.
package struct StoredDecimal: Sendable {
    package static let byteCount = 24
    static let negativeFlag: UInt32 = 1
    static let notANumberFlag: UInt32 = 2

    package let mantissa: UInt128
    package let exponent: Int32
    package let flags: UInt32

    package init(mantissa: UInt128, exponent: Int32, isNegative: Bool = false) {
        self.mantissa = mantissa
        self.exponent = exponent
        flags = isNegative ? Self.negativeFlag : 0
    }

    init(mantissa: UInt128, exponent: Int32, flags: UInt32) {
        self.mantissa = mantissa
        self.exponent = exponent
        self.flags = flags
    }

    package static let notANumber = StoredDecimal(mantissa: 0, exponent: 0, flags: notANumberFlag)

    package var isNegative: Bool { flags & Self.negativeFlag != 0 }
    package var isNaN: Bool { flags & Self.notANumberFlag != 0 }

    @inline(__always)
    package init(reading bytes: UnsafeRawPointer) {
        let low = bytes.loadUnaligned(as: UInt64.self)
        let high = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        mantissa = UInt128(high) << 64 | UInt128(low)
        exponent = bytes.loadUnaligned(fromByteOffset: 16, as: Int32.self)
        flags = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
    }

    package func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: UInt64(truncatingIfNeeded: mantissa), as: UInt64.self)
        bytes.storeBytes(of: UInt64(truncatingIfNeeded: mantissa >> 64), toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: exponent, toByteOffset: 16, as: Int32.self)
        bytes.storeBytes(of: flags, toByteOffset: 20, as: UInt32.self)
    }

    /// The significant digits, 0 to 9, most significant first, without zeros at the end; empty for zero.
    var digits: [UInt8] {
        var rest = mantissa
        var digits: [UInt8] = []
        while rest > 0 {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            digits.append(UInt8(digit))
            rest = quotient
        }
        let zeros = digits.prefix { $0 == 0 }.count
        return Array(digits.dropFirst(zeros).reversed())
    }

    /// The exponent of the number in the form 0.d₁d₂… × 10^magnitude with d₁ not zero.
    var magnitude: Int {
        var digitCount = 0
        var rest = mantissa
        while rest > 0 {
            rest /= 10
            digitCount += 1
        }
        return Int(exponent) + digitCount
    }

    /// −1, 0 or 1 as the number is below, equal to or above another in the order of keys.
    package func order(against other: StoredDecimal) -> Int {
        if isNaN || other.isNaN { return (isNaN ? 1 : 0) - (other.isNaN ? 1 : 0) }
        let sign = mantissa == 0 ? 0 : isNegative ? -1 : 1
        let otherSign = other.mantissa == 0 ? 0 : other.isNegative ? -1 : 1
        if sign != otherSign { return sign < otherSign ? -1 : 1 }
        if sign == 0 { return 0 }
        return sign * magnitudeOrder(against: other)
    }

    private func magnitudeOrder(against other: StoredDecimal) -> Int {
        if exponent == other.exponent {
            return mantissa == other.mantissa ? 0 : mantissa < other.mantissa ? -1 : 1
        }
        let magnitude = magnitude
        let otherMagnitude = other.magnitude
        if magnitude != otherMagnitude { return magnitude < otherMagnitude ? -1 : 1 }
        let digits = digits
        let otherDigits = other.digits
        if digits == otherDigits { return 0 }
        return digits.lexicographicallyPrecedes(otherDigits) ? -1 : 1
    }
}

extension StoredDecimal: Hashable, Comparable {
    package static func == (left: StoredDecimal, right: StoredDecimal) -> Bool { left.order(against: right) == 0 }

    package static func < (left: StoredDecimal, right: StoredDecimal) -> Bool { left.order(against: right) < 0 }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(isNaN)
        guard !isNaN else { return }
        let digits = digits
        hasher.combine(digits)
        guard !digits.isEmpty else { return }
        hasher.combine(magnitude)
        hasher.combine(isNegative)
    }
}
