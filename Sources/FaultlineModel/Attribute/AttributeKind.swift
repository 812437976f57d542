internal import FoundationEssentials

/// The form in which an attribute's values are stored.
///
/// Invariant: raw values are written into schemas and rows, so a case keeps its number for ever.
public enum AttributeKind: UInt8, Codable, CaseIterable, Sendable {
    case bool = 1
    case int8 = 2
    case int16 = 3
    case int32 = 4
    /// `Int64`, and `Int`.
    case int64 = 5
    case uint8 = 6
    case uint16 = 7
    case uint32 = 8
    /// `UInt64`, and `UInt`.
    case uint64 = 9
    case float = 10
    case double = 11
    case date = 12
    case uuid = 13
    case decimal = 14
    case string = 15
    case url = 16
    case data = 17
    /// Any other `Codable` type, encoded as a nested value.
    case codable = 18

    /// Finds the kind that stores values of a Swift type.
    ///
    /// An optional type counts as its wrapped type. A `RawRepresentable` type whose raw value is a scalar is stored by
    /// that raw value. Nil if the type is not `Codable`, and so cannot be stored without a transformer.
    public init?(valueType: any Any.Type) {
        let type = unwrappedType(valueType)
        if let kind = ScalarType(type)?.kind {
            self = kind
        } else if let raw = type as? any RawRepresentable.Type, let kind = ScalarType(rawValueType(raw))?.kind {
            self = kind
        } else if type is any (Decodable & Encodable).Type {
            self = .codable
        } else {
            return nil
        }
    }

    /// The Swift type that represents this kind if the model's own type is unknown.
    ///
    /// `Any` for `codable`, whose values have no type without the model's classes.
    public var defaultValueType: any Any.Type {
        switch self {
        case .bool: Bool.self
        case .int8: Int8.self
        case .int16: Int16.self
        case .int32: Int32.self
        case .int64: Int.self
        case .uint8: UInt8.self
        case .uint16: UInt16.self
        case .uint32: UInt32.self
        case .uint64: UInt.self
        case .float: Float.self
        case .double: Double.self
        case .date: Date.self
        case .uuid: UUID.self
        case .decimal: Decimal.self
        case .string: String.self
        case .url: URL.self
        case .data: Data.self
        case .codable: Any.self
        }
    }

    /// Whether values are whole numbers, of any width and sign.
    public var isInteger: Bool {
        AttributeKind.int8.rawValue...AttributeKind.uint64.rawValue ~= rawValue
    }
}

extension AttributeKind {
    private static let signed: [AttributeKind] = [.int8, .int16, .int32, .int64]
    private static let unsigned: [AttributeKind] = [.uint8, .uint16, .uint32, .uint64]

    /// Whether every value of another kind is also one of this kind, so that rows with that kind can be read as this
    /// one.
    package func holdsEveryValue(of other: AttributeKind) -> Bool {
        if self == other { return true }
        if let width = Self.signed.firstIndex(of: self) {
            // An unsigned number needs one bit more.
            return (Self.signed.firstIndex(of: other) ?? Self.unsigned.firstIndex(of: other)).map { $0 < width }
                ?? false
        }
        if let width = Self.unsigned.firstIndex(of: self) {
            return Self.unsigned.firstIndex(of: other).map { $0 < width } ?? false
        }
        return self == .double && other == .float
    }

    /// Whether a value has the same index key under both kinds (`docs/FileFormat.md` 13.5).
    func hasKeys(of other: AttributeKind) -> Bool {
        self == other || [Self.signed, Self.unsigned].contains { $0.contains(self) && $0.contains(other) }
    }
}

extension AttributeKind: CustomStringConvertible {
    /// The case's name.
    public var description: String {
        switch self {
        case .bool: "bool"
        case .int8: "int8"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .uint8: "uint8"
        case .uint16: "uint16"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .float: "float"
        case .double: "double"
        case .date: "date"
        case .uuid: "uuid"
        case .decimal: "decimal"
        case .string: "string"
        case .url: "url"
        case .data: "data"
        case .codable: "codable"
        }
    }
}
