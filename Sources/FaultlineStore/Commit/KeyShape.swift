internal import FaultlineModel

/// The form of the key of one value, by the kind of its column: `KeyWriter` writes them.
package enum KeyShape {
    /// Whether bytes are the key of some value of a column, or of nil.
    ///
    /// - Parameters:
    ///   - key: Any bytes.
    ///   - kind: The column's kind.
    /// - Returns: False for any other bytes.
    /// - Complexity: O(n) for n bytes.
    package static func isKey(_ key: [UInt8], of kind: ColumnKind) -> Bool {
        if key == [0] { return true }
        guard key.first == 1 else { return false }
        let value = key.dropFirst()
        guard case .attribute(let attribute) = kind else { return kind != .toMany && value.count == 8 }
        switch attribute {
        case .bool: return value.count == 1 && value[1] <= 1
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .double, .date: return value.count == 8
        case .float: return value.count == 4
        case .uuid: return value.count == 16
        case .decimal: return isDecimal(value)
        case .string, .url, .data, .codable: return isData(value)
        }
    }

    /// A class, and, for numbers but zero, a magnitude, digits plus one and an end mark.
    private static func isDecimal(_ value: ArraySlice<UInt8>) -> Bool {
        switch value.first {
        case 1, 3: return value.count == 1
        case 0, 2:
            let mask: UInt8 = value.first == 0 ? 0xFF : 0
            let digits = value.dropFirst(5).dropLast()
            return !digits.isEmpty && value.last == mask && digits.allSatisfy { (1...10).contains($0 ^ mask) }
        default: return false
        }
    }

    /// Bytes, each zero followed by FF, and two zeros.
    private static func isData(_ value: ArraySlice<UInt8>) -> Bool {
        let bytes = value.dropLast(2)
        guard value.count >= 2, value.suffix(2).allSatisfy({ $0 == 0 }) else { return false }
        var isEscaped = false
        for byte in bytes {
            if isEscaped, byte != 0xFF { return false }
            isEscaped = !isEscaped && byte == 0
        }
        return !isEscaped
    }
}
