package import FaultlineModel

/// The content of a row's column: an attribute, the identifier of another object, or a link's end.
package enum ColumnKind: Hashable, Sendable {
    case attribute(AttributeKind)
    /// The identifier of a to-one relationship's target; zero means nil.
    case toOne
    /// A word of a hidden link object.
    case link
    /// A to-many relationship: it has no bytes in the row, only a slot.
    case toMany

    /// The number of the kind in the layout registry.
    package var rawValue: UInt8 {
        switch self {
        case .attribute(let kind): kind.rawValue
        case .toOne: 32
        case .link: 33
        case .toMany: 34
        }
    }

    package init?(rawValue: UInt8) {
        switch rawValue {
        case 32: self = .toOne
        case 33: self = .link
        case 34: self = .toMany
        default:
            guard let kind = AttributeKind(rawValue: rawValue) else { return nil }
            self = .attribute(kind)
        }
    }

    /// Bytes of a value in the fixed area: its own width, or 4 for the end word of a variable value.
    package var naturalWidth: Int {
        guard case .attribute(let kind) = self else { return self == .toMany ? 0 : 8 }
        switch kind {
        case .bool, .int8, .uint8: return 1
        case .int16, .uint16: return 2
        case .int32, .uint32, .float: return 4
        case .int64, .uint64, .double, .date: return 8
        case .uuid: return 16
        case .decimal: return 24
        case .string, .url, .data, .codable: return 4
        }
    }

    /// Whether values are among the variable bytes.
    package var isVariable: Bool {
        switch self {
        case .attribute(.string), .attribute(.url), .attribute(.data), .attribute(.codable): true
        default: false
        }
    }

    /// Whether values are text, compared by canonical equivalence.
    package var isText: Bool { self == .attribute(.string) || self == .attribute(.url) }

    /// Whether values are whole numbers, which may take fewer bytes than their type.
    package var isInteger: Bool { isSignedInteger || isUnsignedInteger }

    package var isSignedInteger: Bool {
        switch self {
        case .attribute(.int8), .attribute(.int16), .attribute(.int32), .attribute(.int64): true
        default: false
        }
    }

    package var isUnsignedInteger: Bool {
        switch self {
        case .attribute(.uint8), .attribute(.uint16), .attribute(.uint32), .attribute(.uint64): true
        default: false
        }
    }
}

extension ColumnKind: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try container.decode(UInt8.self)
        guard let kind = ColumnKind(rawValue: number) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "Column kind \(number) is not known to this release."
            )
        }
        self = kind
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
