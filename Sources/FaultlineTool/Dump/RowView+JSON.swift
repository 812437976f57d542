import FaultlineModel
import FaultlineStore
import Foundation

extension JSONLine {
    /// Adds the value of a slot of a row.
    mutating func add(_ row: RowView, slot: Int, kind: ColumnKind, as name: String) {
        if row.isNil(slot) { return addNull(name) }
        if kind.isVariable, let blob = row.blobReference(slot) {
            var place = JSONLine()
            place.add("blob", Int(clamping: blob.identifier))
            place.add("bytes", Int(clamping: blob.byteCount))
            return add(name, place)
        }
        switch kind {
        case .toMany: return
        case .toOne: add(name, Int(clamping: row.toOne(slot)))
        case .link: add(name, Int(clamping: row.uint64(slot)))
        case .attribute(let kind): add(row, slot, kind, name)
        }
    }

    private mutating func add(_ row: RowView, _ slot: Int, _ kind: AttributeKind, _ name: String) {
        switch kind {
        case .bool: add(name, row.bool(slot))
        case .int8, .int16, .int32, .int64: add(name, Int(row.int64(slot)))
        case .uint8, .uint16, .uint32, .uint64: addRaw(name, "\(row.uint64(slot))")
        case .float: addRaw(name, Self.number(Double(row.float(slot))))
        case .double: addRaw(name, Self.number(row.double(slot)))
        case .date: add(name, Date(timeIntervalSinceReferenceDate: row.date(slot)).formatted(.iso8601))
        case .uuid:
            var words = row.uuid(slot)
            add(name, withUnsafeBytes(of: &words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString)
        case .decimal: addRaw(name, Self.text(of: row.decimal(slot)))
        case .string, .url: add(name, row.string(slot))
        case .data: add(name, Data(row.variable(slot)).base64EncodedString())
        case .codable: addRaw(name, NestedView(row.variable(slot)).map(Self.text) ?? "null")
        }
    }

    private static func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "null" }

    private static func text(of decimal: StoredDecimal) -> String {
        guard !decimal.isNaN else { return "null" }
        return "\(decimal.isNegative ? "-" : "")\(decimal.mantissa)e\(decimal.exponent)"
    }

    /// A nested value as JSON; what does not decode is null.
    private static func text(of value: NestedView) -> String {
        switch value.tag {
        case .null: return "null"
        case .no: return "false"
        case .yes: return "true"
        case .int: return value.integer(Int64.self).map { "\($0)" } ?? "null"
        case .uint: return value.integer(UInt64.self).map { "\($0)" } ?? "null"
        case .double, .float, .date: return value.floatingPoint(Double.self).map(number) ?? "null"
        case .string: return quoted(value.string ?? "")
        case .data: return quoted(value.data.map { Data($0).base64EncodedString() } ?? "")
        case .uuid, .decimal:
            switch value.scalar {
            case .uuid(let first, let second)?:
                var words = (first, second)
                return quoted(withUnsafeBytes(of: &words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.uuidString)
            case .decimal(let decimal)?: return text(of: decimal)
            default: return "null"
            }
        case .array:
            return "[" + (0..<value.count).map { value.element(at: $0).map(text) ?? "null" }.joined(separator: ",")
                + "]"
        case .keyed:
            let members = (0..<value.count).map { place in
                let key = value.key(at: place).map { String(decoding: $0, as: UTF8.self) } ?? ""
                return quoted(key) + ":" + (value.element(at: place).map(text) ?? "null")
            }
            return "{" + members.joined(separator: ",") + "}"
        }
    }
}
