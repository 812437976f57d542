internal import FaultlineModel

extension KeyWriter {
    /// Appends the key of a stored value equal to a constant; false if no stored value of the kind can equal it.
    package mutating func append(_ value: RowValue, as kind: ColumnKind) -> Bool {
        switch (value, kind) {
        case (.string(let text), .attribute(.string)), (.string(let text), .attribute(.url)): appendString(text)
        case (.bool(let value), .attribute(.bool)): appendBool(value)
        case (.int(let value), _) where kind.isSignedInteger: appendInt64(value)
        case (.int(let value), _) where kind.isUnsignedInteger && value >= 0: appendUInt64(UInt64(value))
        case (.uint(let value), _) where kind.isUnsignedInteger: appendUInt64(value)
        case (.double(let value), .attribute(.double)), (.double(let value), .attribute(.date)): appendDouble(value)
        case (.float(let value), .attribute(.float)): appendFloat(value)
        case (.uuid(let first, let second), .attribute(.uuid)): appendUUID((first, second))
        case (.decimal(let value), .attribute(.decimal)): appendDecimal(value)
        case (.data(let bytes), .attribute(.data)): bytes.withUnsafeBytes { appendData($0) }
        default: return false
        }
        return true
    }
}
