internal import FaultlineModel
internal import Foundation

extension MappingNode {
    /// The value as one of an attribute, or, if the attribute is unknown, as the JSON value.
    ///
    /// - Throws: `wrongValue` if it has another type than the attribute.
    func value(of attribute: Schema.Attribute?) throws(MappingFileError) -> (any Sendable)? {
        switch value {
        case .null: return nil
        case .list, .object: throw wrong("a text, a number, true, false or null")
        default: break
        }
        guard let kind = attribute?.kind else { return plain }
        guard let converted = converted(to: kind) else { throw wrong(Self.wanted(kind)) }
        return converted
    }

    private var plain: (any Sendable)? {
        switch value {
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .text(let value): value
        case .null, .list, .object: nil
        }
    }

    private func converted(to kind: AttributeKind) -> (any Sendable)? {
        switch (kind, value) {
        case (.bool, .bool(let value)): value
        case (.string, .text(let value)): value
        case (.float, .int(let value)), (.double, .int(let value)): Double(value)
        case (.float, .double(let value)), (.double, .double(let value)): value
        case (.decimal, .int(let value)): Decimal(value)
        case (.decimal, .text(let value)): Decimal(string: value)
        case (.date, .text(let value)): try? Date(value, strategy: .iso8601)
        case (.uuid, .text(let value)): UUID(uuidString: value)
        case (.url, .text(let value)): URL(string: value)
        case (.data, .text(let value)): Data(base64Encoded: value)
        case (.int8, .int(let value)): Int8(exactly: value).map { Int($0) }
        case (.int16, .int(let value)): Int16(exactly: value).map { Int($0) }
        case (.int32, .int(let value)): Int32(exactly: value).map { Int($0) }
        case (.int64, .int(let value)): value
        case (.uint8, .int(let value)): UInt8(exactly: value).map { Int($0) }
        case (.uint16, .int(let value)): UInt16(exactly: value).map { Int($0) }
        case (.uint32, .int(let value)): UInt32(exactly: value).map { Int($0) }
        case (.uint64, .int(let value)): value >= 0 ? value : nil
        default: nil
        }
    }

    private static func wanted(_ kind: AttributeKind) -> String {
        switch kind {
        case .bool: "true or false"
        case .string: "a text"
        case .float, .double: "a number"
        case .decimal: "a whole number, or a decimal number as a text,"
        case .date: "a date as in \"2026-01-31T12:00:00Z\""
        case .uuid: "a UUID as a text"
        case .url: "a URL as a text"
        case .data: "bytes in base64"
        case .uint8: "a whole number from 0 to \(UInt8.max)"
        case .uint16: "a whole number from 0 to \(UInt16.max)"
        case .uint32: "a whole number from 0 to \(UInt32.max)"
        case .uint64: "a whole number that is not negative"
        case .int8: "a whole number from \(Int8.min) to \(Int8.max)"
        case .int16: "a whole number from \(Int16.min) to \(Int16.max)"
        case .int32: "a whole number from \(Int32.min) to \(Int32.max)"
        case .int64: "a whole number"
        case .codable: "nothing, because encoded values have no text,"
        }
    }
}
