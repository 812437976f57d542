internal import FoundationEssentials

/// A default value in a form that does not need the model's classes.
///
/// The text of each kind is exact: reading it back gives an equal value.
package struct StoredDefault: Codable, Hashable, Sendable {
    let kind: AttributeKind
    /// Digits for numbers (or `inf` and `nan`), seconds since 2001 for dates, base 64 for data, JSON for encoded
    /// values, and the natural text of everything else.
    let text: String

    /// The value in the form of rows, in base 64; nil for all kinds but `codable`, and if it was never encoded.
    private let nested: String?

    /// Compares kind, text, and whether the form of rows is known, but not that form: sets and dictionaries are encoded
    /// in any order.
    package static func == (left: StoredDefault, right: StoredDefault) -> Bool {
        left.kind == right.kind && left.text == right.text && (left.nested == nil) == (right.nested == nil)
    }

    /// Hashes kind and text.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
    }

    /// The value in the form of rows; nil if `nested` is nil, or is not base 64.
    var encoding: [UInt8]? { nested.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) } }

    /// Makes a default from its written form, in which the form of rows is in base 64.
    package init(kind: AttributeKind, text: String, nested: String?) {
        self.kind = kind
        self.text = text
        self.nested = nested
    }

    init(kind: AttributeKind, text: String, encoding: [UInt8]? = nil) {
        self.kind = kind
        self.text = text
        nested = encoding.map { Data($0).base64EncodedString() }
    }

    /// Converts a default value; nil if there is none, or if it is not a value of `kind`.
    init?(_ value: Any?, kind: AttributeKind, encoding: [UInt8]? = nil) {
        guard let value = unwrappedValue(value), let fitted = try? AttributeValue(value, kind: kind),
            let text = StoredDefault.text(of: fitted)
        else { return nil }
        self.init(kind: kind, text: text, encoding: encoding)
    }

    /// The value, as the scalar type with that name if it has the same kind, else as the kind's own type.
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

    private static func text(of value: AttributeValue) -> String? {
        switch value {
        case .bool(let value): value.description
        case .integer(let value): value.description
        case .float(let value): value.description
        case .double(let value): value.description
        case .date(let value): value.timeIntervalSinceReferenceDate.description
        case .uuid(let value): value.uuidString
        case .decimal(let value): value.description
        case .string(let value): value
        case .url(let value): value.absoluteString
        case .data(let value): value.base64EncodedString()
        case .encodable(let value): json(of: value)
        }
    }

    private static func integer<T: FixedWidthInteger>(_ type: T.Type, _ text: String) -> Any? {
        T(text).map { $0 as Any }
    }

    /// Nil for a value that cannot be written as JSON: such a default is known only as long as its class is.
    private static func json(of value: some Encodable) -> String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        guard let data = try? encoder.encode(value) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
