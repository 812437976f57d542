/// Text in the XML of a store of Core Data, whose signs `<` and others stand as `\u3c00`: the bytes of their numbers, the
/// lower one first.
enum StoredText {
    /// The text that was stored.
    static func decoded(_ stored: String) -> String {
        guard stored.contains("\\u") else { return stored }
        var units: [UInt16] = []
        var rest = Array(stored.utf16)[...]
        while let unit = rest.first {
            if unit == UInt16(ascii: "\\"), let escaped = escaped(rest.dropFirst()) {
                units.append(escaped)
                rest = rest.dropFirst(6)
            } else {
                units.append(unit)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// The unit after `u` and four hexadecimal digits; nil if they do not stand there.
    private static func escaped(_ text: ArraySlice<UInt16>) -> UInt16? {
        guard text.first == UInt16(ascii: "u"), text.count >= 5 else { return nil }
        let digits = String(decoding: text.dropFirst().prefix(4), as: UTF16.self)
        guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(digits, radix: 16) else {
            return nil
        }
        // Processors with the other order of bytes wrote the higher one first.
        return unit < 128 ? unit : unit.byteSwapped
    }
}

extension UInt16 {
    fileprivate init(ascii scalar: Unicode.Scalar) { self = UInt16(scalar.value) }
}
