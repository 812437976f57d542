package import FoundationEssentials

/// A value in the form of an attribute kind: the step between a boxed value and its stored bytes.
package enum AttributeValue {
    case bool(Bool)
    /// A value of any integer kind, within its range.
    case integer(Int128)
    case float(Float)
    case double(Double)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case string(String)
    case url(URL)
    case data(Data)
    /// A value of a type that is stored in the nested encoding.
    case encodable(any Encodable)

    /// The reason why a value does not fit a kind.
    package enum Misfit: Error {
        case wrongType
        /// A number that the kind cannot hold exactly, or, for a fraction, one that is out of range.
        case outOfRange
    }

    /// Converts a value that is not an optional.
    ///
    /// Integers convert to every number kind that holds their value exactly, fractions to floating-point kinds, rounded
    /// to the nearest; a case of an enum counts as its raw value.
    package init(_ value: Any, kind: AttributeKind) throws(Misfit) {
        switch (kind, value) {
        case (.bool, let value as Bool): self = .bool(value)
        case (.float, let value as Float): self = .float(value)
        case (.float, let value as Double):
            let nearest = Float(value)
            guard nearest.isFinite || !value.isFinite else { throw .outOfRange }
            self = .float(nearest)
        case (.double, let value as Double): self = .double(value)
        case (.double, let value as Float): self = .double(Double(value))
        case (.decimal, let value as Decimal): self = .decimal(value)
        case (.date, let value as Date): self = .date(value)
        case (.uuid, let value as UUID): self = .uuid(value)
        case (.string, let value as String): self = .string(value)
        case (.string, let value as Substring): self = .string(String(value))
        case (.url, let value as URL): self = .url(value)
        case (.data, let value as Data): self = .data(value)
        case (.codable, let value as any Encodable): self = .encodable(value)
        case (_, let value as any BinaryInteger): try self.init(integer: value, kind: kind)
        case (_, let value as any RawRepresentable): try self.init(rawValue(of: value), kind: kind)
        default: throw .wrongType
        }
    }

    private init<I: BinaryInteger>(integer value: I, kind: AttributeKind) throws(Misfit) {
        let wide = Int128(exactly: value)
        switch kind {
        case .float:
            guard let exact = wide.flatMap({ Float(exactly: $0) }) else { throw .outOfRange }
            self = .float(exact)
        case .double:
            guard let exact = wide.flatMap({ Double(exactly: $0) }) else { throw .outOfRange }
            self = .double(exact)
        case .decimal:
            guard wide != nil, let exact = Decimal(string: value.description) else { throw .outOfRange }
            self = .decimal(exact)
        default:
            guard let type = kind.defaultValueType as? any FixedWidthInteger.Type else { throw .wrongType }
            guard let wide, Self.holds(type, wide) else { throw .outOfRange }
            self = .integer(wide)
        }
    }

    private static func holds<I: FixedWidthInteger>(_ type: I.Type, _ value: Int128) -> Bool {
        I(exactly: value) != nil
    }
}
