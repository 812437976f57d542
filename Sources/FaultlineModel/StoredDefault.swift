internal import FoundationEssentials

/// A default value in a form that survives without the model's classes.
///
/// The text of each kind is exact: reading it back gives an equal value.
struct StoredDefault: Codable, Hashable, Sendable {
    let kind: AttributeKind
    /// Digits for numbers (`inf` and `nan` included), seconds since 2001 for dates, base 64 for data, JSON for
    /// encoded values, and the natural text of everything else.
    let text: String

    init(kind: AttributeKind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// Takes a default value apart; nil if there is none, or if it is not a value of `kind`.
    init?(_ value: Any?, kind: AttributeKind) {
        guard let value = unwrappedValue(value) else { return nil }
        if let text = StoredDefault.text(of: value, kind: kind) {
            self.init(kind: kind, text: text)
        } else if let raw = value as? any RawRepresentable,
            let text = StoredDefault.text(of: rawValue(of: raw), kind: kind)
        {
            self.init(kind: kind, text: text)
        } else {
            return nil
        }
    }

    /// The value, as the scalar type of that name where it has the same kind, else as the kind's own type.
    ///
    /// Nil for encoded values, which only the model's type can read, and for text that is not a value of the kind.
    func value(typeName: String) -> Any? {
        let scalar = ScalarType(named: typeName).flatMap { $0.kind == kind ? $0.type : nil }
        let type = scalar ?? kind.defaultValueType
        switch kind {
        case .bool: return Bool(text)
        case .float: return Float(text)
        case .double: return Double(text)
        case .date: return Double(text).map(Date.init(timeIntervalSinceReferenceDate:))
        case .uuid: return UUID(uuidString: text)
        case .decimal: return text == Decimal.nan.description ? Decimal.nan : Decimal(string: text)
        case .string: return text
        case .url: return URL(string: text)
        case .data: return Data(base64Encoded: text)
        case .codable: return nil
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
            return (type as? any FixedWidthInteger.Type).flatMap { StoredDefault.integer($0, text) }
        }
    }

    private static func text(of value: Any, kind: AttributeKind) -> String? {
        switch (kind, value) {
        case (.bool, let value as Bool): value.description
        case (.float, let value as Float): value.description
        case (.double, let value as Double): value.description
        case (.date, let value as Date): value.timeIntervalSinceReferenceDate.description
        case (.uuid, let value as UUID): value.uuidString
        case (.decimal, let value as Decimal): value.description
        case (.string, let value as String): value
        case (.url, let value as URL): value.absoluteString
        case (.data, let value as Data): value.base64EncodedString()
        case (.codable, let value as any Encodable): json(of: value)
        case (_, let value as any BinaryInteger) where kind.isInteger: digits(of: value, kind: kind)
        default: nil
        }
    }

    /// Nil where the value does not fit the kind's width.
    private static func digits(of value: some BinaryInteger, kind: AttributeKind) -> String? {
        let text = String(value)
        guard let type = kind.defaultValueType as? any FixedWidthInteger.Type else { return nil }
        return integer(type, text) == nil ? nil : text
    }

    private static func integer<T: FixedWidthInteger>(_ type: T.Type, _ text: String) -> Any? {
        T(text).map { $0 as Any }
    }

    /// Nil for a value that cannot be written as JSON: such a default is known only while its class is.
    private static func json(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        guard let data = try? encoder.encode(value) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
