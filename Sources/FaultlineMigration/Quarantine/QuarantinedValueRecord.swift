internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

/// A value in a record of the quarantine.
package struct QuarantinedValueRecord: Codable, Sendable {
    package let name: String
    /// Raw value of the attribute's kind; 0 for a to-one relationship.
    package let kind: UInt8
    /// Nil for nil.
    package let value: QuarantinedValue?
    /// The blob with the value, if it is large.
    package let blob: UInt64?

    private enum CodingKeys: String, CodingKey { case name, kind, value, blob, bytes, entity, number }

    package init(name: String, kind: UInt8, value: QuarantinedValue?, blob: UInt64? = nil) {
        self.name = name
        self.kind = kind
        self.value = value
        self.blob = blob
    }

    /// Decodes a value by its kind.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        kind = try container.decode(UInt8.self, forKey: .kind)
        blob = try container.decodeIfPresent(UInt64.self, forKey: .blob)
        if blob != nil {
            let byteCount = try container.decode(Int.self, forKey: .bytes)
            guard byteCount >= 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .bytes, in: container, debugDescription: "\(byteCount) bytes are no size of a value.")
            }
            value = .large(byteCount: byteCount)
        } else if let entity = try container.decodeIfPresent(String.self, forKey: .entity) {
            value = .object(entity: entity, number: try container.decode(UInt64.self, forKey: .number))
        } else if container.contains(.value), let kind = AttributeKind(rawValue: kind) {
            value = try Self.value(kind, in: container)
        } else {
            value = nil
        }
    }

    private static func value(
        _ kind: AttributeKind, in container: KeyedDecodingContainer<CodingKeys>
    ) throws -> QuarantinedValue {
        switch kind {
        case .bool: .bool(try container.decode(Bool.self, forKey: .value))
        case .int8, .int16, .int32, .int64: .integer(try container.decode(Int64.self, forKey: .value))
        case .uint8, .uint16, .uint32, .uint64: .unsigned(try container.decode(UInt64.self, forKey: .value))
        case .float: .float(try container.decode(Float.self, forKey: .value))
        case .double: .double(try container.decode(Double.self, forKey: .value))
        case .date: .date(try container.decode(Date.self, forKey: .value))
        case .uuid: .uuid(try container.decode(UUID.self, forKey: .value))
        case .decimal: .decimal(try container.decode(Decimal.self, forKey: .value))
        case .string: .string(try container.decode(String.self, forKey: .value))
        case .url: .url(try container.decode(String.self, forKey: .value))
        case .data: .data(try container.decode(Data.self, forKey: .value))
        case .codable:
            .codable(try container.decode(Data.self, forKey: .value).withUnsafeBytes { CodableValue($0) })
        }
    }

    /// Encodes the keys that the value has.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(blob, forKey: .blob)
        switch value {
        case nil: break
        case .bool(let value)?: try container.encode(value, forKey: .value)
        case .integer(let value)?: try container.encode(value, forKey: .value)
        case .unsigned(let value)?: try container.encode(value, forKey: .value)
        case .float(let value)?: try container.encode(value, forKey: .value)
        case .double(let value)?: try container.encode(value, forKey: .value)
        case .date(let value)?: try container.encode(value, forKey: .value)
        case .uuid(let value)?: try container.encode(value, forKey: .value)
        case .decimal(let value)?: try container.encode(value, forKey: .value)
        case .string(let value)?, .url(let value)?: try container.encode(value, forKey: .value)
        case .data(let value)?: try container.encode(value, forKey: .value)
        case .codable(let value)?: try container.encode(Data(value.bytes), forKey: .value)
        case .large(let byteCount)?: try container.encode(byteCount, forKey: .bytes)
        case .object(let entity, let number)?:
            try container.encode(entity, forKey: .entity)
            try container.encode(number, forKey: .number)
        }
    }
}

extension QuarantinedValueRecord {
    /// Reads the values of a row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - entity: The stored layout of the entity's rows.
    ///   - schema: The schema for reading the row.
    /// - Returns: The values in the order of the class, without collections.
    static func all(of row: RowView, _ entity: EntityStorage, _ schema: Schema) -> [QuarantinedValueRecord] {
        schema.entities[entity.ordinal].properties.enumerated().compactMap { slot, property in
            if let relationship = property as? Schema.Relationship {
                guard relationship.isToOneRelationship else { return nil }
                let target = row.toOne(slot)
                return QuarantinedValueRecord(
                    name: property.name, kind: 0,
                    value: target == 0 ? nil : .object(entity: relationship.destination, number: target))
            }
            guard let attribute = property as? Schema.Attribute, !attribute.isTransient else { return nil }
            if !row.isNil(slot), entity.layout.columns[slot].kind.isVariable, let blob = row.blobReference(slot) {
                return QuarantinedValueRecord(
                    name: property.name, kind: attribute.kind.rawValue,
                    value: .large(byteCount: Int(clamping: blob.byteCount)), blob: blob.identifier)
            }
            return QuarantinedValueRecord(
                name: property.name, kind: attribute.kind.rawValue,
                value: row.isNil(slot) ? nil : QuarantinedValue(row, slot, attribute.kind))
        }
    }
}
