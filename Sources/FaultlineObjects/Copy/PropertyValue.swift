public import Foundation
internal import FaultlineModel
internal import FaultlineStore

/// A value of a property, independent of any context: it can be sent to any thread.
public enum PropertyValue: Hashable, Sendable {
    /// Nil; for an attribute or a to-one relationship.
    case null
    case bool(Bool)
    /// For every integer type.
    case integer(Int128)
    case float(Float)
    case double(Double)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case string(String)
    case url(URL)
    case data(Data)
    /// For any other `Codable` type, in its stored form.
    case codable(CodableValue)
    /// A large value that was not read.
    case outOfRow(byteCount: UInt64)
    /// The object that a relationship leads to.
    case object(PersistentIdentifier)
    /// The objects in a collection, in their order.
    case objects([PersistentIdentifier])
}

extension PropertyValue {
    /// The value of an attribute; a large one is not read.
    init(_ row: some SlotValues, _ slot: Int, _ attribute: Schema.Attribute) {
        if row.isNil(slot) {
            self = .null
        } else {
            switch attribute.kind {
            case .bool: self = .bool(row.bool(slot))
            case .int8, .int16, .int32, .int64: self = .integer(Int128(row.int64(slot)))
            case .uint8, .uint16, .uint32, .uint64: self = .integer(Int128(row.uint64(slot)))
            case .float: self = .float(row.float(slot))
            case .double: self = .double(row.double(slot))
            case .date: self = .date(Date(timeIntervalSinceReferenceDate: row.double(slot)))
            case .uuid: self = .uuid(UUID(storedWords: row.uuid(slot)))
            case .decimal: self = .decimal(Decimal(row.decimal(slot)))
            case .string, .url, .data, .codable:
                if let blob = row.blobReference(slot) {
                    self = .outOfRow(byteCount: blob.byteCount)
                } else {
                    self.init(row.variable(slot), attribute.kind)
                }
            }
        }
    }

    /// Decodes the bytes of an attribute of variable size.
    init(_ bytes: UnsafeRawBufferPointer, _ kind: AttributeKind) {
        switch kind {
        case .data: self = .data(Data(bytes))
        // No bytes are the encoding of no value: a row older than the attribute reads so if the default is unknown.
        case .codable: self = bytes.isEmpty ? .null : .codable(CodableValue(bytes))
        default:
            let text = String(decoding: bytes, as: UTF8.self)
            self = kind == .url ? URL(string: text).map { .url($0) } ?? .string(text) : .string(text)
        }
    }
}
