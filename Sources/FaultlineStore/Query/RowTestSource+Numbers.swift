extension SlotAccess {
    /// The operation that loads a number of the stored width and sign.
    var loadOperation: RowInstruction.Operation {
        switch kind {
        case 10: return .float
        case 11, 12: return .double
        case SlotAccess.toOneKind: return .identifier
        case 2...5:
            switch width {
            case 1: return .int8
            case 2: return .int16
            case 4: return .int32
            default: return .int64
            }
        default:
            switch width {
            case 1: return .uint8
            case 2: return .uint16
            case 4: return .uint32
            default: return .uint64
            }
        }
    }
}

extension Double {
    /// The largest integer not above and the smallest not below; nil for not-a-number.
    var integerBounds: (floor: Int128, ceiling: Int128)? {
        if isNaN { return nil }
        // Beyond every slot's range; the distance does not matter.
        let far: Int128 = 1 << 65
        if self >= 0x1p65 { return (far, far) }
        if self <= -0x1p65 { return (-far, -far) }
        return (Int128(rounded(.down)), Int128(rounded(.up)))
    }

    /// The doubles next to an integer: twice the same one if it equals the integer.
    static func around(_ value: Int128) -> (floor: Double, ceiling: Double) {
        let nearest = Double(value)
        let back = Int128(nearest)
        if back == value { return (nearest, nearest) }
        return back < value ? (nearest, nearest.nextUp) : (nearest.nextDown, nearest)
    }
}

extension RowValue {
    var asDecimal: StoredDecimal? {
        switch self {
        case .decimal(let value): value
        case .int(let value):
            StoredDecimal(mantissa: UInt128(value.magnitude), exponent: 0, isNegative: value < 0)
        case .uint(let value): StoredDecimal(mantissa: UInt128(value), exponent: 0)
        default: nil
        }
    }
}

extension StoredDecimal {
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        bytes.withUnsafeMutableBytes { room in
            if let base = room.baseAddress { write(to: base) }
        }
        return bytes
    }
}

extension UInt64 {
    var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}

extension [UInt8] {
    var littleEndianNumber: UInt64 { reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
