public import Foundation

extension ModelVersion {
    /// A default value, or a bound of values.
    public enum Value: Hashable, Sendable {
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case decimal(Decimal)
        case text(String)
        case date(Date)
        case data(Data)
        case uuid(UUID)
        case url(URL)

        /// The value of a type in the text of a model; nil if the text is no such value.
        init?(_ text: String, _ type: AttributeType) {
            switch type {
            case .integer16: self.init(integer: text, Int16.self)
            case .integer32: self.init(integer: text, Int32.self)
            case .integer64: self.init(integer: text, Int64.self)
            case .decimal:
                guard let value = try? DecimalText.decimal(text) else { return nil }
                self = .decimal(value)
            case .double, .float:
                guard let value = Double(text) else { return nil }
                self = .number(value)
            case .string: self = .text(text)
            case .boolean:
                switch text.lowercased() {
                case "yes", "true", "1": self = .flag(true)
                case "no", "false", "0": self = .flag(false)
                default: return nil
                }
            case .uuid:
                guard let value = UUID(uuidString: text) else { return nil }
                self = .uuid(value)
            case .uri:
                guard let value = URL(string: text) else { return nil }
                self = .url(value)
            case .date:
                guard let value = Double(text), value.isFinite else { return nil }
                self = .date(Date(timeIntervalSinceReferenceDate: value))
            case .undefined, .binary, .transformable, .objectID, .composite: return nil
            }
        }

        /// A whole number within a type; the editor writes some of them as `0.0`.
        private init?<I: FixedWidthInteger>(integer text: String, _ type: I.Type) {
            guard let value = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0) }), I(exactly: value) != nil
            else { return nil }
            self = .integer(value)
        }

        /// The value as an attribute of a type takes it; nil if the type has no such value.
        func value(of type: AttributeType) -> Any? {
            switch (type, self) {
            case (.integer16, .integer(let value)): Int16(exactly: value)
            case (.integer32, .integer(let value)): Int32(exactly: value)
            case (.integer64, .integer(let value)): value
            case (.decimal, .decimal(let value)): value
            case (.decimal, .integer(let value)): Decimal(value)
            case (.double, .number(let value)): value
            case (.double, .integer(let value)): Double(value)
            case (.float, .number(let value)): Float(value)
            case (.float, .integer(let value)): Float(value)
            case (.string, .text(let value)): value
            case (.boolean, .flag(let value)): value
            case (.boolean, .integer(let value)): value == 0 ? false : value == 1 ? true : nil
            case (.date, .date(let value)): value
            case (.binary, .data(let value)): value
            case (.uuid, .uuid(let value)): value
            case (.uri, .url(let value)): value
            default: nil
            }
        }
    }
}

extension ModelVersion.Value: CustomStringConvertible {
    /// The value as text: seconds since 2001 for dates, base 64 for bytes.
    public var description: String {
        switch self {
        case .flag(let value): value ? "YES" : "NO"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .text(let value): value
        case .date(let value): "\(value.timeIntervalSinceReferenceDate)"
        case .data(let value): value.base64EncodedString()
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        }
    }
}
