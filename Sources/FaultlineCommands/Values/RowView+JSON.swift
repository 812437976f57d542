import Faultline
import FaultlineLog
import FaultlineModel
package import FaultlineObjects
package import FaultlineStore
import Foundation

extension RowView {
    /// The value of an attribute or a to-one relationship in the row, as JSON.
    ///
    /// Values that JSON cannot express (not-a-number, an infinity) are null.
    package func json(_ slot: Int, _ kind: ColumnKind) -> String {
        if isNil(slot) { return "null" }
        switch kind {
        case .toMany: return "null"
        case .toOne: return "\(toOne(slot))"
        case .link: return "\(uint64(slot))"
        case .attribute(let kind): return json(slot, kind)
        }
    }

    private func json(_ slot: Int, _ kind: AttributeKind) -> String {
        switch kind {
        case .bool: bool(slot) ? "true" : "false"
        case .int8, .int16, .int32, .int64: "\(int64(slot))"
        case .uint8, .uint16, .uint32, .uint64: "\(uint64(slot))"
        case .float: Self.json(float(slot))
        case .double: Self.json(double(slot))
        case .date: DateText.json(secondsSince2001: date(slot))
        case .uuid: Self.json(uuid(slot))
        case .decimal: Self.json(decimal(slot))
        case .string, .url: JSONLine.quoted(string(slot))
        case .data: "\"" + Data(variable(slot)).base64EncodedString() + "\""
        case .codable: NestedView(variable(slot)).map(Self.json) ?? "null"
        }
    }

    private static func json(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        value.isFinite ? value.description : "null"
    }

    private static func json(_ words: (UInt64, UInt64)) -> String {
        var words = words
        return "\"" + withUnsafeBytes(of: &words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString + "\""
    }

    private static func json(_ decimal: StoredDecimal) -> String {
        decimal.isNaN ? "null" : "\(decimal.isNegative ? "-" : "")\(decimal.mantissa)e\(decimal.exponent)"
    }

    /// A nested value as JSON; null if it does not decode.
    fileprivate static func json(_ value: NestedView) -> String {
        switch value.tag {
        case .null: return "null"
        case .no: return "false"
        case .yes: return "true"
        case .int: return value.integer(Int64.self).map { "\($0)" } ?? "null"
        case .uint: return value.integer(UInt64.self).map { "\($0)" } ?? "null"
        case .double, .float: return value.floatingPoint(Double.self).map { json($0) } ?? "null"
        case .string: return JSONLine.quoted(value.string ?? "")
        case .data: return "\"" + (value.data.map { Data($0).base64EncodedString() } ?? "") + "\""
        case .date, .uuid, .decimal:
            switch value.scalar {
            case .date(let seconds)?: return DateText.json(secondsSince2001: seconds)
            case .uuid(let first, let second)?: return json((first, second))
            case .decimal(let decimal)?: return json(decimal)
            default: return "null"
            }
        case .array:
            return "["
                + (0..<value.count).map { value.element(at: $0).map { json($0) } ?? "null" }
                .joined(separator: ",") + "]"
        case .keyed:
            let members = (0..<value.count).map { place in
                let key = value.key(at: place).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return JSONLine.quoted(key) + ":" + (value.element(at: place).map { json($0) } ?? "null")
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }
}

extension CodableValue {
    /// The stored form of the value as JSON; null if it does not decode.
    package var json: String { bytes.withUnsafeBytes { NestedView($0).map(RowView.json) ?? "null" } }
}
