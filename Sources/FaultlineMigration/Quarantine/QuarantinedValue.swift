public import FaultlineObjects
public import Foundation
internal import FaultlineModel
internal import FaultlineStore

/// A value of an object in the quarantine.
public enum QuarantinedValue: Hashable, Sendable {
    case bool(Bool)
    /// For any signed integer type.
    case integer(Int64)
    /// For any unsigned integer type.
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case string(String)
    /// The text of a URL.
    case url(String)
    case data(Data)
    case codable(CodableValue)
    /// A large value: `QuarantinedObject.bytes(of:in:)` reads it.
    case large(byteCount: Int)
    /// The object that a to-one relationship led to, by its entity and number in the version before.
    case object(entity: String, number: UInt64)
}

extension QuarantinedValue {
    init(_ row: RowView, _ slot: Int, _ kind: AttributeKind) {
        self =
            switch kind {
            case .bool: .bool(row.bool(slot))
            case .int8, .int16, .int32, .int64: .integer(row.int64(slot))
            case .uint8, .uint16, .uint32, .uint64: .unsigned(row.uint64(slot))
            case .float: .float(row.float(slot))
            case .double: .double(row.double(slot))
            case .date: .date(Date(timeIntervalSinceReferenceDate: row.date(slot)))
            case .uuid: .uuid(UUID(storedWords: row.uuid(slot)))
            case .decimal: .decimal(Decimal(row.decimal(slot)))
            case .string: .string(row.string(slot))
            case .url: .url(row.string(slot))
            case .data: .data(Data(row.variable(slot)))
            case .codable: .codable(CodableValue(row.variable(slot)))
            }
    }
}
