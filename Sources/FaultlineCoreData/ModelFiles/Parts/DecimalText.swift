internal import Foundation

/// Reads decimals from whole texts: `Decimal(string:)` takes the beginning of a text, and as many digits as fit.
package enum DecimalText {
    /// The reason why a text is no decimal.
    package enum Failure: Error {
        /// The text is not a number.
        case malformed
        /// The number has more digits, or a greater exponent, than a decimal.
        case inexact
    }

    /// The decimal that a text has, exactly.
    ///
    /// - Parameter text: An optional sign, digits with at most one point, and an optional exponent.
    /// - Returns: The decimal.
    /// - Throws: `Failure`.
    package static func decimal(_ text: String) throws(Failure) -> Decimal {
        guard let wanted = DecimalDigits(text) else { throw .malformed }
        guard let decimal = Decimal(string: wanted.text, locale: Locale(identifier: "en_US_POSIX")),
            DecimalDigits(decimal.description) == wanted
        else { throw .inexact }
        return decimal
    }
}

/// A number as digits without zeros at either end, and an exponent.
private struct DecimalDigits: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    /// The power of ten of the last digit.
    private var exponent = 0

    private static let exponentMax = 1_000_000
    private static let zero = UInt8(ascii: "0")
    /// A decimal's exponent is a signed byte.
    private static let writtenExponentMax = Int(Int8.max)
    /// Every number of so many digits fits.
    private static let digitCountMax = 38

    /// Reads a number; nil if the text is none.
    init?(_ text: String) {
        var rest = Substring(text).utf8
        if let sign = Self.takeSign(&rest) { isNegative = sign }
        var isFraction = false
        while let byte = rest.first {
            if Self.isDigit(byte) {
                digits.append(byte)
                if isFraction { exponent -= 1 }
            } else if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else {
                break
            }
            rest.removeFirst()
        }
        guard !digits.isEmpty else { return nil }
        if let mark = rest.first {
            guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
            rest.removeFirst()
            let isDown = Self.takeSign(&rest) ?? false
            guard !rest.isEmpty, rest.allSatisfy(Self.isDigit) else { return nil }
            let power = min(Int(Substring(rest)) ?? Self.exponentMax, Self.exponentMax)
            exponent += isDown ? -power : power
        }
        while digits.last == Self.zero {
            digits.removeLast()
            exponent += 1
        }
        digits.removeFirst(digits.prefix { $0 == Self.zero }.count)
        if digits.isEmpty { (isNegative, exponent) = (false, 0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= UInt8(ascii: "9") }

    /// Removes a sign; true for minus, nil for none.
    private static func takeSign(_ rest: inout Substring.UTF8View) -> Bool? {
        guard let byte = rest.first, byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") else { return nil }
        rest.removeFirst()
        return byte == UInt8(ascii: "-")
    }

    /// The number with an exponent that a decimal may have, if there is one.
    var text: String {
        var (digits, exponent) = (digits, exponent)
        if digits.isEmpty { digits = [Self.zero] }
        while exponent > Self.writtenExponentMax, digits.count < Self.digitCountMax {
            digits.append(Self.zero)
            exponent -= 1
        }
        return "\(isNegative ? "-" : "")\(String(decoding: digits, as: UTF8.self))e\(exponent)"
    }
}
