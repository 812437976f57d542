extension NestedValue {
    /// The value of a standard library type with a separate form; nil for other types.
    init?<Value>(primitive value: Value) {
        // Safe because each cast follows a test that both types are the same.
        func cast<Target>(_ type: Target.Type) -> Target { unsafeBitCast(value, to: type) }
        if Value.self == String.self {
            self = .string(cast(String.self))
        } else if Value.self == Int.self {
            self = .int(Int64(cast(Int.self)))
        } else if Value.self == Double.self {
            self = .double(cast(Double.self))
        } else if Value.self == Bool.self {
            self = .bool(cast(Bool.self))
        } else if Value.self == UInt8.self {
            self = .uint(UInt64(cast(UInt8.self)))
        } else if Value.self == Float.self {
            self = .float(cast(Float.self))
        } else if Value.self == Int64.self {
            self = .int(cast(Int64.self))
        } else if Value.self == UInt64.self {
            self = .uint(cast(UInt64.self))
        } else if Value.self == Int32.self {
            self = .int(Int64(cast(Int32.self)))
        } else {
            return nil
        }
    }

    /// An integer that may be wider than those of the tree: then its 16 bytes, little endian.
    init(_ value: Int128) {
        if let narrow = Int64(exactly: value) { self = .int(narrow) } else { self = .data(Self.bytes(of: value)) }
    }

    init(_ value: UInt128) {
        if let narrow = UInt64(exactly: value) { self = .uint(narrow) } else { self = .data(Self.bytes(of: value)) }
    }

    private static func bytes<Number: FixedWidthInteger>(of value: Number) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
